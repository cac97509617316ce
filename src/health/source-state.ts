import type { ProblemCode } from '../base/catalogue.ts';
import { isAhead } from '../base/clock.ts';
import { ago, span } from '../base/format.ts';
import { isoOrNull } from './form-coverage.ts';
import type { Problem } from './problem.ts';
import type { SourceWait } from './source-waits.ts';

/**
 * How the source is doing, as far as passes and looks tell: nobody asks it for this alone. `unknown`: it was not heard for longer
 * than the schedule explains, or never.
 */
export type SourceCondition =
  | 'answering'
  | 'slow'
  | 'throttling'
  | 'failing'
  | 'silent'
  | 'refusing'
  | 'unknown';

/** The source's own state. Holds no address and no secret. */
export interface SourceHealth {
  readonly condition: SourceCondition;
  /** In a few words. */
  readonly title: string;
  /** Since when, as far as is known (ISO); null when it is not. */
  readonly since: string | null;
  /** When it last answered as it should (ISO); null: never, as far as is known. */
  readonly heardAt: string | null;
}

/** What {@link assessCondition} judges from. */
export interface SourceFacts {
  readonly nowMs: number;
  /** What is wrong with it for all forms; null for nothing. */
  readonly problem: Problem | null;
  readonly wait: SourceWait | null;
  /** When it last answered as it should; 0 for never. */
  readonly heardAtMs: number;
  /** When the schedule asks it again after that. */
  readonly nextRunMs: (afterMs: number) => number;
}

/** So much later than the schedule wants it may answer and still count as answering. */
const GRACE_MS = 60_000;

const REFUSING: ReadonlySet<ProblemCode> = new Set([
  'FORMS_UNAUTHORIZED',
  'FORMS_REFUSED',
  'FORMS_NOT_FOUND',
  'FORMS_REDIRECT',
]);

/** Judges the source. Pure. */
export function assessCondition(facts: SourceFacts): SourceHealth {
  const { problem, wait, heardAtMs, nowMs, nextRunMs } = facts;
  const heardAt = isoOrNull(heardAtMs);
  if (problem?.code.startsWith('FORMS_') === true) {
    const { code, title, since } = problem;
    return { condition: conditionOf(code), title, since, heardAt };
  }
  if (wait !== null) return { ...waiting(wait, nowMs), since: isoOrNull(wait.sinceMs), heardAt };
  const quiet = { condition: 'unknown', since: null, heardAt } as const;
  if (heardAtMs === 0) return { ...quiet, title: 'The Forms API has not answered yet' };
  if (isAhead(heardAtMs, nowMs)) return { ...quiet, title: 'When it answered is not known' };
  const heard = ago(heardAt, nowMs);
  if (nowMs > nextRunMs(nextRunMs(heardAtMs)) + GRACE_MS) {
    return { ...quiet, title: `The Forms API was last heard ${heard}` };
  }
  return {
    condition: 'answering',
    title: `The Forms API answers, last ${heard}`,
    since: null,
    heardAt,
  };
}

function conditionOf(code: ProblemCode): SourceCondition {
  if (REFUSING.has(code)) return 'refusing';
  return code === 'FORMS_UNREACHABLE' ? 'silent' : 'failing';
}

function waiting(wait: SourceWait, nowMs: number): Pick<SourceHealth, 'condition' | 'title'> {
  const forMs = span(nowMs - wait.sinceMs);
  if (wait.throttled) {
    return {
      condition: 'throttling',
      title: `The Forms API asks for fewer requests, for ${forMs}`,
    };
  }
  if (wait.silent === true) {
    return { condition: 'slow', title: `The Forms API is slow: ${wait.reason}` };
  }
  return { condition: 'failing', title: `The Forms API has failed for ${forMs} (${wait.reason})` };
}
