import { type MarkingRecord, saysTheSame } from '../mirror/target.ts';
import type { Store } from '../mirror/port.ts';
import { changeRecord, readRecord } from './records.ts';

/*
 * What the last write-back of a form could not do, kept in each of its targets, so that `status` shows it.
 */

const KEY = 'write-backs';
const NONE: Readonly<Record<string, MarkingRecord>> = {};

/** By form ID; of a form whose write-back did all there was to do, nothing. */
export const readWriteBacks = (store: Store): Promise<Readonly<Record<string, MarkingRecord>>> =>
  readRecord(store, KEY, NONE);

/** Stores why a write-back is incomplete; null: it is complete. A problem that persists keeps the time of its first report. */
export async function noteWriteBack(
  store: Store,
  formId: string,
  record: MarkingRecord | null,
): Promise<void> {
  await changeRecord(store, KEY, NONE, (before) => {
    const known = before[formId] ?? null;
    if (saysTheSame(known, record)) return before;
    const { [formId]: _, ...others } = before;
    if (record === null) return others;
    const since = known?.code === record.code ? known.since : record.since;
    return { ...others, [formId]: { ...record, since } };
  });
}
