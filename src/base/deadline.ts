import type { Clock } from './clock.ts';

/**
 * Waits at most `ms` for `work`: resolves to its value, or to undefined when it takes longer; rejects as it does. Work
 * that is late runs on: its end, good or bad, is ignored. No timer outlives the wait.
 */
export async function withinTime<T>(
  work: Promise<T>,
  ms: number,
  clock: Clock,
): Promise<T | undefined> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(
    () => undefined,
    () => undefined,
  );
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
