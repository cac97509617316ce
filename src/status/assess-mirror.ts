import type { ErrorCode } from '../base/errors.ts';
import type { Pair } from './pass-book.ts';
import { type PairMemory, newestPass } from './pass-memory.ts';
import type { Problem, ProblemCode } from './problem.ts';
import { remedyFor } from './remedies.ts';
import type { PlanState, QueueState } from './source.ts';
import { plural, span } from './words.ts';

/** A form in a target, as far as causes that it shares with others go. */
export interface PairPasses {
  readonly pair: Pair;
  readonly memory: PairMemory;
}

/** These come from the source as a whole; a key is refused for all forms at once, the others may be one form's alone. */
const SOURCE_CODES: ReadonlyMap<ErrorCode, number> = new Map([
  ['FORMS_UNAUTHORIZED', 1],
  ['FORMS_UNREACHABLE', 2],
  ['FORMS_REDIRECT', 2],
  ['FORMS_FAILED', 2],
  ['FORMS_NOT_JSON', 2],
]);

/** These come from the target as a whole when two forms meet them with no success in between. */
const TARGET_CODES: ReadonlyMap<ErrorCode, number> = new Map([
  ['TARGET_UNREACHABLE', 2],
  ['TARGET_DENIED', 2],
  ['TARGET_FULL', 2],
  ['TARGET_FAILED', 2],
]);

const TITLES: Partial<Record<ErrorCode, string>> = {
  FORMS_UNAUTHORIZED: 'The Forms API refuses the key',
  FORMS_UNREACHABLE: 'The Forms API does not answer',
  FORMS_REDIRECT: 'The Forms API has moved',
  FORMS_FAILED: 'The Forms API fails',
  FORMS_NOT_JSON: 'The Forms API does not answer as it should',
  TARGET_UNREACHABLE: 'The target does not answer',
  TARGET_DENIED: 'The target refuses us',
  TARGET_FULL: 'The target is full',
  TARGET_FAILED: 'The target fails',
};

/** What is wrong with the source, so that it is told once and not form by form. Pure. */
export function assessSource(pairs: readonly PairPasses[], plan: PlanState): Problem | null {
  const reachedMs = lastSuccessMs(pairs);
  const shared = sharedFailure(pairs, SOURCE_CODES, reachedMs);
  if (shared !== null) return problemOf(shared.code, shared.message);
  const { problem } = plan;
  if (problem === null || Date.parse(problem.at) <= reachedMs) return null;
  return problemOf(problem.code, problem.message);
}

/** What is wrong with a target, told once. `unreadable`: why it could not be read, twice in a row. Pure. */
export function assessTarget(
  pairs: readonly PairPasses[],
  unreadable: { readonly code: ErrorCode; readonly message: string } | null,
): Problem | null {
  const reachedMs = lastSuccessMs(pairs);
  const shared = sharedFailure(pairs, TARGET_CODES, reachedMs) ?? unreadable;
  return shared === null ? null : problemOf(shared.code, shared.message);
}

/** What is wrong with queue and schedules. `unreachableTimes`: how often in a row the queue did not answer. Pure. */
export function assessQueue(
  queue: QueueState | null,
  unreachableTimes: number,
  nowMs: number,
): Problem | null {
  if (queue === null || !queue.reachable) {
    if (unreachableTimes < 2) return null;
    const where = queue === null ? '' : ` (${queue.address})`;
    return problemOf('QUEUE_UNREACHABLE', `The queue${where} does not answer; no pass can begin.`);
  }
  const late = queue.schedules.find(({ overdue }) => overdue);
  if (late === undefined) return null;
  const since = late.nextRunAt === null ? '' : ` for ${span(nowMs - Date.parse(late.nextRunAt))}`;
  return problemOf('SCHEDULE_OVERDUE', `The ${late.kind} run has been overdue${since}.`);
}

/** One sentence for all when no form is heard of any more. */
export function silenceOfAll(pairs: number, silentForMs: number): Problem {
  const message = `No pass of any of ${plural(pairs, 'form')} has ended for ${span(silentForMs)}, longer than the schedule explains.`;
  return problemOf('SILENT', message);
}

/** Whether a problem with the source or a target explains a failure with `code`. */
export function explains(shared: Problem | null, code: ProblemCode | null): boolean {
  if (shared === null || code === null) return false;
  const codes: readonly ReadonlyMap<ProblemCode, number>[] = [SOURCE_CODES, TARGET_CODES];
  return codes.some((group) => group.has(shared.code) && group.has(code));
}

function problemOf(code: ProblemCode, message: string): Problem {
  const title = titleOf(code);
  return { level: 'error', code, title, message, remedy: remedyFor(code), command: null };
}

function titleOf(code: ProblemCode): string {
  if (code === 'SILENT') return 'Nothing is heard of any form';
  if (code === 'SCHEDULE_OVERDUE') return 'The scheduler does not tick';
  if (code === 'QUEUE_UNREACHABLE') return 'The queue does not answer';
  if (code === 'ROWS_REJECTED' || code === 'FAILED') return 'Failed';
  return (
    TITLES[code] ?? (code.startsWith('TARGET_') ? 'The target fails' : 'The forms cannot be read')
  );
}

/** The newest failure that as many forms share as its code asks for, with no success since. */
function sharedFailure(
  pairs: readonly PairPasses[],
  codes: ReadonlyMap<ErrorCode, number>,
  reachedMs: number,
): { code: ErrorCode; message: string } | null {
  const failures = pairs
    .flatMap(({ pair, memory }) => {
      const pass = newestPass(memory);
      if (pass?.outcome !== 'failed' || pass.code === null || !codes.has(pass.code)) return [];
      const endedMs = Date.parse(pass.endedAt);
      return endedMs > reachedMs ? [{ form: pair.form.id, pass, code: pass.code, endedMs }] : [];
    })
    .toSorted((a, b) => b.endedMs - a.endedMs);
  for (const { code, pass } of failures) {
    const forms = new Set(failures.filter((other) => other.code === code).map(({ form }) => form));
    if (forms.size >= (codes.get(code) ?? 2)) return { code, message: pass.error ?? '' };
  }
  return null;
}

/** End of the newest pass of these that did not fail; since the epoch, 0 for none. */
export function lastSuccessMs(pairs: readonly PairPasses[]): number {
  return pairs.reduce((newest, { memory }) => Math.max(newest, memory.succeededMs), 0);
}
