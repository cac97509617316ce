import type { Clock } from '../base/clock.ts';

/** What `work` resolves to, or undefined when that takes longer than `ms`; rejects as it does, unless it is late. */
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
