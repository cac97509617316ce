import { z } from 'zod';
import { decimalText, isJsonObject } from '../mirror/json.ts';
import { ExactNumber, type Form, type FormField } from '../mirror/types.ts';
import { MAX_FIELD_ID } from '../mirror/fields.ts';

/*
 * The wire shapes of the Forms API. Unknown fields are ignored. Fields that the mirror does not need are optional,
 * even if the documentation promises them, because one unexpected value must not stop everything else.
 */

const number = z.union([z.number(), z.instanceof(ExactNumber)]).transform(decimalText);

/** A text; a number counts as its digits. Anything else counts as absent. Characters that a database cannot hold become visible. */
const text = z
  .union([z.string(), number])
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
  id: z.union([z.string().min(1).max(MAX_FIELD_ID), number]),
  label: text,
});

const sectionSchema = z.object({ fields: listOf(fieldSchema) });

/** A form; only its ID is indispensable. */
const formSchema = z.object({
  id: z.union([z.string().min(1), number]),
  name: text,
  slug: text,
  schema: z.object({ sections: listOf(sectionSchema) }).catch({ sections: [] }),
});

/** A form from its JSON, bare or wrapped in one property; undefined if it is not a form. */
export function parseForm(json: unknown): Form | undefined {
  const parsed = formSchema.safeParse(unwrapped(json));
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

/** The documentation shows a form bare. For a submission it does not say whether there is a wrapper, so this also looks for one. */
function unwrapped(json: unknown): unknown {
  if (!isJsonObject(json) || Object.hasOwn(json, 'id')) return json;
  const inside = Object.values(json).filter(
    (value) => isJsonObject(value) && Object.hasOwn(value, 'id'),
  );
  return inside.length === 1 ? inside[0] : json;
}

/** A number, or a text of its digits. */
const count = z.union([
  z.int().nonnegative(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);

/** The pagination envelope. Without items or a total nothing can be proven, so both are required. */
export const envelopeSchema = z.object({
  items: z.array(z.unknown()),
  total: count,
  limit: z.int().positive().optional().catch(undefined),
  totalPages: count.optional().catch(undefined),
});

/**
 * If a list that came with a success status says that it failed: how, in words for a message; otherwise undefined. Its own words
 * may quote anything, so they are not repeated. A list with items may carry a warning. An empty list proves that there is nothing,
 * so an error beside it makes it a failure.
 */
export function listFailure(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const own = (member: string): unknown => (Object.hasOwn(body, member) ? body[member] : undefined);
  const items = own('items');
  if (!Array.isArray(items) || items.length > 0) return undefined;
  const isError = isSomething(own('error')) || isSomething(own('errors'));
  return isError || own('success') === false ? 'an error beside an empty list' : undefined;
}

/** Neither empty nor a way to say "none". */
const isSomething = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
