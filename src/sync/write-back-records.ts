import type { ProblemCode } from '../base/catalogue.ts';
import type { Store } from '../mirror/port.ts';
import { changeRecord, readRecord } from './records.ts';

/*
 * What the last write-back of a form could not do, kept in each of its targets, so that `status` shows it.
 */

/** How the last write-back of a form ended, where it could not do all. */
export interface WriteBackProblem {
  /** Since when it has ended so (ISO). */
  readonly since: string;
  /** Why it failed, in full or in part; null where only single submissions were refused. */
  readonly code: ProblemCode | null;
  readonly error: string | null;
  /** Submissions that are not written back for now, because the source refused the change of their status. */
  readonly refused: number;
}

const KEY = 'write-backs';
const NONE: Readonly<Record<string, WriteBackProblem>> = {};

/** By form ID; of a form whose write-back did all there was to do, nothing. */
export const readWriteBacks = (store: Store): Promise<Readonly<Record<string, WriteBackProblem>>> =>
  readRecord(store, KEY, NONE);

/** Stores why a write-back is incomplete; null: it is complete. A problem that persists keeps the time of its first report. */
export async function noteWriteBack(
  store: Store,
  formId: string,
  record: WriteBackProblem | null,
): Promise<void> {
  await changeRecord(store, KEY, NONE, (before) => {
    const known = before[formId] ?? null;
    // The messages may differ: they name a submission.
    if (known?.code === record?.code && known?.refused === record?.refused) return before;
    const { [formId]: _, ...others } = before;
    if (record === null) return others;
    const since = known?.code === record.code ? known.since : record.since;
    return { ...others, [formId]: { ...record, since } };
  });
}
