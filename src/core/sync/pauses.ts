import { type Pause, newPause } from '../../mirror/pauses.ts';
import type { Store } from '../mirror/port.ts';

/*
 * A person has paused a form in a target, or a whole target. It is kept in the target, so that it holds for every process that
 * writes there.
 */

const KEY = 'pauses';
const MOST_TRIES = 5;

/** What people have paused in a target. */
export async function readPauses(store: Store): Promise<readonly Pause[]> {
  return ((await store.record(KEY))?.value ?? []) as readonly Pause[];
}

/** Pauses; what is paused already stays as it was. The pause in force. */
export async function pause(store: Store, asked: Pause): Promise<Pause> {
  const made = newPause(asked);
  const pauses = await change(store, (before) =>
    before.some(({ formId }) => formId === made.formId) ? before : [...before, made],
  );
  return pauses.find(({ formId }) => formId === made.formId) ?? made;
}

/** Ends a pause; those of single forms do not end with that of the target. What it was; undefined for none. */
export async function resume(store: Store, formId: string | null): Promise<Pause | undefined> {
  let ended: Pause | undefined;
  await change(store, (before) => {
    ended = before.find((each) => each.formId === formId);
    return before.filter((each) => each !== ended);
  });
  return ended;
}

async function change(
  store: Store,
  apply: (before: readonly Pause[]) => readonly Pause[],
): Promise<readonly Pause[]> {
  for (let tries = 1; ; tries++) {
    const record = await store.record(KEY);
    const before = (record?.value ?? []) as readonly Pause[];
    const after = apply(before);
    if (after === before || (await store.putRecord(KEY, after, record?.revision ?? null)))
      return after;
    if (tries === MOST_TRIES) throw new Error('others change the pauses at the same time');
  }
}
