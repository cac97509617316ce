import type { Source } from '../forms/source.ts';
import type { Joining } from '../mirror/selection.ts';
import type { Form, Row, SubmissionItem } from '../mirror/types.ts';
import type { FormState } from '../mirror/form-state.ts';
import type { Applied, Change, Entry, OpenForm } from '../mirror/port.ts';
import { Join } from '../mirror/row.ts';
import { requireUnpaused, type Target } from './target.ts';
import { Incomplete } from './work.ts';

/** A batch is stored when it has this many rows or answers. */
const [BATCH_ROWS, BATCH_ANSWERS] = [2_000, 200_000];

export const NOTHING_APPLIED: Applied = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  rejected: 0,
};

/** What two batches or runs did together. */
export const plus = (a: Applied, b: Applied): Applied => ({
  inserted: a.inserted + b.inserted,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
  deleted: a.deleted + b.deleted,
  rejected: a.rejected + b.rejected,
});

/** The inputs for writing a form. */
interface SinkParts {
  readonly target: Target;
  readonly source: Source;
  readonly form: OpenForm;
  /** The form as the source showed it. */
  readonly shown: Form;
  readonly joining: Joining;
  readonly reasons: readonly string[];
}

/**
 * A form that is open for writing. Joins items and stores them in batches; while one batch is stored, the next is filled. If a
 * submission comes twice, the last one is stored.
 */
export class Sink implements AsyncDisposable {
  applied: Applied = NOTHING_APPLIED;
  readonly form: OpenForm;
  /** Why everything is read again, one sentence each: people removed or changed rows or columns, or settings changed. */
  readonly reasons: readonly string[];
  readonly #parts: SinkParts;
  readonly #join: Join;
  /** The form as the source showed it. */
  #shown: Form;
  /** The number of rows at which a batch is stored. */
  #most = BATCH_ROWS;
  /** The batch by submission: rows, and for each of its items its entry, if any. */
  #rows = new Map<string, Row>();
  #entries = new Map<string, Entry | null>();
  #storing: Promise<void> = Promise.resolve();
  #beingStored = 0;
  /** The newest creation time of a submission that was added. To the millisecond, canonical times are in the order of their texts. */
  #newest = '';

  constructor(parts: SinkParts) {
    const { form, shown, joining, reasons } = parts;
    [this.#parts, this.form, this.#shown, this.reasons] = [parts, form, shown, reasons];
    this.#join = new Join(joining, shown, form.fields);
  }

  /** Rows that are stored or about to be. */
  get size(): number {
    return this.#entries.size + this.#beingStored;
  }

  /** The creation time of the newest submission that was added (milliseconds); null before the first with a date. */
  get topMs(): number | null {
    return this.#newest === '' ? null : Date.parse(this.#newest);
  }

  /** Releases the form's lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.form[Symbol.asyncDispose]();
  }

  /** Prepares the columns. Call it before the first item. */
  async prepare(): Promise<void> {
    const { fields } = this.#join;
    this.#most = Math.min(BATCH_ROWS, BATCH_ANSWERS / Math.max(1, fields.length));
    await this.form.prepare(this.#shown, fields);
  }

  /** Takes the items of a page. Throws Incomplete if an item names another form. */
  async add(items: readonly SubmissionItem[]): Promise<void> {
    for (const { submission } of items)
      if (submission !== null && submission.formId !== '' && submission.formId !== this.#shown.id)
        throw new Incomplete('FOREIGN');
    if (this.#join.meet(items)) {
      await this.flush();
      // A field that was added since the run began has a label there.
      this.#shown = (await this.#parts.source.formOrNull(this.#shown.id)) ?? this.#shown;
      this.#join.prepare(this.#shown, this.form.fields);
      await this.prepare();
    }
    const atMs = this.#parts.target.clock.now();
    const rows: Row[] = [];
    for (const item of items) {
      const { row, entry } = this.#join.item(item, atMs);
      this.#entries.set(item.key, entry);
      if (row !== null) rows.push(row);
    }
    for (const row of await this.form.take(rows)) {
      this.#rows.set(row.id, row);
      if (row.createdAt !== null && row.createdAt > this.#newest) this.#newest = row.createdAt;
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
    this.form.note(state);
  }

  async #store(change: Omit<Change, 'rows'>): Promise<void> {
    const rows = [...this.#rows.values()];
    const listed = [...this.#entries.values()].filter((entry) => entry !== null);
    const entries = [...listed, ...(change.entries ?? [])];
    this.#beingStored = this.#entries.size;
    [this.#rows, this.#entries] = [new Map(), new Map()];
    try {
      await requireUnpaused(this.#parts.target, this.#shown);
      this.applied = plus(this.applied, await this.form.commit({ ...change, rows, entries }));
    } finally {
      this.#beingStored = 0;
    }
  }
}
