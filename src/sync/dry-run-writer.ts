import { compareRow } from '../mirror/changes.ts';
import { idsOfBatch } from '../mirror/forgotten.ts';
import { IdSet } from '../mirror/id-set.ts';
import { NOTHING_ERASED } from '../mirror/erasure.ts';
import type { FormReader, FormWriter, RowOutcome } from '../mirror/target.ts';
import { minusCounts, NO_COUNTS, plusCounts, type StatusCounts } from '../mirror/status-counts.ts';
import type { PickedField, Row } from '../mirror/types.ts';
import type { WindowRecord } from '../mirror/window.ts';

/** A writer that compares and counts as a real one would, and writes nothing. `reader`: undefined for a form never mirrored. */
export function dryRunWriter(reader: FormReader | undefined): FormWriter {
  return new DryRunWriter(reader);
}

class DryRunWriter implements FormWriter {
  readonly #reader: FormReader | undefined;
  /** What a real writer would have stored by now: a row seen again on another page is not new a second time. */
  readonly #met = new IdSet();
  /** What it would have marked deleted by now. */
  readonly #gone = new IdSet();
  /** How the counts by status would have changed by now. */
  #moved: StatusCounts = NO_COUNTS;
  #fieldIds: string[] = [];
  #windows: readonly WindowRecord[] | undefined;

  constructor(reader: FormReader | undefined) {
    this.#reader = reader;
  }

  checkpoint: FormReader['checkpoint'] = async () => this.#reader?.checkpoint();
  windows: FormReader['windows'] = async () =>
    this.#windows ?? (await this.#reader?.windows()) ?? [];
  losses: FormReader['losses'] = async () => (await this.#reader?.losses()) ?? [];
  fields: FormReader['fields'] = async () => (await this.#reader?.fields()) ?? [];
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
    this.#fieldIds = fields.map((field) => field.id);
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
    const outcomeOf = (row: Row): RowOutcome => {
      if (gone.has(row.id)) return 'forgotten';
      if (!this.#met.add(row.id)) return 'unchanged';
      const old = stored.get(row.id);
      this.#moved = plusCounts(this.#moved, new Map([[row.status, 1]]));
      if (old !== undefined && old.deletedAt === null) this.#leave(old.status);
      if (old === undefined) return 'inserted';
      if (old.deletedAt !== null) return 'restored';
      return compareRow(row, old, this.#fieldIds) === undefined ? 'unchanged' : 'updated';
    };
    const forgotten = new Set(gone.keys());
    return { outcomes: rows.map(outcomeOf), rejections: [], newlyListed: new Set(), forgotten };
  };

  markDeleted: FormWriter['markDeleted'] = async (ids) => {
    const marked = ids.filter((id) => this.#gone.add(id));
    for (const row of (await this.rows(marked)).values()) {
      if (row.deletedAt === null) this.#leave(row.status);
    }
    return marked.length;
  };

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
  finish: FormWriter['finish'] = async () => {};
  async [Symbol.asyncDispose](): Promise<void> {}
}
