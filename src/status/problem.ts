import type { ErrorCode } from '../base/errors.ts';

/** Codes of what is wrong with the mirror: those of errors, and what only shows from outside of a pass. */
export type ProblemCode = ErrorCode | 'SILENT' | 'ROWS_REJECTED' | 'SCHEDULE_OVERDUE' | 'FAILED';

/** What of a form in a target is wrong; each comes, goes and is told by itself. */
export type Track = 'passes' | 'deletions' | 'silence';

/** Something that wants a person's attention. Holds no answer and no secret (L11, L15). */
export interface Problem {
  /** `error`: the copy falls behind. `warning`: it stands, but something is not as it should be. */
  readonly level: 'error' | 'warning';
  readonly code: ProblemCode;
  /** A few words: `Deletions withheld`. */
  readonly title: string;
  /** What happened, as sentences. */
  readonly message: string;
  /** What to do, as sentences; null when it mends itself. */
  readonly remedy: string | null;
  /** A command line that does it. */
  readonly command: string | null;
}

/** A problem of one form in one target. */
export interface PairProblem extends Problem {
  readonly track: Track;
  /** False while it may well pass by itself: the page shows it, nobody is called. */
  readonly calls: boolean;
  /** True when a shared problem (source, target) is the cause and tells it for all. */
  readonly covered: boolean;
  /** What it rests on: the start of the pass that shows it. Two problems with one evidence are the same fact. */
  readonly evidence: string;
}
