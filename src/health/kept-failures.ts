import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { z } from 'zod';
import { type FormIdentity, PASS_KINDS, type PassRecord } from '../mirror/types.ts';
import type { UnmatchedName } from '../sync/unmatched-names.ts';
import { saysNothing } from './pass-summary.ts';

/*
 * What failed and was seen by this machine alone: a pass into a target that could not record it, or a source that would
 * not list its forms. It is kept outside of the targets until a newer try succeeds, so that no surface shows health over it.
 */

/** The passes in a row of one form into one target that ended the same way: the first that is known, and the newest. Holds no answer (L11). */
export interface KeptFailure {
  readonly target: string;
  readonly form: FormIdentity;
  readonly first: PassRecord;
  readonly last: PassRecord;
}

/** The source would not list its forms. */
export interface KeptSourceFailure {
  readonly code: ProblemCode;
  readonly message: string;
  /** The first try that failed, and the newest (ISO). */
  readonly since: string;
  readonly at: string;
}

/** Everything that is kept. */
export interface KeptFailures {
  readonly passes: readonly KeptFailure[];
  readonly source: KeptSourceFailure | null;
  /** Names in the settings that the last plan found to match nothing. */
  readonly unmatched: readonly UnmatchedName[];
}

/** Nothing is kept. */
export const NO_FAILURES: KeptFailures = { passes: [], source: null, unmatched: [] };

/** How a pass changes what is kept: a failure to keep, or the kinds of pass whose failures it ends; null for no change. Pure. */
export type FailureChange =
  | { readonly keep: PassRecord }
  | { readonly forget: readonly PassRecord['kind'][] };

/** See {@link FailureChange}. A full pass that succeeds makes up for any other, not the other way round. Pure. */
export function failureChange(pass: PassRecord): FailureChange | null {
  if (saysNothing(pass)) return null;
  // A form that is gone before it was ever mirrored is recorded in no target.
  if (pass.outcome === 'failed' || pass.outcome === 'gone') return { keep: pass };
  return { forget: pass.kind === 'full' ? PASS_KINDS : [pass.kind] };
}

/** The passes of a form into a target that are kept, for its history. Pure. */
export function keptPasses(
  kept: readonly KeptFailure[],
  target: string,
  formId: string,
): PassRecord[] {
  return kept
    .filter((failure) => failure.target === target && failure.form.id === formId)
    .flatMap(({ first, last }) => (first.startedAt === last.startedAt ? [last] : [first, last]));
}

const count = z.number();
const passRecord = z.object({
  kind: z.enum(PASS_KINDS),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  outcome: z.enum(['failed', 'gone']),
  requests: count,
  total: count.nullable(),
  distinct: count,
  inserted: count,
  updated: count,
  unchanged: count,
  deleted: count,
  rejected: count,
  withheld: count,
  code: z.enum(Object.keys(PROBLEMS) as ProblemCode[]).nullable(),
  error: z.string().nullable(),
});

/** A {@link KeptFailure} as it is stored. */
export const keptFailure = z.object({
  target: z.string(),
  form: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
  first: passRecord,
  last: passRecord,
});

/** A {@link KeptSourceFailure} as it is stored. */
export const keptSourceFailure = z.object({
  code: z.enum(Object.keys(PROBLEMS) as ProblemCode[]),
  message: z.string(),
  since: z.iso.datetime(),
  at: z.iso.datetime(),
});

/** Names that match nothing, as they are stored. */
export const keptUnmatched = z.array(
  z.object({
    variable: z.string(),
    name: z.string(),
    kind: z.enum(['form', 'field', 'unchosen', 'unpicked']),
    nearest: z.string().nullable(),
    targets: z.array(z.string()),
  }),
);

/** That a target holds a form, as it is stored, and when it was found empty and filled again. */
export const keptCopy = z.object({
  target: z.string(),
  address: z.string(),
  formId: z.string(),
  refilledAt: z.iso.datetime().nullable(),
});
