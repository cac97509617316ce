import { MirrorError } from '../base/errors.ts';
import { count } from '../base/format.ts';
import type { CallOptions, SubmissionItem } from '../forms/client.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { compareRow } from '../mirror/changes.ts';
import { pickFields } from '../mirror/label-map.ts';
import { type FieldPicks, isPicked } from '../mirror/picks.ts';
import type { ProofLedger } from '../mirror/proof.ts';
import { joinRow } from '../mirror/row.ts';
import type { PrepareResult, RowOutcome, RowWriter } from '../mirror/target.ts';
import type { Form, PickedField, Rejection, Row } from '../mirror/types.ts';
import { MAX_FORM_FIELDS, UnlistedFields } from '../mirror/unlisted-fields.ts';
import type { ItemSink } from './full-scan.ts';
import type { LabelCache } from './label-cache.ts';
import { UnstoredCounts } from './unstored-counts.ts';
import {
  isTwice,
  listedItem,
  type PendingItem,
  sameContents,
  sighting,
  TWICE,
  twice,
  withTwice,
} from './pending-item.ts';

export interface RowSinkOptions {
  readonly form: Form;
  readonly writer: RowWriter;
  readonly batchRows: number;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
  readonly labels: LabelCache;
  readonly ledger: ProofLedger;
  readonly call: CallOptions;
  /** Called before each batch: throws where it is not to be written. */
  readonly beforeBatch: () => Promise<void>;
  /** Called after each batch; the counts so far are on the sink. */
  readonly onBatch: () => void;
  readonly onColumns: (changes: PrepareResult) => void;
}

/** What is on its way to the target, and when it is durable and in the ledger. */
interface Writing {
  readonly items: ReadonlyMap<string, PendingItem>;
  readonly again: ReadonlyMap<string, PendingItem>;
  readonly done: Promise<void>;
  hasEnded: boolean;
}

/**
 * Joins items, writes them in batches, and enters each in the ledger once it is durable: the proof counts what the
 * target holds. While one batch is written, two more are taken, so that neither waits for the other where one of them is
 * slower for a moment; an item of which the batch on its way holds another sighting waits for it, so that of each
 * submission one sighting is settled before the next.
 */
export class RowSink implements ItemSink {
  readonly #options: RowSinkOptions;
  #writer: RowWriter;
  #form: Form;
  #fields: PickedField[] = [];
  /** Those with a column: a field that is deleted while the pass runs keeps the one that was made for it. */
  #storedFields: readonly { id: string; label: string }[] = [];
  #wasKnown = false;
  readonly #unlisted: UnlistedFields;
  #pending = new Map<string, PendingItem>();
  /** Met again by the sweep that wrote them. */
  #again = new Map<string, PendingItem>();
  #writing: Writing | undefined;
  /** Shown with different contents, and listed: what is stored of them stands for the rest of the pass. */
  readonly #twice = new Set<string>();
  inserted = 0;
  updated = 0;
  unchanged = 0;
  readonly #rejected = new Set<string>();
  /** The first refusal of rows for a reason of the target's own. */
  #refused: MirrorError | undefined;
  /** By status, what was met and is not stored, and what the list shows. */
  readonly unstored = new UnstoredCounts();

  constructor(options: RowSinkOptions) {
    this.#options = options;
    this.#writer = options.writer;
    this.#form = options.form;
    const { picks, form } = options;
    this.#unlisted = new UnlistedFields((id) => isPicked(picks, form, id));
  }

  /** Items that could not be stored, or not as they were. */
  get rejected(): number {
    return this.#rejected.size;
  }

  /** The picked fields as they stand, deleted ones included. */
  get fields(): readonly PickedField[] {
    return this.#fields;
  }

  /** True when the target had columns of this form before this pass. */
  get wasKnown(): boolean {
    return this.#wasKnown;
  }

  /** Prepares the columns. Call it once, before the first item. */
  async open(restoreColumns: boolean): Promise<PrepareResult> {
    this.#storedFields = await this.#writer.fields();
    this.#wasKnown = this.#storedFields.length > 0;
    return this.#prepare(restoreColumns);
  }

  /**
   * Takes a page's items; a full batch is begun to be written when the one before is durable, which is waited for where two
   * are full. What went wrong with that one is thrown here. A later sighting of an ID replaces an earlier one, unless both belong to one sweep of a list that
   * stood still: then the list shows the submission twice, and the first is stored (L6).
   */
  async take(items: readonly SubmissionItem[]): Promise<void> {
    await this.#prepareUnlisted(items);
    if (this.#writesAnyOf(items)) await this.#written();
    const { sweep } = this.#options.ledger;
    const seenHere = new Map<string, PendingItem>();
    for (const item of items) {
      const pending = this.#join(item);
      this.unstored.list(pending.status, sweep);
      const earlier = seenHere.get(item.key);
      if (earlier === undefined) seenHere.set(item.key, pending);
      else this.#double(earlier, pending);
    }
    for (const pending of seenHere.values()) this.#place(pending);
    const most = this.#writing?.hasEnded === false ? 2 : 1;
    if (this.#pending.size + this.#again.size >= most * this.#options.batchRows)
      await this.#begin();
  }

  #place(pending: PendingItem): void {
    const { key } = pending;
    const { ledger } = this.#options;
    const earlier = this.#pending.get(key);
    if (earlier !== undefined && ledger.inSweep) {
      earlier.doubled ||= pending.doubled;
      if (isTwice(pending)) earlier.rejections = withTwice(earlier);
      else if (!sameContents(earlier.row, pending.row)) earlier.later = pending;
    } else if (this.#twice.has(key) || ledger.metInSweep(key)) {
      const other = this.#again.get(key);
      if (other !== undefined && (isTwice(other) || !sameContents(other.row, pending.row)))
        pending.rejections = withTwice(pending);
      this.#again.set(key, pending);
    } else {
      // The last one's place is that of the last page that showed it.
      if (earlier !== undefined) this.#pending.delete(key);
      this.#pending.set(key, pending);
    }
  }

  /** Takes and writes items that no page of the list showed. */
  async store(items: readonly SubmissionItem[]): Promise<void> {
    await this.take(items);
    await this.flush();
  }

  /** Lists rows that are stored and that no item of the source speaks of. */
  async list(listings: readonly Rejection[]): Promise<void> {
    await this.#written();
    await this.#writer.apply([], listings);
    for (const { submissionId } of listings) this.#rejected.add(submissionId);
    const rows = await this.#writer.rows(listings.map(({ submissionId }) => submissionId));
    for (const { id, status } of rows.values()) this.unstored.leaveOut(id, status);
  }

  /**
   * Writes what is pending; afterwards all that was taken is durable and in the ledger. Throws where the target refused some
   * of it: by now it has been offered the rest as well (L6).
   */
  async flush(): Promise<void> {
    do {
      await this.#begin();
      await this.#written();
    } while (this.#pending.size > 0);
    if (this.#refused !== undefined) throw this.#refused;
  }

  /** Waits for a batch on its way, whatever becomes of it: for a pass that has failed already. */
  async settled(): Promise<void> {
    await this.#written().catch(() => {});
  }

  #writesAnyOf(items: readonly SubmissionItem[]): boolean {
    const writing = this.#writing;
    if (writing === undefined) return false;
    return items.some(({ key }) => writing.items.has(key) || writing.again.has(key));
  }

  async #written(): Promise<void> {
    const writing = this.#writing;
    if (writing === undefined) return;
    try {
      await writing.done;
    } finally {
      this.#writing = undefined;
    }
  }

  /** Begins to write a batch of what is pending, once what was begun before is durable. */
  async #begin(): Promise<void> {
    await this.#written();
    const again = this.#again;
    if (this.#pending.size + again.size === 0) return;
    const [items, left] = firstOf(this.#pending, this.#options.batchRows);
    [this.#pending, this.#again] = [left, new Map()];
    // Whether the list stood still is asked now: while this is written, later pages tell of later changes.
    const isStill = this.#options.ledger.still;
    const done = this.#write([...items.values()], [...again.values()], isStill);
    const writing: Writing = { items, again, done, hasEnded: false };
    const end = (): void => void (writing.hasEnded = true);
    // It is awaited later; a failure before then must not count as unhandled.
    done.then(end, end);
    this.#writing = writing;
  }

  async #write(
    pending: readonly PendingItem[],
    again: readonly PendingItem[],
    isStill: boolean,
  ): Promise<void> {
    const { ledger, beforeBatch, onBatch } = this.#options;
    await beforeBatch();
    const met = await this.#settleAgain(again, isStill);
    const batch = [...pending.map((item) => this.#chosen(item, isStill)), ...met.other];
    const rows: Row[] = [];
    const rejections: Rejection[] = [];
    for (const item of batch) {
      if (item.row !== null) rows.push(item.row);
      rejections.push(...item.rejections);
    }
    for (const item of met.same) rejections.push(...item.rejections);
    for (const { submissionId, reason } of rejections) {
      if (reason === TWICE) this.#twice.add(submissionId);
    }
    const result = await this.#writer.apply(rows, rejections);
    for (const item of met.same) ledger.sight(sighting(item, true));
    for (const listed of [rejections, result.rejections]) {
      for (const { submissionId } of listed) {
        if (!result.forgotten.has(submissionId)) this.#rejected.add(submissionId);
      }
    }
    let written = 0;
    for (const item of batch) {
      const outcome = item.row === null ? undefined : result.outcomes[written++];
      // What was forgotten is at the source all the same, and counts for the proof: a person knew of it before this pass.
      const existed =
        isOld(outcome) ||
        (notStored(outcome) && !result.newlyListed.has(item.key)) ||
        result.forgotten.has(item.key);
      // A window may show what has no date, and no count of its rows has that.
      const stored = !notStored(outcome) && item.createdAt !== null;
      const isFirst = ledger.sight(sighting(item, existed, stored));
      this.#count(isFirst, outcome);
      if (isFirst && notStored(outcome)) this.unstored.meet(item.status, !existed);
    }
    onBatch();
    this.#refused ??= result.refused;
  }

  /** The same ID twice in one response is one submission. The first entry is stored; a different one must not vanish (L6). */
  #double(first: PendingItem, further: PendingItem): void {
    first.doubled = true;
    if (!sameContents(first.row, further.row)) first.rejections = withTwice(first);
  }

  /** Of two that one sweep showed with different contents: the first, and listed; the later one where the list moved meanwhile. */
  #chosen(item: PendingItem, isStill: boolean): PendingItem {
    if (item.later === undefined) return item;
    if (!isStill && !this.#twice.has(item.key)) return item.later;
    return { ...item, rejections: withTwice(item) };
  }

  /**
   * What was met again, compared with what is stored. `same`: nothing is to be written, though it may have to be listed, as the
   * first was; `other`: it is to be written.
   */
  async #settleAgain(
    again: readonly PendingItem[],
    isStill: boolean,
  ): Promise<{ same: PendingItem[]; other: PendingItem[] }> {
    const settled = { same: [] as PendingItem[], other: [] as PendingItem[] };
    const { batchRows } = this.#options;
    const fieldIds = this.#fields.map(({ id }) => id);
    for (let at = 0; at < again.length; at += batchRows) {
      const some = again.slice(at, at + batchRows);
      const stored = await this.#writer.rows(some.map(({ key }) => key));
      for (const item of some) {
        const { row } = item;
        const before = stored.get(item.key);
        // Not stored as it came, or not at all: it was rejected, or this is a dry run.
        if (row === null || before === undefined || this.#isRejected(item.key)) {
          settled.other.push(item);
          continue;
        }
        const differs = compareRow(row, before, fieldIds) !== undefined;
        const isKnown = this.#twice.has(item.key);
        if (differs && !isStill && !isKnown) settled.other.push(item);
        else if (differs || isTwice(item) || isKnown)
          settled.same.push({ ...item, rejections: [twice(row.id)] });
        else settled.same.push({ ...item, rejections: [] });
      }
    }
    return settled;
  }

  /** Rejected for another reason than being shown twice. */
  #isRejected(key: string): boolean {
    return this.#rejected.has(key) && !this.#twice.has(key);
  }

  /** A row that is inserted and then seen again on another page, unchanged, is one inserted row. */
  #count(first: boolean, outcome: RowOutcome | undefined): void {
    if (outcome === 'inserted') this.inserted++;
    else if (outcome === 'updated' || outcome === 'restored') this.updated++;
    else if (outcome === 'unchanged' && first) this.unchanged++;
  }

  #join(item: SubmissionItem): PendingItem {
    const { key, submission } = item;
    if (submission === null) return listedItem(item, null, item.status ?? '', item.defects);
    const isForeign = submission.formId !== '' && submission.formId !== this.#form.id;
    if (isForeign) {
      const createdAt = canonicalTime(submission.createdAt);
      return listedItem(item, createdAt, submission.status, ['belongs to another form']);
    }
    const answered = this.#unlisted.defectsOf(submission.data);
    const defects = answered.length === 0 ? item.defects : [...item.defects, ...answered];
    const { hashKey } = this.#options;
    const { row, rejections } = joinRow(submission, defects, this.#fields, hashKey);
    const { createdAt, status } = row;
    return { key, createdAt, status, row, rejections, doubled: false };
  }

  /** An unknown field ID refreshes the labels once; what stays unknown is a field deleted before we first looked. */
  async #prepareUnlisted(items: readonly SubmissionItem[]): Promise<void> {
    const unknown = items.flatMap(({ submission }) =>
      submission === null ? [] : this.#unlisted.meet(submission.data),
    );
    if (unknown.length === 0) return;
    const { labels, call, onColumns } = this.#options;
    this.#form = await labels.formWith(this.#form.id, unknown, call);
    // Rows joined so far are written with the columns that they were joined for.
    await this.flush();
    onColumns(await this.#prepare(false));
  }

  async #prepare(restoreColumns: boolean): Promise<PrepareResult> {
    const { picks } = this.#options;
    // Named as when the pass began: a form that is renamed meanwhile stays picked, and hashed, as it was.
    const form = { ...this.#form, id: this.#options.form.id, slug: this.#options.form.slug };
    this.#fields = pickFields(form, picks, this.#storedFields, this.#unlisted.ids);
    if (this.#fields.length > MAX_FORM_FIELDS) throw tooManyFields(form, this.#fields.length);
    this.#unlisted.know(
      this.#form.fields.map((field) => field.id),
      this.#storedFields.map((field) => field.id),
    );
    const columns = await this.#writer.prepare(this.#fields, { restoreColumns });
    const stored = new Set(this.#storedFields.map((field) => field.id));
    this.#storedFields = [
      ...this.#storedFields,
      ...this.#fields.filter(({ id }) => !stored.has(id)),
    ];
    return columns;
  }
}

function tooManyFields(form: Form, fields: number): MirrorError {
  return new MirrorError(
    'FORMS_NOT_JSON',
    `The form "${form.name}" (${form.id}) has ${count(fields)} picked fields, more than the ${count(MAX_FORM_FIELDS)} that are ` +
      'mirrored of a form; nothing was written. Pick in TARGET_FIELDS those that are needed.',
    { retryable: false },
  );
}

/** The first so many entries of a map, and the others. The map itself may be one of the two. */
function firstOf<V>(map: Map<string, V>, many: number): [Map<string, V>, Map<string, V>] {
  if (map.size <= many) return [map, new Map()];
  const [first, rest] = [new Map<string, V>(), new Map<string, V>()];
  for (const [key, value] of map) (first.size < many ? first : rest).set(key, value);
  return [first, rest];
}

const isOld = (outcome: RowOutcome | undefined): boolean =>
  outcome === 'unchanged' || outcome === 'updated';

const notStored = (outcome: RowOutcome | undefined): boolean =>
  outcome === undefined || outcome === 'rejected' || outcome === 'forgotten';
