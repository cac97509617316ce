import type { ProblemCode } from '../base/catalogue.ts';
import { safeText } from '../base/errors.ts';
import type { Agreement } from '../mirror/form-state.ts';
import type { Pause } from '../mirror/pauses.ts';
import { AGREEMENTS_RECORD, type Store } from '../mirror/port.ts';

/*
 * Records of a target that belong to no form, for every process that writes there: pauses, the forms that slugs mean, problems of
 * write-backs, results of polls.
 */

const MOST_TRIES = 5;

/** One record of a target, which several processes may change. */
export class TargetRecord<T> {
  readonly #key: string;
  readonly #none: T;

  /** `none`: its value if the target has no such record. */
  constructor(key: string, none: T) {
    [this.#key, this.#none] = [key, none];
  }

  /** Rejects as the target does. */
  async read(store: Store): Promise<T> {
    return ((await store.record(this.#key))?.value ?? this.#none) as T;
  }

  /** The same record among records that were read. */
  in(valueOf: (key: string) => unknown): T {
    return (valueOf(this.#key) ?? this.#none) as T;
  }

  /** Changes it, and returns its new value. `apply` returns the same value if nothing should change. */
  async change(store: Store, apply: (before: T) => T): Promise<T> {
    for (let tries = 1; ; tries++) {
      const record = await store.record(this.#key);
      const before = (record?.value ?? this.#none) as T;
      const after = apply(before);
      const revision = record?.revision ?? null;
      if (after === before || (await store.putRecord(this.#key, after, revision))) return after;
      if (tries === MOST_TRIES)
        throw new Error(`other processes keep changing the record ${this.#key} of the target`);
    }
  }
}

/** People's pauses of forms in the target, or of all of it. */
export const PAUSES = new TargetRecord<readonly Pause[]>('pauses', []);

/** The longest name and the longest reason in a pause, in characters: a cell of a sheet shows them. */
const LONGEST_TEXT = 200;

/** Pauses a form or the target; an existing pause stays. Returns the pause in force. */
export async function pause(store: Store, asked: Pause): Promise<Pause> {
  const reason = safeText(asked.reason?.trim() ?? '', LONGEST_TEXT) || null;
  const made = { ...asked, by: safeText(asked.by, LONGEST_TEXT), reason };
  const pauses = await PAUSES.change(store, (before) =>
    before.some(({ formId }) => formId === made.formId) ? before : [...before, made],
  );
  return pauses.find(({ formId }) => formId === made.formId) ?? made;
}

/** Ends a pause, and returns it; undefined if there was none. Pauses of single forms do not end with the target's pause. */
export async function resume(store: Store, formId: string | null): Promise<Pause | undefined> {
  let ended: Pause | undefined;
  await PAUSES.change(store, (before) => {
    ended = before.find((each) => each.formId === formId);
    return ended === undefined ? before : before.filter((each) => each !== ended);
  });
  return ended;
}

/** IDs of forms by the slug that first named them in the settings. At the source, slugs can move between forms (L11). */
export const SLUGS = new TargetRecord<Readonly<Record<string, string>>>('slugs', {});

/** How a form's last write-back ended, if it could not do everything. */
export interface WriteBackProblem {
  /** Since when write-backs have ended like this (ISO). */
  readonly since: string;
  /** Why it failed, in full or in part. Null if the source only refused single submissions; the target lists them. */
  readonly code: ProblemCode | null;
  readonly error: string | null;
}

/** By form ID. No entry for a form whose write-back did everything. */
export const WRITE_BACKS = new TargetRecord<Readonly<Record<string, WriteBackProblem>>>(
  'write-backs',
  {},
);

/** Records why a write-back is incomplete; null: it is complete. A problem that persists keeps the time of its first report. */
export async function noteWriteBack(
  store: Store,
  formId: string,
  problem: WriteBackProblem | null,
): Promise<void> {
  await WRITE_BACKS.change(store, (before) => {
    const { [formId]: known, ...others } = before;
    // The messages may differ: they name a submission.
    if (known?.code === problem?.code) return before;
    return problem === null ? others : { ...others, [formId]: problem };
  });
}

/** What polls agreed on, the newest first. Each form is in the last agreement on it. */
export const AGREEMENTS = new TargetRecord<readonly Agreement[]>(AGREEMENTS_RECORD, []);

/** The number of submissions in the workspace beyond the forms that the poll covers. */
export interface Rest {
  readonly formIds: readonly string[];
  /** Submissions of these forms that were created after this time are not counted here. */
  readonly topMs: number | null;
  /** By status; under '' in all others. */
  readonly counts: Readonly<Record<string, number>>;
}

export const REST = new TargetRecord<Rest | null>('workspace rest', null);
