import type { CallOptions, SubmissionItem } from '../forms/client.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { pickFields } from '../mirror/label-map.ts';
import type { FieldPicks } from '../mirror/picks.ts';
import type { ProofLedger } from '../mirror/proof.ts';
import { joinRow } from '../mirror/row.ts';
import type { FormWriter, PrepareResult, RowOutcome } from '../mirror/target.ts';
import type { Form, PickedField, Rejection, Row } from '../mirror/types.ts';
import type { ItemSink } from './full-scan.ts';
import type { LabelCache } from './label-cache.ts';

/** What a {@link RowSink} works with. */
export interface RowSinkOptions {
  readonly form: Form;
  readonly writer: FormWriter;
  readonly batchRows: number;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
  readonly labels: LabelCache;
  readonly ledger: ProofLedger;
  readonly call: CallOptions;
  /** Told after each batch; counts so far are on the sink. */
  readonly onBatch: (sink: RowSink) => void;
  readonly onColumns: (changes: PrepareResult) => void;
}

interface Pending {
  key: string;
  createdAt: string | null;
  row: Row | null;
  rejections: readonly Rejection[];
}

/**
 * Joins items, writes them in batches, and gives every one to the ledger once it is durable: what the proof counts is
 * what the target holds.
 */
export class RowSink implements ItemSink {
  readonly #options: RowSinkOptions;
  #form: Form;
  #fields: PickedField[] = [];
  #storedFields: { id: string; label: string }[] = [];
  readonly #strangers = new Set<string>();
  #known = new Set<string>();
  #pending = new Map<string, Pending>();
  inserted = 0;
  updated = 0;
  unchanged = 0;
  readonly #rejected = new Set<string>();

  constructor(options: RowSinkOptions) {
    this.#options = options;
    this.#form = options.form;
  }

  /** Items that could not be stored, or not as they were. */
  get rejected(): number {
    return this.#rejected.size;
  }

  /** The picked fields as they stand, deleted ones included. */
  get fields(): readonly PickedField[] {
    return this.#fields;
  }

  /** Makes the columns ready. To be called once before the first item. */
  async open(restoreColumns: boolean): Promise<PrepareResult> {
    const { writer } = this.#options;
    this.#storedFields = await writer.fields();
    return this.#prepare(restoreColumns);
  }

  /** Takes a page's items; writes when a batch is full. Later sightings of an ID replace earlier ones. */
  async take(items: readonly SubmissionItem[]): Promise<void> {
    await this.#meetStrangers(items);
    const seenHere = new Map<string, number>();
    for (const item of items) {
      // The same ID twice in one response is a double at the source: it counts twice in `total`, and is stored once.
      const nth = (seenHere.get(item.key) ?? 0) + 1;
      seenHere.set(item.key, nth);
      const key = nth === 1 ? item.key : `${item.key}#${nth}`;
      this.#pending.delete(key);
      this.#pending.set(key, nth === 1 ? this.#join(item) : { ...this.#blank(item), key });
    }
    if (this.#pending.size >= this.#options.batchRows) await this.flush();
  }

  /** Writes what is pending. */
  async flush(): Promise<void> {
    const batch = [...this.#pending.values()];
    if (batch.length === 0) return;
    this.#pending = new Map();
    const rows = batch.flatMap((item) => (item.row === null ? [] : [item.row]));
    const rejections = batch.flatMap((item) => item.rejections);
    const result = await this.#options.writer.apply(rows, rejections);
    for (const rejection of [...rejections, ...result.rejections]) {
      this.#rejected.add(rejection.submissionId);
    }
    const outcomes = new Map(rows.map((row, index) => [row.id, result.outcomes[index]]));
    for (const item of batch) {
      const outcome = item.row === null ? undefined : outcomes.get(item.row.id);
      const existed = isOld(outcome) || (notStored(outcome) && result.newRejections === 0);
      this.#count(this.#options.ledger.sight({ ...item, existed }), outcome);
    }
    this.#options.onBatch(this);
  }

  /** A row that is inserted and met again on another page, unchanged, is one inserted row. */
  #count(first: boolean, outcome: RowOutcome | undefined): void {
    if (outcome === 'inserted') this.inserted++;
    else if (outcome === 'updated' || outcome === 'restored') this.updated++;
    else if (outcome === 'unchanged' && first) this.unchanged++;
  }

  #blank(item: SubmissionItem): Pending {
    const createdAt = canonicalTime(item.submission?.createdAt ?? '');
    return { key: item.key, createdAt, row: null, rejections: [] };
  }

  #join(item: SubmissionItem): Pending {
    const blank = this.#blank(item);
    const { submission, defects } = item;
    const foreign =
      submission !== null && submission.formId !== '' && submission.formId !== this.#form.id;
    if (submission === null || foreign) {
      const reasons = foreign ? ['belongs to another form'] : defects;
      const rejections = reasons.map((reason) => ({
        submissionId: item.key,
        reason,
        stored: false,
      }));
      return { ...blank, rejections };
    }
    return { ...blank, ...joinRow(submission, defects, this.#fields, this.#options.hashKey) };
  }

  /** An unknown field ID refreshes the labels once; what stays unknown is a field deleted before we first looked. */
  async #meetStrangers(items: readonly SubmissionItem[]): Promise<void> {
    const unknown = new Set<string>();
    for (const item of items) {
      for (const id of item.submission?.data.keys() ?? []) {
        if (!this.#known.has(id) && !this.#strangers.has(id)) unknown.add(id);
      }
    }
    if (unknown.size === 0) return;
    const { labels, call, onColumns } = this.#options;
    this.#form = await labels.explain(this.#form.id, unknown, call);
    for (const id of unknown) this.#strangers.add(id);
    // Rows joined so far go out under the columns that they were joined with.
    await this.flush();
    onColumns(await this.#prepare(false));
  }

  async #prepare(restoreColumns: boolean): Promise<PrepareResult> {
    const { picks, writer } = this.#options;
    this.#fields = pickFields(this.#form, picks, this.#storedFields, this.#strangers);
    this.#known = new Set([
      ...this.#form.fields.map((field) => field.id),
      ...this.#storedFields.map((field) => field.id),
    ]);
    return writer.prepare(this.#fields, { restoreColumns });
  }
}

const isOld = (outcome: RowOutcome | undefined): boolean =>
  outcome === 'unchanged' || outcome === 'updated';

const notStored = (outcome: RowOutcome | undefined): boolean =>
  outcome === undefined || outcome === 'rejected';
