import { z } from 'zod';
import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { mistakeText, type SettingMistake } from '../base/errors.ts';

/** The code of a problem, in a record. */
export const problemCode = z.enum(Object.keys(PROBLEMS) as ProblemCode[]);

/** A problem of a part, before it is judged. Contains no answer and no secret (L11, L15). */
export const problemFactsSchema = z.object({
  code: problemCode,
  /** What happened, as sentences. */
  message: z.string(),
  /** Since the epoch; null if not known. */
  sinceMs: z.number().nullable(),
});
/** See {@link problemFactsSchema}. */
export type ProblemFacts = z.infer<typeof problemFactsSchema>;

/** The problem of settings with names that do not exist: one, or none. `unmatched`: the names that match nothing. */
export function settingsProblems(unmatched: readonly SettingMistake[]): ProblemFacts[] {
  if (unmatched.length === 0) return [];
  const message = unmatched.map(mistakeText).join(' ');
  return [{ code: 'SETTINGS', message, sinceMs: null }];
}
