import type { Copy } from '../mirror/copy.ts';
import type { MarkingLock } from '../mirror/target.ts';

/** The locks on marking a form, in every target that mirrors it. Dispose to release them. */
export interface MarkingLocks extends AsyncDisposable {
  readonly all: readonly MarkingLock[];
}

/**
 * Becomes the form's only marker (L13); undefined when another process is. Targets are asked in the same order by every
 * process, whatever they are called there, and none is waited for: so no two processes hold what the other one needs.
 */
export async function takeMarkingLocks(
  targets: readonly Copy[],
  formId: string,
  signal: AbortSignal,
): Promise<MarkingLocks | undefined> {
  await using taken = new AsyncDisposableStack();
  const all: MarkingLock[] = [];
  // Two targets in one place have one lock.
  const places = new Map(targets.map((target) => [`${target.kind} ${target.address}`, target]));
  for (const [, target] of [...places].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const lock = await target.lockMarking(formId, signal);
    if (lock === undefined) return undefined;
    all.push(taken.use(lock));
  }
  const locks = taken.move();
  return { all, [Symbol.asyncDispose]: () => locks.disposeAsync() };
}
