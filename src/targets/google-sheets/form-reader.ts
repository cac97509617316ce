import type {
  FormReader,
  ListedRejection,
  Refusal,
  StoredField,
  StoredRow,
} from '../../mirror/target.ts';
import type { Checkpoint, PassRecord } from '../../mirror/types.ts';
import { spansOf } from './a1.ts';
import type { CatalogueField } from './field-catalogue.ts';
import type { FormSheet } from './form-sheet.ts';
import { movedTo } from './layout.ts';
import { Ledger } from './ledger.ts';
import { idOf, keyColumnsOf, RowIndex } from './row-index.ts';
import { knownKeys, readKeys } from './row-locator.ts';
import { answerOf, isStorableId, timeOf } from './row-values.ts';
import { type ColumnKey, fieldKey } from './sheet-metadata.ts';
import { fitText, type ReadValue } from './sheet-value.ts';
import type { Layout } from './structure.ts';
import { isSmall, readColumns, readLedger, readRows } from './tab-reading.ts';

/** IDs of one chunk. */
const CHUNK = 5_000;
/** How long a look at the key columns is good enough to find rows by: what was found is checked against its ID. */
const KEYS_FRESH_MS = 15_000;
/** How long checkpoint and passes are good before they are read again. */
const STATE_FRESH_MS = 10_000;

/** {@link FormReader} over a form's tab. Reads take no lock; each sees the sheet as it is at that moment. */
export class SheetFormReader implements FormReader {
  protected readonly sheet: FormSheet;
  #stateAtMs: number;

  constructor(sheet: FormSheet) {
    this.sheet = sheet;
    this.#stateAtMs = sheet.book.clock.now();
  }

  async checkpoint(): Promise<Checkpoint | undefined> {
    await this.refreshState();
    return this.sheet.state.checkpoint ?? undefined;
  }

  async passes(limit: number): Promise<PassRecord[]> {
    await this.refreshState();
    return this.sheet.state.passes.slice(0, limit);
  }

  async fields(): Promise<StoredField[]> {
    const headers = await this.headers();
    const columns = this.sheet.layout?.columns;
    return this.sheet.catalogue.fields
      .flatMap((field) => {
        const index = columns?.get(fieldKey(field.id))?.index;
        return index === undefined ? [] : [{ field, index }];
      })
      .sort((a, b) => a.index - b.index)
      .map(({ field, index }) => storedField(field, headers?.[index]));
  }

  async rows(ids: readonly string[]): Promise<Map<string, StoredRow>> {
    const wanted = new Set(ids.filter(isStorableId));
    if (wanted.size === 0 || this.sheet.layout === undefined) return new Map();
    const layout = this.sheet.usableLayout();
    return isSmall(layout) ? this.#rowsOfSmall(layout, wanted) : this.#rowsOfLarge(wanted);
  }

  async confirm(ids: readonly string[]): Promise<Set<string>> {
    const wanted = ids.filter(isStorableId);
    if (wanted.length === 0 || this.sheet.layout === undefined) return new Set();
    const { index, ledger } = await this.#keysAndLedger(wanted);
    const rejected = new Set(
      ledger.rejections(this.sheet.form.id).map((item) => item.submissionId),
    );
    return new Set(wanted.filter((id) => index.get(id)?.removed === false && !rejected.has(id)));
  }

  async *liveIds(): AsyncIterable<string[]> {
    if (this.sheet.layout === undefined) return;
    const index = await this.keys();
    yield* chunks(index, (row) => !row.removed);
  }

  async *markCandidates(statuses: readonly string[]): AsyncIterable<string[]> {
    if (this.sheet.layout === undefined) return;
    const { index, ledger } = await this.#keysAndLedger();
    const formId = this.sheet.form.id;
    const rejected = new Set(ledger.rejections(formId).map((item) => item.submissionId));
    const refused = new Set(
      ledger.refusals(formId).map((item) => `${item.submissionId}\n${item.status}`),
    );
    const wanted = new Set(statuses.map((status) => fitText(status).text));
    yield* chunks(
      index,
      ({ id, status, removed }) =>
        !removed && wanted.has(status) && !rejected.has(id) && !refused.has(`${id}\n${status}`),
    );
  }

  async rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }> {
    const all = (await this.#readLedger()).rejections(this.sheet.form.id);
    return { total: all.length, items: all.slice(0, limit) };
  }

  async refusals(submissionId: string): Promise<Refusal[]> {
    const id = fitText(submissionId).text;
    const all = (await this.#readLedger()).refusals(this.sheet.form.id);
    return all.filter((refusal) => refusal.submissionId === id);
  }

  /** The header row as it is; undefined where the last one written is good enough. */
  protected async headers(): Promise<readonly ReadValue[] | undefined> {
    if (this.sheet.layout === undefined) return undefined;
    return (await readColumns(this.sheet.book.api, this.sheet.layout, { keys: [] })).header?.cells;
  }

  /** Which row shows which submission. */
  protected keys(): Promise<RowIndex> {
    return readKeys(this.sheet);
  }

  /** Reads checkpoint and passes again when they may have changed. */
  protected async refreshState(): Promise<void> {
    const now = this.sheet.book.clock.now();
    if (now - this.#stateAtMs <= STATE_FRESH_MS) return;
    this.#stateAtMs = now;
    await this.sheet.reload();
  }

  async #rowsOfSmall(layout: Layout, wanted: ReadonlySet<string>): Promise<Map<string, StoredRow>> {
    const keys = [...layout.columns.keys()];
    const read = await readColumns(this.sheet.book.api, layout, { keys });
    const index = RowIndex.fromColumns(read);
    return new Map(
      [...wanted].flatMap((id) => {
        const row = index.get(id)?.row;
        if (row === undefined) return [];
        return [[id, this.#stored(id, (key) => read.columns.get(key)?.values[row])] as const];
      }),
    );
  }

  async #rowsOfLarge(wanted: ReadonlySet<string>): Promise<Map<string, StoredRow>> {
    const found = new Map<string, StoredRow>();
    const wasFresh = this.sheet.index === undefined || this.sheet.indexAgeMs > KEYS_FRESH_MS;
    let index = await knownKeys(this.sheet, KEYS_FRESH_MS);
    for (const last of [wasFresh, true]) {
      const layout = this.sheet.usableLayout();
      const missing = [...wanted].filter((id) => !found.has(id));
      const places = missing.flatMap((id) => index.get(id)?.row ?? []).sort((a, b) => a - b);
      const rows = await readRows(this.sheet.book.api, layout, spansOf(places, 8));
      for (const id of missing) {
        const cells = rows.get(index.get(id)?.row ?? -1) ?? [];
        const valueOf = (key: ColumnKey): ReadValue => cells[layout.columns.get(key)?.index ?? -1];
        if (idOf(valueOf('s:id')) === id) found.set(id, this.#stored(id, valueOf));
      }
      if (last || found.size === wanted.size) break;
      // A row that is not where it was, or not known, may have moved or come since.
      index = await readKeys(this.sheet);
    }
    return found;
  }

  #stored(id: string, read: (key: ColumnKey) => ReadValue): StoredRow {
    const { catalogue, time, layout } = this.sheet;
    const fields = catalogue.fields.filter((field) => layout?.columns.has(fieldKey(field.id)));
    return {
      id,
      status: idOf(read('s:status')),
      createdAt: timeOf(read('s:at'), time),
      deletedAt: timeOf(read('s:removed'), time),
      cells: new Map(
        fields.map((field) => [field.id, answerOf(read(fieldKey(field.id)), field.content)]),
      ),
    };
  }

  /** Key columns and ledger, in one read. Keys that were read just now do when they hold all of `ids`. */
  async #keysAndLedger(ids?: readonly string[]): Promise<{ index: RowIndex; ledger: Ledger }> {
    const { sheet } = this;
    const known = sheet.index;
    const fresh = known !== undefined && sheet.indexAgeMs <= KEYS_FRESH_MS;
    if (fresh && ids?.every((id) => known.get(id)?.removed === false)) {
      return { index: known, ledger: await this.#readLedger() };
    }
    const layout = sheet.usableLayout();
    const keys = keyColumnsOf(layout);
    const read = await readColumns(sheet.book.api, layout, {
      keys,
      ledgerSheetId: sheet.structure.roles.get('ledger')?.sheetId,
    });
    sheet.keepLayout(movedTo(layout, keys, read));
    const index = RowIndex.fromColumns(read);
    if (known !== undefined) index.adoptFingerprints(known);
    sheet.index = index;
    return { index, ledger: new Ledger(read.ledger) };
  }

  async #readLedger(): Promise<Ledger> {
    const tab = this.sheet.structure.roles.get('ledger');
    return new Ledger(tab === undefined ? [] : await readLedger(this.sheet.book.api, tab.sheetId));
  }
}

const storedField = (field: CatalogueField, header: ReadValue): StoredField => ({
  id: field.id,
  label: field.label,
  position: field.position,
  column: idOf(header) || field.header,
  removedAt: field.removedAt,
});

function* chunks(
  index: RowIndex,
  wanted: (row: { id: string; status: string; removed: boolean }) => boolean,
): Generator<string[]> {
  let chunk: string[] = [];
  for (const row of index) {
    if (!wanted(row)) continue;
    chunk.push(row.id);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
