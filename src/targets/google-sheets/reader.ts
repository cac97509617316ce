import type { RowsAsStored } from '../../mirror/as-stored.ts';
import type { Loss } from '../../mirror/losses.ts';
import type { TargetNotice } from '../../mirror/notices.ts';
import type { Traces } from '../../mirror/erasure.ts';
import type { MarkingRecord } from '../../mirror/marking-record.ts';
import type {
  FormReader,
  ListedRejection,
  RecentRefusals,
  Refusal,
  StoredField,
  StoredRow,
} from '../../mirror/target.ts';
import { NO_COUNTS, type StatusCounts } from '../../mirror/status-counts.ts';
import type { TimeCount, TimeGrain, TimeSpan } from '../../mirror/time-counts.ts';
import type { Checkpoint, PassRecord, Row } from '../../mirror/types.ts';
import type { WindowRecord } from '../../mirror/window.ts';
import { spansOf } from './api/a1.ts';
import { noteDropped } from './columns/column-plan.ts';
import { type CatalogueField, droppedLabels } from './columns/field-catalogue.ts';
import type { FormSheet } from './state/form-sheet.ts';
import { recentRefusals, refusedRow } from './state/refusal-list.ts';
import { unblockedOf } from './state/blocked.ts';
import { lossesOf, needsLook } from './state/losses.ts';
import { noticesOf, oddRowsOf } from './state/notices.ts';
import { StateTab } from './state/state-tab.ts';
import { filledRows, listedOf, removedBefore, rowsOf } from './state/traces.ts';
import { forgottenIn } from './state/forgotten-list.ts';
import { windowsOf } from './state/window-list.ts';
import { countDates, countStatuses, type DatedRow, readDatedRows } from './rows/dated-rows.ts';
import { idOf, type IndexedRow, keyColumnsOf, RowIndex } from './rows/row-index.ts';
import { answerOf, isStorableId, timeOf } from './rows/row-values.ts';
import { rowsInSheet } from './rows/rows-in-sheet.ts';
import { type ColumnKey, fieldKey } from './api/metadata.ts';
import { fitText, type ReadValue } from './api/cell-value.ts';
import type { Layout } from './columns/layout.ts';
import { isSmall, movedTo, readColumns, readStateTab, readRows } from './rows/tab-reading.ts';

/** IDs of one chunk. */
const CHUNK = 5_000;
/** How long a read of the key columns serves to find rows by: what is found is checked against its ID. */
const KEYS_FRESH_MS = 15_000;
/** How long checkpoint and passes serve before they are read again. */
const STATE_FRESH_MS = 10_000;

/** {@link FormReader} over a form's tab. Reads take no lock; each sees the sheet as it is at that moment. */
export class SheetFormReader implements FormReader {
  protected readonly sheet: FormSheet;
  #stateAtMs: number;

  constructor(sheet: FormSheet) {
    this.sheet = sheet;
    this.#stateAtMs = sheet.spreadsheet.clock.now();
  }

  async checkpoint(): Promise<Checkpoint | undefined> {
    await this.refreshState();
    return this.sheet.view.state.checkpoint ?? undefined;
  }

  async windows(): Promise<readonly WindowRecord[]> {
    return windowsOf(await this.#readStateTab(), this.sheet.form.id);
  }

  async losses(): Promise<readonly Loss[]> {
    const { state, layout } = this.sheet.view;
    const index = layout && needsLook(state) ? await this.freshKeys() : undefined;
    const removed = layout?.columns.has('s:removed') ? index?.removedCount : undefined;
    const { losses } = lossesOf(state, index?.size ?? 0, removed, this.sheet.structure.timeZone);
    return [...losses, ...(await unblockedOf(this.sheet))];
  }

  async marking(): Promise<MarkingRecord | null> {
    await this.refreshState();
    return this.sheet.view.state.marking;
  }

  async passes(limit: number): Promise<PassRecord[]> {
    await this.refreshState();
    return this.sheet.view.state.passes.slice(0, limit);
  }

  async notices(): Promise<readonly TargetNotice[]> {
    const { layout } = this.sheet.view;
    return this.noticesOf(layout?.columns.has('s:id') ? await this.freshKeys() : undefined);
  }

  /** What there is to say of the tab as it was last read; without an `index` the rows are as the last pass saw them. */
  protected noticesOf(index: RowIndex | undefined): TargetNotice[] {
    const { layout, catalogue, state } = this.sheet.view;
    if (layout === undefined) return [];
    const dropped = droppedLabels(noteDropped(catalogue, layout));
    const { counts } = state;
    const seen = index && {
      counts: { ...counts, copies: index.copies.length, withoutId: index.withoutId.length },
      oddRows: oddRowsOf(index),
    };
    const { email } = this.sheet.spreadsheet.api;
    const noticed = { formId: this.sheet.form.id, layout, dropped, email };
    return noticesOf({ ...noticed, state: { ...state, ...seen } });
  }

  async fields(): Promise<StoredField[]> {
    const headers = await this.headers();
    const columns = this.sheet.view.layout?.columns;
    return this.sheet.view.catalogue.fields
      .flatMap((field) => {
        const index = columns?.get(fieldKey(field.id))?.index;
        return index === undefined ? [] : [{ field, index }];
      })
      .sort((a, b) => a.index - b.index)
      .map(({ field, index }) => storedField(field, headers?.[index]));
  }

  async rows(ids: readonly string[]): Promise<Map<string, StoredRow>> {
    const wanted = new Set(ids.filter(isStorableId));
    if (wanted.size === 0 || this.sheet.view.layout === undefined) return new Map();
    const layout = this.sheet.usableLayout();
    return isSmall(layout) ? this.#rowsOfSmall(layout, wanted) : this.#rowsOfLarge(wanted);
  }

  async asStored(rows: readonly Row[], fieldIds: readonly string[]): Promise<RowsAsStored> {
    const { catalogue, time } = this.sheet.view;
    return rowsInSheet(rows, fieldIds, { catalogue, time });
  }

  async confirm(ids: readonly string[]): Promise<Set<string>> {
    const wanted = ids.filter(isStorableId);
    if (wanted.length === 0 || this.sheet.view.layout === undefined) return new Set();
    const { index, stateTab } = await this.#keysAndStateTab(wanted);
    const rejected = new Set(
      stateTab.rejections(this.sheet.form.id).map((item) => item.submissionId),
    );
    return new Set(wanted.filter((id) => index.get(id)?.removed === false && !rejected.has(id)));
  }

  async *liveIds(): AsyncIterable<string[]> {
    if (this.sheet.view.layout === undefined) return;
    const index = await this.keys();
    yield* chunks(index, (row) => !row.removed);
  }

  async *deletedIds(): AsyncIterable<string[]> {
    if (this.sheet.view.layout === undefined) return;
    const index = await this.keys();
    yield* chunks(index, (row) => row.removed);
  }

  async *liveIdsWithin(span: TimeSpan, status?: string): AsyncIterable<string[]> {
    const wanted = status === undefined ? undefined : fitText(status).text;
    const rows = await this.#datedRows(span);
    yield* chunks(rows, (row) => wanted === undefined || row.status === wanted);
  }

  async statusCounts(): Promise<StatusCounts> {
    return this.sheet.view.layout === undefined ? NO_COUNTS : countStatuses(await this.freshKeys());
  }

  async timeCounts(span: TimeSpan, grain: TimeGrain): Promise<readonly TimeCount[]> {
    return countDates(await this.#datedRows(span), grain);
  }

  async *markCandidates(
    statuses: readonly string[],
    recent: RecentRefusals,
  ): AsyncIterable<string[]> {
    if (this.sheet.view.layout === undefined) return;
    const { index, stateTab } = await this.#keysAndStateTab();
    const formId = this.sheet.form.id;
    const rejected = new Set(stateTab.rejections(formId).map((item) => item.submissionId));
    const refused = new Set(recentRefusals(stateTab, formId, recent).map(refusedRow));
    const wanted = new Set(statuses.map((status) => fitText(status).text));
    yield* chunks(
      index,
      (row) =>
        !row.removed &&
        wanted.has(row.status) &&
        !rejected.has(row.id) &&
        !refused.has(refusedRow({ submissionId: row.id, status: row.status })),
    );
  }

  async countRefused(recent: RecentRefusals): Promise<number> {
    const refusals = recentRefusals(await this.#readStateTab(), this.sheet.form.id, recent);
    return new Set(refusals.map((refusal) => refusal.submissionId)).size;
  }

  async triedBefore(ids: readonly string[], wanted: string): Promise<Set<string>> {
    const asked = new Set(ids);
    const marks = (await this.#readStateTab()).marks(this.sheet.form.id);
    return new Set(
      marks.flatMap((mark) =>
        mark.wanted === wanted && asked.has(mark.submissionId) ? [mark.submissionId] : [],
      ),
    );
  }

  async rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }> {
    const all = (await this.#readStateTab()).rejections(this.sheet.form.id);
    return { total: all.length, items: all.slice(0, limit) };
  }

  async refusals(submissionId: string): Promise<Refusal[]> {
    const id = fitText(submissionId).text;
    const all = (await this.#readStateTab()).refusals(this.sheet.form.id);
    return all.filter((refusal) => refusal.submissionId === id);
  }

  async forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return forgottenIn(await this.#readStateTab(), this.sheet.form.id, ids);
  }

  async traces(ids: readonly string[]): Promise<Traces> {
    const rows =
      this.sheet.view.layout === undefined ? 0 : rowsOf(await this.keys(), new Set(ids)).length;
    return { rows, ...listedOf(await this.#readStateTab(), this.sheet.form.id, ids) };
  }

  async countDeleted(before: string): Promise<number> {
    return (await removedBefore(this.sheet, before)).length;
  }

  async countFilled(fieldIds: readonly string[]): Promise<number> {
    return (await filledRows(this.sheet, fieldIds)).length;
  }

  /** The header row as it is; undefined where the last one written is good enough. */
  protected async headers(): Promise<readonly ReadValue[] | undefined> {
    if (this.sheet.view.layout === undefined) return undefined;
    return (await readColumns(this.sheet.spreadsheet.api, this.sheet.view.layout, { keys: [] }))
      .header?.cells;
  }

  /** Which row shows which submission. */
  protected keys(): Promise<RowIndex> {
    return this.sheet.readRows();
  }

  /** The same, as they were read just now for another question of the same look. */
  protected freshKeys(): Promise<RowIndex> {
    return this.sheet.rows(KEYS_FRESH_MS);
  }

  /** Reads checkpoint and passes again when they may have changed. */
  protected async refreshState(): Promise<void> {
    const now = this.sheet.spreadsheet.clock.now();
    if (now - this.#stateAtMs <= STATE_FRESH_MS) return;
    this.#stateAtMs = now;
    await this.sheet.reload();
  }

  async #datedRows(span: TimeSpan): Promise<DatedRow[]> {
    const { sheet } = this;
    if (sheet.view.layout === undefined) return [];
    const { time } = sheet.view;
    return readDatedRows(sheet.spreadsheet.api, { layout: sheet.usableLayout(), time }, span);
  }

  async #rowsOfSmall(layout: Layout, wanted: ReadonlySet<string>): Promise<Map<string, StoredRow>> {
    const keys = [...layout.columns.keys()];
    const read = await readColumns(this.sheet.spreadsheet.api, layout, { keys });
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
    const wasFresh = this.sheet.knownRows(KEYS_FRESH_MS) === undefined;
    let index = await this.sheet.rows(KEYS_FRESH_MS);
    for (const last of [wasFresh, true]) {
      const layout = this.sheet.usableLayout();
      const missing = [...wanted].filter((id) => !found.has(id));
      const places = missing.flatMap((id) => index.get(id)?.row ?? []).sort((a, b) => a - b);
      const rows = await readRows(this.sheet.spreadsheet.api, layout, spansOf(places, 8));
      for (const id of missing) {
        const cells = rows.get(index.get(id)?.row ?? -1) ?? [];
        const valueOf = (key: ColumnKey): ReadValue => cells[layout.columns.get(key)?.index ?? -1];
        if (idOf(valueOf('s:id')) === id) found.set(id, this.#stored(id, valueOf));
      }
      if (last || found.size === wanted.size) break;
      // A row that is not where it was, or not known, may have moved or come since.
      index = await this.sheet.readRows();
    }
    return found;
  }

  #stored(id: string, read: (key: ColumnKey) => ReadValue): StoredRow {
    const { catalogue, time, layout } = this.sheet.view;
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

  /** Key columns and state tab, in one read. Keys that were read just now do when they hold all of `ids`. */
  async #keysAndStateTab(
    ids?: readonly string[],
  ): Promise<{ index: RowIndex; stateTab: StateTab }> {
    const { sheet } = this;
    const fresh = sheet.knownRows(KEYS_FRESH_MS);
    if (fresh !== undefined && ids?.every((id) => fresh.get(id)?.removed === false)) {
      return { index: fresh, stateTab: await this.#readStateTab() };
    }
    const layout = sheet.usableLayout();
    const keys = keyColumnsOf(layout);
    const read = await readColumns(sheet.spreadsheet.api, layout, {
      keys,
      stateSheetId: sheet.structure.roles.get('state')?.sheetId,
    });
    const index = RowIndex.fromColumns(read);
    if (sheet.view.index !== undefined) index.adoptFingerprints(sheet.view.index);
    sheet.saw({ layout: movedTo(layout, keys, read), index, headerIsGone: undefined });
    return { index, stateTab: new StateTab(read.stateTab) };
  }

  async #readStateTab(): Promise<StateTab> {
    const tab = this.sheet.structure.roles.get('state');
    return new StateTab(
      tab === undefined ? [] : await readStateTab(this.sheet.spreadsheet.api, tab.sheetId),
    );
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
  index: Iterable<IndexedRow>,
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
