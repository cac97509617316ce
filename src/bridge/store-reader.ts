import { MirrorError } from '../base/errors.ts';
import { sumOf } from '../mirror/form-state.ts';
import type { Entry, EntryKind, OpenForm, RowQuery, Store, StoredRow } from '../mirror/port.ts';
import type {
  CopyReader,
  ListedRejection,
  Refusal,
  StoredField,
  Traces,
  WindowRecord,
} from '../mirror/target.ts';
import type { Checkpoint, PassRecord } from '../mirror/types.ts';
import { checkpointOf, passRecordOf } from './overview.ts';

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** Listed as rejected: it could not be stored unchanged, or the source does not say whether it still exists. */
const LISTED = ['rejected', 'undecided'] as const satisfies readonly EntryKind[];

/** A form of a store, as commands and the page read it. Each question opens the form again, so each answer is current. */
export class StoreReader implements CopyReader {
  readonly #store: Store;
  readonly #formId: string;

  constructor(store: Store, formId: string) {
    [this.#store, this.#formId] = [store, formId];
  }

  checkpoint(): Promise<Checkpoint | undefined> {
    return this.#open(async ({ state }) => checkpointOf(state) ?? undefined);
  }

  windows(): Promise<readonly WindowRecord[]> {
    return this.#open(async (form) => {
      const windows: WindowRecord[] = [];
      for (const { fromMs, toMs, readAtMs, isDue } of form.state.ranges) {
        const counts = await form.counts({ fromMs, toMs }, 'all');
        windows.push({
          from: isoOrNull(fromMs),
          to: isoOrNull(toMs),
          total: sumOf(counts.map(({ count }) => count)),
          provenAt: isoOrNull(readAtMs),
          provenFor: null,
          deleted: 0,
          absent: 0,
          unstored: null,
          open: isDue,
          failedAt: null,
        });
      }
      return windows;
    });
  }

  fields(): Promise<StoredField[]> {
    return this.#open(async (form) =>
      form.fields.map(({ id, label, position, column, isInForm }) => ({
        id,
        label,
        position,
        column: column ?? '',
        removedAt: isInForm ? null : '',
      })),
    );
  }

  rows(ids: readonly string[]): Promise<Map<string, StoredRow>> {
    return this.#open(async (form) => {
      const found = new Map<string, StoredRow>();
      for (const isDeleted of [false, true])
        for await (const rows of form.rows({ ids, isDeleted }, true))
          for (const row of rows) found.set(row.id, row);
      return found;
    });
  }

  liveIds(): AsyncIterable<string[]> {
    return this.#ids({});
  }

  deletedIds(): AsyncIterable<string[]> {
    return this.#ids({ isDeleted: true });
  }

  rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }> {
    return this.#open(async (form) => {
      const entries = await entriesOf(form, LISTED);
      const newest = entries.toSorted((a, b) => b.atMs - a.atMs).slice(0, limit);
      const stored = new Set<string>();
      for await (const rows of form.rows({ ids: newest.map(({ id }) => id) }))
        for (const { id } of rows) stored.add(id);
      const items = newest.map(({ id, reason, atMs }) => ({
        submissionId: id,
        reason,
        stored: stored.has(id),
        firstSeenAt: iso(atMs),
        lastSeenAt: iso(atMs),
      }));
      return { total: entries.length, items };
    });
  }

  /** Which change was refused is not kept: there is one that is asked for, MARK_STATUS. */
  async refusals(submissionId: string): Promise<Refusal[]> {
    const refused = await this.#entries(['refused']);
    return refused
      .filter(({ id }) => id === submissionId)
      .map(({ status, reason, atMs }) => ({
        submissionId,
        status: status ?? '',
        wanted: '',
        reason,
        at: iso(atMs),
      }));
  }

  forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#open(async (form) => {
      const digests = await form.forgotten(ids);
      if (digests.size === 0) return new Map<string, string>();
      const entries = await entriesOf(form, ['forgotten']);
      const times = new Map(entries.map(({ id, atMs }) => [id, iso(atMs)]));
      return new Map([...digests].map(([id, digest]) => [id, times.get(digest) ?? '']));
    });
  }

  traces(ids: readonly string[]): Promise<Traces> {
    return this.#open((form) => tracesIn(form, ids));
  }

  countDeleted(before: string): Promise<number> {
    return this.#open(async (form) => {
      let many = 0;
      for await (const rows of form.rows({ isDeleted: true }))
        many += rows.filter(({ deletedAt }) => (deletedAt ?? '') < before).length;
      return many;
    });
  }

  countFilled(fieldIds: readonly string[]): Promise<number> {
    return this.#open(async (form) => {
      let many = 0;
      for (const isDeleted of [false, true])
        for await (const rows of form.rows({ isDeleted }, true))
          many += rows.filter(({ cells }) =>
            fieldIds.some((id) => (cells.get(id) ?? null) !== null),
          ).length;
      return many;
    });
  }

  passes(limit: number): Promise<PassRecord[]> {
    return this.#open(async (form) => (await form.runs(limit)).map(passRecordOf));
  }

  async *#ids(query: RowQuery): AsyncIterable<string[]> {
    await using form = await this.#opened();
    for await (const rows of form.rows(query)) yield rows.map(({ id }) => id);
  }

  #entries(kinds: readonly EntryKind[]): Promise<Entry[]> {
    return this.#open((form) => entriesOf(form, kinds));
  }

  async #open<T>(work: (form: OpenForm) => Promise<T>): Promise<T> {
    await using form = await this.#opened();
    return await work(form);
  }

  async #opened(): Promise<OpenForm> {
    const form = await this.#store.open({ id: this.#formId }, 'read');
    if (form !== null) return form;
    const message = `The target has lost its record of form ${this.#formId} while it was read.`;
    throw new MirrorError('TARGET_FAILED', message);
  }
}

async function entriesOf(form: OpenForm, kinds: readonly EntryKind[]): Promise<Entry[]> {
  const all: Entry[] = [];
  for (const kind of kinds) for await (const entries of form.entries(kind)) all.push(...entries);
  return all;
}

/** Counts what the target holds of these submissions. Versions are deleted with their rows and not counted. */
export async function tracesIn(form: OpenForm, ids: readonly string[]): Promise<Traces> {
  let rows = 0;
  for (const isDeleted of [false, true])
    for await (const found of form.rows({ ids, isDeleted })) rows += found.length;
  const wanted = new Set(ids);
  const many = async (kinds: readonly EntryKind[]): Promise<number> =>
    (await entriesOf(form, kinds)).filter(({ id }) => wanted.has(id)).length;
  return {
    rows,
    listings: await many([...LISTED, 'held']),
    refusals: await many(['refused']),
    history: 0,
  };
}
