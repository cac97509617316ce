import { CHECK, PROBLEMS, type ProblemCode } from '../base/catalogue.ts';

/** The aspects of a form in a target; each has its own problem at a time, and its own alert. */
export type Track = 'passes' | 'deletions' | 'staleness' | 'marking';

/** Something that needs attention. Holds no answer and no secret (L11, L15). */
export interface Problem {
  /** `error`: the copy falls behind. `warning`: the copy is fine as far as is known, but something about it needs attention, or is not known for sure. */
  readonly level: 'error' | 'warning';
  readonly code: ProblemCode;
  /** A few words: `Deletions withheld`. */
  readonly title: string;
  /** What happened, as sentences. */
  readonly message: string;
  /** What to do, as sentences; null when nothing is to be done. */
  readonly remedy: string | null;
  /** A command line that does it. */
  readonly command: string | null;
  /** Since when, as far as is known (ISO); null when it is not. */
  readonly since: string | null;
}

/** A problem of one form in one target. */
export interface FormProblem extends Problem {
  readonly track: Track;
  /** False while it may well be over with the next pass: it is shown, but nobody is alerted. */
  readonly notifies: boolean;
  /** True when a problem of the source or the target is the cause: that one is announced instead. */
  readonly inhibited: boolean;
  /** True when it stays as it is until a person decides; `check` fails then. */
  readonly needsDecision: boolean;
  /** Identifies the fact behind it: the start of the pass that shows it. */
  readonly occurrence: string;
}

/** What to do, the command line included. */
export function remedyText({
  remedy,
  command,
}: Pick<Problem, 'remedy' | 'command'>): string | null {
  return command === null ? remedy : `${remedy ?? ''} ${command}`.trim();
}

/** What to do about a code where the message does not say more; null: nothing, or the message has it all. */
export const remedyFor = (code: ProblemCode | null): string | null =>
  code === null ? CHECK : PROBLEMS[code].remedy;
