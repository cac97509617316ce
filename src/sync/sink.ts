import type { Joining } from '../mirror/selection.ts';
import type { SubmissionItem } from '../forms/submission-item.ts';
import { selectedFields, UnlistedFields } from '../mirror/fields.ts';
import { fieldTest } from '../mirror/selection.ts';
import { Join } from '../mirror/row.ts';
import type { Form, Row } from '../mirror/types.ts';
import type { FormState } from '../mirror/form-state.ts';
import type { Applied, Change, Entry, OpenForm } from '../mirror/port.ts';
import { Incomplete } from './work.ts';

/** A batch is stored when it has this many answers, or as many rows as the target takes at once. */
const BATCH_ANSWERS = 200_000;

export const NOTHING_APPLIED: Applied = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  rejected: 0,
};

const plus = (a: Applied, b: Applied): Applied => ({
  inserted: a.inserted + b.inserted,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
  deleted: a.deleted + b.deleted,
  rejected: a.rejected + b.rejected,
});

/** An item joined with the selected fields: a row, or only an entry. */
interface Joined {
  readonly row: Row | null;
  readonly entries: readonly Entry[];
}

/**
 * Joins items and stores them in batches; while one batch is stored, the next is filled. If a submission comes twice, the last one
 * is stored.
 */
export class Sink {
  applied: Applied = NOTHING_APPLIED;
  readonly #form: OpenForm;
  readonly #joining: Joining;
  readonly #nowMs: () => number;
  readonly #unlisted: UnlistedFields;
  readonly #reread: () => Promise<Form | null>;
  #source: Form;
  /** Of the selected fields, including fields that only answers have. */
  #join = new Join([], undefined);
  /** The number of rows at which a batch is stored. */
  #most = 1;
  /** The batch by submission: rows, and for each of its items its entries, if any. */
  #rows = new Map<string, Row>();
  #entries = new Map<string, readonly Entry[]>();
  #storing: Promise<void> = Promise.resolve();
  #beingStored = 0;
  /** The creation time of the newest submission that was added (milliseconds); null before the first with a date. */
  topMs: number | null = null;
  /** Called before each commit; throws if nothing may be stored. */
  beforeCommit: () => Promise<void> = async () => {};

  /** `source`: the form as the source showed it; `reread`: as it shows it now, null if it is gone. */
  constructor(
    form: OpenForm,
    source: Form,
    reread: () => Promise<Form | null>,
    joining: Joining,
    nowMs: () => number,
  ) {
    this.#reread = reread;
    [this.#form, this.#source, this.#joining, this.#nowMs] = [form, source, joining, nowMs];
    this.#unlisted = new UnlistedFields(fieldTest(joining.selection.fields, source));
  }

  /** Rows that are stored or about to be. */
  get size(): number {
    return this.#entries.size + this.#beingStored;
  }

  /** Prepares the columns. Call it before the first item. */
  async open(): Promise<void> {
    await this.#prepare();
  }

  /** Takes the items of a page. Throws Incomplete if an item names another form. */
  async add(items: readonly SubmissionItem[]): Promise<void> {
    let met = 0;
    for (const { submission } of items) {
      if (submission === null) continue;
      if (submission.formId !== '' && submission.formId !== this.#source.id)
        throw new Incomplete('FOREIGN');
      met += this.#unlisted.meet(submission.data).length;
    }
    if (met > 0) {
      await this.flush();
      // A field that was added since the run began has a label there.
      this.#source = (await this.#reread()) ?? this.#source;
      await this.#prepare();
    }
    const joined = items.map((item) => joinItem(item, this.#join, this.#unlisted, this.#nowMs()));
    const taken = await this.#form.take(joined.flatMap(({ row }) => row ?? []));
    for (const [at, { key }] of items.entries()) this.#entries.set(key, joined[at]?.entries ?? []);
    for (const row of taken) {
      this.#rows.set(row.id, row);
      const createdMs = Date.parse(row.createdAt ?? '');
      if (createdMs > (this.topMs ?? -Infinity)) this.topMs = createdMs;
    }
    if (this.#entries.size < this.#most) return;
    await this.#storing;
    this.#storing = this.#store({});
    this.#storing.catch(() => {}); // The next batch waits for it.
  }

  /** Stores everything that was added, together with `change`. */
  async flush(change: Omit<Change, 'rows'> = {}): Promise<void> {
    await this.#storing;
    if (this.#entries.size > 0 || Object.keys(change).length > 0) await this.#store(change);
  }

  /** Waits until the batch in progress is stored or has failed. Never rejects. */
  async settled(): Promise<void> {
    await this.#storing.catch(() => {});
  }

  /** Stores everything that was added, and notes a state for the next commit. */
  async note(state: (state: FormState) => FormState): Promise<void> {
    await this.flush();
    this.#form.note(state);
  }

  async #store(change: Omit<Change, 'rows'>): Promise<void> {
    const rows = [...this.#rows.values()];
    const entries = [...[...this.#entries.values()].flat(), ...(change.entries ?? [])];
    this.#beingStored = this.#entries.size;
    [this.#rows, this.#entries] = [new Map(), new Map()];
    try {
      await this.beforeCommit();
      this.applied = plus(this.applied, await this.#form.commit({ ...change, rows, entries }));
    } finally {
      this.#beingStored = 0;
    }
  }

  async #prepare(): Promise<void> {
    const { selection, hashKey } = this.#joining;
    const known = this.#form.fields;
    this.#unlisted.know(this.#source, known);
    const fields = selectedFields(this.#source, selection, known, this.#unlisted.ids);
    this.#join = new Join(fields, hashKey);
    this.#most = Math.min(this.#form.batchRows, BATCH_ANSWERS / Math.max(1, fields.length));
    await this.#form.prepare(this.#source, fields);
  }
}

/** The row or entry to store for an item. An item without an ID is listed; one with another defect is stored and listed. */
export function joinItem(
  { key, submission, status, defects }: SubmissionItem,
  join: Join,
  unlisted: Pick<UnlistedFields, 'defectsOf'>,
  atMs: number,
): Joined {
  const listed = (reason: string, of: string, createdAt: string | null): Entry => ({
    kind: 'rejected',
    id: key,
    status: of,
    createdAt,
    reason,
    atMs,
  });
  if (submission === null)
    return { row: null, entries: [listed(defects.join('; '), status ?? '', null)] };
  const missing = unlisted.defectsOf(submission.data);
  const { row, reasons } = join.row(submission, [...defects, ...missing]);
  if (reasons.length === 0) return { row, entries: [] };
  return { row, entries: [listed(reasons.join('; '), row.status, row.createdAt)] };
}
