import { type Pause, newPause } from '../mirror/pauses.ts';
import type { Store } from '../mirror/port.ts';
import { changeRecord, readRecord } from './records.ts';

/*
 * A person has paused a form in a target, or a whole target. It is kept in the target, so that it holds for every process that
 * writes there.
 */

const KEY = 'pauses';
const NONE: readonly Pause[] = [];

/** The pauses in a target. */
export const readPauses = (store: Store): Promise<readonly Pause[]> => readRecord(store, KEY, NONE);

/** The same of a record that was read; `recordOf`: the value of a record. */
export const pausesIn = (recordOf: (key: string) => unknown): readonly Pause[] =>
  (recordOf(KEY) ?? NONE) as readonly Pause[];

/** Pauses a form or the target; an existing pause stays. Returns the pause in force. */
export async function pause(store: Store, asked: Pause): Promise<Pause> {
  const made = newPause(asked);
  const pauses = await changeRecord(store, KEY, NONE, (before) =>
    before.some(({ formId }) => formId === made.formId) ? before : [...before, made],
  );
  return pauses.find(({ formId }) => formId === made.formId) ?? made;
}

/** Ends a pause; those of single forms do not end with that of the target. Returns the ended pause; undefined for none. */
export async function resume(store: Store, formId: string | null): Promise<Pause | undefined> {
  let ended: Pause | undefined;
  await changeRecord(store, KEY, NONE, (before) => {
    ended = before.find((each) => each.formId === formId);
    return ended === undefined ? before : before.filter((each) => each !== ended);
  });
  return ended;
}
