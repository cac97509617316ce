import type { MarkingLock } from '../../../mirror/target.ts';
import { MirrorError } from '../../../base/errors.ts';
import { markingKey } from './catalogue-shapes.ts';
import { newFormState, stateText } from './form-state.ts';
import { endLease, isHeld, LEASE_SECONDS, renewLease, takeLease } from './lease.ts';
import type { Store } from './store.ts';

/** Becomes the form's only marker; undefined when another one is. See lease.ts. */
export async function takeMarking(
  store: Store,
  formId: string,
  signal: AbortSignal | undefined,
): Promise<MarkingLock | undefined> {
  const key = markingKey(formId);
  const first = stateText(newFormState('', ''));
  const lease = await takeLease(store, { formId, key }, first, { waitMs: 0, signal });
  if (!isHeld(lease)) return undefined;
  let renewedMs = store.clock.now();
  return {
    async assertHeld() {
      // Nobody takes a lease over that is young; each PATCH asks, and a question costs.
      if (store.clock.now() - renewedMs < (LEASE_SECONDS * 1_000) / 2) return;
      if (!(await store.guarded(() => renewLease(store, lease)))) {
        throw new MirrorError(
          'TARGET_LOST_LOCK',
          `${store.place}: another process took over marking form ${formId} while this one was stalled; this one changed no status any more. The next run goes on.`,
        );
      }
      renewedMs = store.clock.now();
    },
    [Symbol.asyncDispose]: () => endLease(store, lease),
  };
}
