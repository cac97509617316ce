import { z } from 'zod';
import type { Form, FormField } from '../mirror/types.ts';
import { MAX_FIELD_ID } from '../mirror/fields.ts';

/*
 * The wire shapes of the Forms API. Unknown fields are ignored. Fields that the mirror does not need are optional,
 * even if the documentation promises them, because one unexpected value must not stop everything else.
 */

/** A text; anything else counts as absent. Characters that a database cannot hold become visible. */
const text = z
  .string()
  .transform((value) => value.toWellFormed().replaceAll('\0', '\u2400'))
  .optional()
  .catch(undefined);

/** A list without the entries of another shape; anything else counts as empty. */
const listOf = <T>(entry: z.ZodType<T>): z.ZodType<T[]> =>
  z
    .array(z.unknown())
    .catch([])
    .transform((entries) =>
      entries.flatMap((value) => {
        const parsed = entry.safeParse(value);
        return parsed.success ? [parsed.data] : [];
      }),
    );

/** A field; a longer ID fits no catalogue (see {@link MAX_FIELD_ID}). */
const fieldSchema = z.object({
  id: z.string().min(1).max(MAX_FIELD_ID),
  label: text,
});

const sectionSchema = z.object({ fields: listOf(fieldSchema) });

/** A form; only its ID is indispensable. PostgreSQL refuses one with NUL or half a character. */
const formSchema = z.object({
  id: z
    .string()
    .min(1)
    .refine((id) => id.isWellFormed() && !id.includes('\0')),
  name: text,
  slug: text,
  schema: z.object({ sections: listOf(sectionSchema) }).catch({ sections: [] }),
});

/** A form from its JSON; undefined if it is not a form. */
export function parseForm(json: unknown): Form | undefined {
  const parsed = formSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const { id, slug, name, schema } = parsed.data;
  const fields = new Map<string, FormField>();
  for (const field of schema.sections.flatMap((section) => section.fields)) {
    if (!fields.has(field.id)) fields.set(field.id, { id: field.id, label: field.label ?? '' });
  }
  const ownSlug = slug === undefined || slug === '' ? id : slug;
  return {
    id,
    slug: ownSlug,
    name: name === undefined || name.trim() === '' ? ownSlug : name,
    fields: [...fields.values()],
  };
}

/** A number, or a text of its digits. */
const count = z.union([
  z.int().nonnegative(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);

/** For a list that does not say how many entries it has. No list has as many, so nothing is proven by it. */
export const NO_TOTAL = -1;

/** The pagination envelope. `error`, `errors`: undocumented. */
export const envelopeSchema = z.object({
  items: z.array(z.unknown()),
  total: count.catch(NO_TOTAL),
  limit: z.int().positive().optional().catch(undefined),
  totalPages: count.optional().catch(undefined),
  error: z.unknown().optional(),
  errors: z.unknown().optional(),
});

/**
 * Whether a list that came with a success status failed. A list with items may carry a warning. An empty list proves that there is
 * nothing, so an error beside it makes it a failure.
 */
export const isFailure = ({ items, error, errors }: z.infer<typeof envelopeSchema>): boolean =>
  items.length === 0 && (isSomething(error) || isSomething(errors));

/** Neither empty nor a way to say "none". */
const isSomething = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
