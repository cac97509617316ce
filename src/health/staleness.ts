import type { Facts } from './facts.ts';

/*
 * The one rule for what is older than it should be. After each sign of life, two polls are due: one may be late.
 */

/** A run that a poll asks for takes some time. */
const SHORT_MS = 60_000;
/** After so long it is a failure: slow runs and short stops are none. */
export const FAILED_MS = 10 * 60_000;

/** When the second poll after `sinceMs` was due, if that is more than `graceMs` ago; null otherwise. Pure. */
export function staleSinceMs(
  sinceMs: number,
  { nowMs, nextPollMs }: Pick<Facts, 'nowMs' | 'nextPollMs'>,
  graceMs = SHORT_MS,
): number | null {
  const dueMs = nextPollMs(nextPollMs(sinceMs));
  return nowMs - dueMs > graceMs ? dueMs : null;
}
