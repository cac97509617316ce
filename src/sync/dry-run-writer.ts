import type { RowsAsStored } from '../mirror/as-stored.ts';
import { compareRow } from '../mirror/changes.ts';
import { idsOfBatch } from '../mirror/forgotten.ts';
import { IdSet } from '../mirror/id-set.ts';
import { NOTHING_ERASED } from '../mirror/erasure.ts';
import type { FormReader, FormWriter, RowOutcome, StoredRow } from '../mirror/target.ts';
import { minusCounts, NO_COUNTS, plusCounts, type StatusCounts } from '../mirror/status-counts.ts';
import type { PickedField, Row } from '../mirror/types.ts';
import type { WindowRecord } from '../mirror/window.ts';
import { type ForeseenChange, foreseenCells } from './foreseen.ts';

/**
 * A writer that compares and counts as a real one would, and writes nothing. `reader`: undefined for a form never mirrored;
 * `onForeseen` is told what a real one would do to each row.
 */
export function dryRunWriter(
  reader: FormReader | undefined,
  onForeseen: (change: ForeseenChange) => void = () => {},
): FormWriter {
  return new DryRunWriter(reader, onForeseen);
}

class DryRunWriter implements FormWriter {
  readonly #reader: FormReader | undefined;
  /** What a real writer would have stored by now: a row seen again on another page is not new a second time. */
  readonly #met = new IdSet();
  /** What it would have marked deleted by now. */
  readonly #gone = new IdSet();
  /** How the counts by status would have changed by now. */
  #moved: StatusCounts = NO_COUNTS;
  readonly #onForeseen: (change: ForeseenChange) => void;
  #fields: readonly PickedField[] = [];
  #windows: readonly WindowRecord[] | undefined;

  constructor(reader: FormReader | undefined, onForeseen: (change: ForeseenChange) => void) {
    this.#reader = reader;
    this.#onForeseen = onForeseen;
  }

  checkpoint: FormReader['checkpoint'] = async () => this.#reader?.checkpoint();
  windows: FormReader['windows'] = async () =>
    this.#windows ?? (await this.#reader?.windows()) ?? [];
  losses: FormReader['losses'] = async () => (await this.#reader?.losses()) ?? [];
  fields: FormReader['fields'] = async () => (await this.#reader?.fields()) ?? [];
  asStored: FormReader['asStored'] = async (rows, fieldIds) =>
    (await this.#reader?.asStored(rows, fieldIds)) ?? { rows, isSame: () => false };
  rows: FormReader['rows'] = async (ids) => (await this.#reader?.rows(ids)) ?? new Map();
  confirm: FormReader['confirm'] = async (ids) => (await this.#reader?.confirm(ids)) ?? new Set();
  refusals: FormReader['refusals'] = async (id) => (await this.#reader?.refusals(id)) ?? [];
  marking: FormReader['marking'] = async () => (await this.#reader?.marking()) ?? null;
  forgotten: FormReader['forgotten'] = async (ids) =>
    (await this.#reader?.forgotten(ids)) ?? new Map();
  traces: FormReader['traces'] = async (ids) => (await this.#reader?.traces(ids)) ?? NOTHING_ERASED;
  countDeleted: FormReader['countDeleted'] = async (before) =>
    (await this.#reader?.countDeleted(before)) ?? 0;
  countFilled: FormReader['countFilled'] = async (fieldIds) =>
    (await this.#reader?.countFilled(fieldIds)) ?? 0;
  passes: FormReader['passes'] = async (limit) => (await this.#reader?.passes(limit)) ?? [];
  notices: FormReader['notices'] = async () => (await this.#reader?.notices()) ?? [];
  rejections: FormReader['rejections'] = async (limit) =>
    (await this.#reader?.rejections(limit)) ?? { total: 0, items: [] };

  async *liveIds(): AsyncIterable<string[]> {
    for await (const ids of this.#reader?.liveIds() ?? [])
      yield ids.filter((id) => !this.#gone.has(id));
  }

  async *deletedIds(): AsyncIterable<string[]> {
    if (this.#reader) yield* this.#reader.deletedIds();
  }

  async *liveIdsWithin(...which: Parameters<FormReader['liveIdsWithin']>): AsyncIterable<string[]> {
    for await (const ids of this.#reader?.liveIdsWithin(...which) ?? [])
      yield ids.filter((id) => !this.#gone.has(id));
  }

  /** With what would have been stored by now. */
  statusCounts: FormReader['statusCounts'] = async () =>
    plusCounts((await this.#reader?.statusCounts()) ?? NO_COUNTS, this.#moved);

  timeCounts: FormReader['timeCounts'] = async (span, grain) =>
    (await this.#reader?.timeCounts(span, grain)) ?? [];

  async *markCandidates(
    ...which: Parameters<FormReader['markCandidates']>
  ): AsyncIterable<string[]> {
    if (this.#reader) yield* this.#reader.markCandidates(...which);
  }

  countRefused: FormReader['countRefused'] = async (refused) =>
    (await this.#reader?.countRefused(refused)) ?? 0;

  triedBefore: FormReader['triedBefore'] = async (ids, wanted) =>
    (await this.#reader?.triedBefore(ids, wanted)) ?? new Set();

  prepare: FormWriter['prepare'] = async (fields: readonly PickedField[]) => {
    this.#fields = fields;
    const stored = new Map((await this.fields()).map((field) => [field.id, field]));
    const added = fields.filter((field) => !stored.has(field.id)).map((field) => field.label);
    const relabelled = fields.flatMap((field) => {
      const from = stored.get(field.id)?.label ?? field.label;
      return from === field.label ? [] : [{ from, to: field.label }];
    });
    return { added, relabelled, removed: [] };
  };

  apply: FormWriter['apply'] = async (rows, rejections) => {
    const stored = await this.rows(rows.map((row) => row.id));
    const gone = await this.forgotten([...idsOfBatch(rows, rejections)]);
    const ids = this.#fields.map(({ id }) => id);
    const { rows: held, isSame } = await this.asStored(rows, ids);
    const outcomeOf = ({ id }: Row, place: number): RowOutcome => {
      if (gone.has(id)) return 'forgotten';
      const row = held[place];
      if (row === undefined) return 'rejected';
      if (!this.#met.add(row.id)) return 'unchanged';
      const old = stored.get(row.id);
      this.#moved = plusCounts(this.#moved, new Map([[row.status, 1]]));
      if (old !== undefined && old.deletedAt === null) this.#leave(old.status);
      return this.#foresee(row, old, isSame);
    };
    const forgotten = new Set(gone.keys());
    return { outcomes: rows.map(outcomeOf), rejections: [], newlyListed: new Set(), forgotten };
  };

  markDeleted: FormWriter['markDeleted'] = async (ids) => {
    const marked = ids.filter((id) => this.#gone.add(id));
    let deleted = 0;
    for (const { id: submissionId, deletedAt, status } of (await this.rows(marked)).values()) {
      if (deletedAt !== null) continue;
      this.#leave(status);
      this.#onForeseen({ kind: 'deleted', submissionId, cells: [] });
      deleted++;
    }
    return deleted;
  };

  #foresee(row: Row, old: StoredRow | undefined, isSame: RowsAsStored['isSame']): RowOutcome {
    const { id: submissionId } = row;
    if (old === undefined) {
      this.#onForeseen({ kind: 'inserted', submissionId, cells: [] });
      return 'inserted';
    }
    const ids = this.#fields.map(({ id }) => id);
    const difference = compareRow(row, old, ids, isSame);
    if (difference === undefined) return 'unchanged';
    const kind = old.deletedAt === null ? 'updated' : 'restored';
    const cells = foreseenCells(difference, old, row, this.#fields);
    this.#onForeseen({ kind, submissionId, cells });
    return kind;
  }

  #leave(status: string): void {
    this.#moved = minusCounts(this.#moved, new Map([[status, 1]]));
  }

  setStatuses: FormWriter['setStatuses'] = async () => {};
  recordMarking: FormWriter['recordMarking'] = async () => {};
  recordRefusals: FormWriter['recordRefusals'] = async () => {};
  forget: FormWriter['forget'] = async (ids) => ({ ...(await this.traces(ids)), left: [] });
  remember: FormWriter['remember'] = async (ids) => (await this.forgotten(ids)).size;
  purgeDeleted: FormWriter['purgeDeleted'] = async () => NOTHING_ERASED;
  emptyFields: FormWriter['emptyFields'] = async (ids) => this.countFilled(ids);
  planWindows: FormWriter['planWindows'] = async (windows) => {
    this.#windows = windows;
  };
  saveWindow: FormWriter['saveWindow'] = async (window) => {
    const isIt = ({ from, to }: WindowRecord): boolean => from === window.from && to === window.to;
    this.#windows = (await this.windows()).map((old) => (isIt(old) ? window : old));
  };
  finish: FormWriter['finish'] = async () => undefined;
  async [Symbol.asyncDispose](): Promise<void> {}
}
