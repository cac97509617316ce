import { z } from 'zod';
import { decimalText } from '../mirror/numbers.ts';
import { ExactNumber } from '../mirror/types.ts';

/*
 * The wire shapes of the Forms API. Unknown fields are ignored, and what a mirror can do without is optional, whatever
 * the documentation promises: one odd value must not hold up everything else.
 */

const number = z.union([z.number(), z.instanceof(ExactNumber)]).transform(decimalText);

/** A text; a number is taken for its digits. Anything else counts as absent. */
const text = z.union([z.string(), number]).optional().catch(undefined);

/** A list without the entries that are of another shape; anything else counts as empty. */
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

const fieldSchema = z.object({ id: z.union([z.string().min(1), number]), label: text });

const sectionSchema = z.object({ fields: listOf(fieldSchema) });

/** A form; only its ID is indispensable. */
export const formSchema = z.object({
  id: z.union([z.string().min(1), number]),
  name: text,
  slug: text,
  schema: z.object({ sections: listOf(sectionSchema) }).catch({ sections: [] }),
});

const anything = z.unknown().optional();

/** A submission. Every field is looked at by itself, so that each defect gets a name (see submission-item.ts). */
export const submissionSchema = z.object({
  id: anything,
  formId: text,
  status: anything,
  createdAt: anything,
  data: anything,
});

const count = z.int().nonnegative();
const positive = z.int().positive().optional().catch(undefined);

/** The pagination envelope. Without items or total there is nothing to prove a pass with, so both must be there. */
export const envelopeSchema = z.object({
  items: z.array(z.unknown()),
  total: count,
  page: positive,
  limit: positive,
  totalPages: count.optional().catch(undefined),
});

/** A pagination envelope as it comes over the wire. */
export type EnvelopeWire = z.infer<typeof envelopeSchema>;
