import { z } from 'zod';
import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';

/** The code of a problem, in a record. */
export const problemCode = z.enum(Object.keys(PROBLEMS) as ProblemCode[]);

/** What is wrong with a part, before the judge decides what it means. Holds no answer and no secret (L11, L15). */
export const troubleSchema = z.object({
  code: problemCode,
  /** In place of the catalogue's. */
  title: z.string().optional(),
  /** What happened, as sentences. */
  message: z.string(),
  /** Since the epoch; null: not known. */
  sinceMs: z.number().nullable(),
});
/** See {@link troubleSchema}. */
export type Trouble = z.infer<typeof troubleSchema>;
