import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { PrepareResult } from '../../mirror/target.ts';
import type { PickedField } from '../../mirror/types.ts';
import type { RowChange } from './row-groups.ts';
import { columnOrder, type ColumnPlan, pickedDigest, planColumns } from './column-plan.ts';
import { columnsDigest, type FieldCatalogue, wantedColumns } from './field-catalogue.ts';
import { catalogueDigest, type FormSheet, layoutDigest } from './form-sheet.ts';
import type { FormState } from './form-state.ts';
import {
  insertColumns,
  ColumnMarker,
  dress,
  type MadeColumns,
  withColumns,
} from './new-columns.ts';
import { newTab } from './new-tab.ts';
import { tellOwnTabs, writeLedger } from './own-tabs.ts';
import { RowIndex } from './row-index.ts';
import { storeRows } from './row-store.ts';
import { type ColumnKey, createMetadata, METADATA_KEYS } from './sheet-metadata.ts';
import { idOf } from './row-index.ts';
import { type ColumnsRead, readColumns } from './tab-reading.ts';
import { freeTabTitle } from './tab-title.ts';

type Request = sheets_v4.Schema$Request;

/** How long others keep off after columns were made: rows will follow. */
const LEASE_MS = 60_000;

/** What {@link prepareColumns} is told. */
export interface ColumnWishes {
  readonly picked: readonly PickedField[];
  readonly restoreColumns: boolean;
  /** Columns of the submission's own that have to be there. */
  readonly needed?: readonly ColumnKey[];
  /** ISO time. */
  readonly now: string;
  readonly alarmMinutes: number;
  /** Told what is about to be done, before it is. */
  readonly onPlan?: (result: PrepareResult) => void;
}

const NOTHING: PrepareResult = { added: [], relabelled: [], removed: [] };

/**
 * Brings a form's columns in line with its fields, making tab and columns as needed. Told the same as last time, and
 * nobody having deleted a column, it reads and writes nothing.
 */
export async function prepareColumns(
  sheet: FormSheet,
  wishes: ColumnWishes,
): Promise<PrepareResult> {
  sheet.prepared = new Set(wishes.picked.map((field) => field.id));
  const { state, layout } = sheet;
  const prepared = pickedDigest(sheet.form, wishes.picked);
  const settled =
    layout !== undefined && state.prepared === prepared && state.columns === layoutDigest(layout);
  if (settled && !wishes.restoreColumns && wishes.needed === undefined) return NOTHING;
  if (layout !== undefined) sheet.usableLayout();
  await sheet.book.ledger();
  const plan = planColumns({ ...wishes, catalogue: sheet.catalogue, layout, at: wishes.now });
  wishes.onPlan?.(plan.result);
  const next: FormState = {
    ...state,
    slug: sheet.form.slug,
    name: sheet.form.name,
    prepared,
    columns: columnsDigest(wantedColumns(plan.catalogue)),
    catalogue: catalogueDigest(plan.catalogue),
  };
  if (layout === undefined) await makeTab(sheet, plan, next, wishes);
  else await changeColumns(sheet, plan, next, wishes);
  sheet.keptCatalogue(plan.catalogue);
  sheet.keptState(next);
  return plan.result;
}

async function makeTab(
  sheet: FormSheet,
  plan: ColumnPlan,
  next: FormState,
  wishes: ColumnWishes,
): Promise<void> {
  const { book, form, structure } = sheet;
  const own = tellOwnTabs(sheet, tidings(next, plan.catalogue, wishes), wishes.alarmMinutes);
  // The tabs of our own take their titles first.
  const taken = [...structure.tabs.map((tab) => tab.title), ...titlesOf(own.requests)];
  const sheetId = book.newSheetId();
  const columns = columnOrder(plan.catalogue);
  const keys = columns.map(({ key }) => key);
  const marker = new ColumnMarker(sheetId, [], keys, form.name, () => book.newMetadataId());
  const made = newTab(
    {
      sheetId,
      title: freeTabTitle(form.name, taken),
      formId: form.id,
      spreadsheetId: book.api.spreadsheetId,
      state: next,
      columns,
    },
    marker,
  );
  sheet.adopt(made.tab, made.layout);
  const kept = [...sheet.catalogueRequests(plan.catalogue), ...sheet.stateRequests(next)];
  await book.commit({
    formId: form.id,
    requests: [...made.requests, ...kept, ...own.requests],
    responseRanges: [],
    leaseMs: LEASE_MS,
  });
  own.kept();
  sheet.index = new RowIndex(0);
  await writeLedgerAlone(sheet);
}

/** What a very wide form's catalogue needs of the ledger is written once the ledger's tab is there. */
async function writeLedgerAlone(sheet: FormSheet): Promise<void> {
  if (sheet.book.knownLedger?.changed !== true) return;
  const ledger = writeLedger(sheet);
  await storeRows(sheet, {
    changes: [],
    newRows: [],
    first: ledger.requests,
    each: () => [],
    leaseMs: LEASE_MS,
  });
  ledger.kept();
}

const titlesOf = (requests: readonly Request[]): string[] =>
  requests.flatMap(({ addSheet }) => addSheet?.properties?.title ?? []);

const tidings = (state: FormState, catalogue: FieldCatalogue, { now }: ColumnWishes) => ({
  state,
  catalogue,
  now,
});

async function changeColumns(
  sheet: FormSheet,
  plan: ColumnPlan,
  next: FormState,
  wishes: ColumnWishes,
): Promise<void> {
  const { book, form, tab } = sheet;
  const touchesGrid = plan.newColumns.length > 0 || plan.newHeaders.length > 0;
  const read = touchesGrid ? await readHeader(sheet) : undefined;
  const layout = sheet.usableLayout();
  const keys = plan.newColumns.map(({ key }) => key);
  const marker = new ColumnMarker(layout.sheetId, tab?.columns ?? [], keys, form.name, () =>
    book.newMetadataId(),
  );
  const headerRow = read?.header?.row ?? 0;
  const made: MadeColumns = insertColumns(layout, plan.newColumns, headerRow, marker);
  const own = tellOwnTabs(sheet, tidings(next, plan.catalogue, wishes), wishes.alarmMinutes);
  const first = [
    ...(keys.length > 0 ? marker.recode() : []),
    ...made.requests,
    ...sheet.catalogueRequests(plan.catalogue, marker.characters),
    ...own.requests,
  ];
  const ledger = writeLedger(sheet);
  // Headers are written where the new columns push them.
  sheet.keepLayout({ ...layout, columns: made.columns, columnCount: made.columnCount });
  await storeRows(sheet, {
    changes: headerChanges(plan, made, read),
    newRows: [],
    first: [...ledger.requests, ...first],
    each: () => sheet.stateRequests(next),
    leaseMs: LEASE_MS,
  });
  if (tab !== undefined && keys.length > 0) {
    sheet.adopt(
      {
        ...withColumns(tab, made, marker),
        stateId: sheet.tab?.stateId,
        fieldsId: sheet.tab?.fieldsId,
      },
      sheet.usableLayout(),
    );
  }
  own.kept();
  ledger.kept();
  if (keys.length > 0) sheet.index = undefined;
}

/** The header row as it is now; one that somebody deleted is made anew first. */
async function readHeader(sheet: FormSheet): Promise<ColumnsRead> {
  const layout = sheet.usableLayout();
  const read = await readColumns(sheet.book.api, layout, { keys: ['s:id'] });
  if (read.header !== undefined) return read;
  await restoreHeader(sheet);
  return readColumns(sheet.book.api, sheet.usableLayout(), { keys: ['s:id'] });
}

/** Makes a new header row on top, after somebody deleted the old one. */
export async function restoreHeader(sheet: FormSheet): Promise<void> {
  const { sheetId, columns } = sheet.usableLayout();
  const headers = new Map(columnOrder(sheet.catalogue).map(({ key, header }) => [key, header]));
  const requests: Request[] = [
    {
      insertDimension: {
        range: { sheetId, dimension: 'ROWS', startIndex: 0, endIndex: 1 },
        inheritFromBefore: false,
      },
    },
    ...[...columns].flatMap(([key, { index }]) =>
      dress(sheetId, index, [{ key, header: headers.get(key) ?? key }], 0).slice(1, 3),
    ),
    {
      updateSheetProperties: {
        properties: { sheetId, gridProperties: { frozenRowCount: 1 } },
        fields: 'gridProperties.frozenRowCount',
      },
    },
    createMetadata({ sheetId, row: 0 }, METADATA_KEYS.header, '1'),
  ];
  await sheet.book.commit({
    formId: sheet.form.id,
    requests,
    responseRanges: [],
    leaseMs: LEASE_MS,
  });
  sheet.index = undefined;
  sheet.headerIsGone = false;
}

/** Relabelled headers, as far as nobody put one of their own there. */
function headerChanges(
  plan: ColumnPlan,
  made: MadeColumns,
  read: ColumnsRead | undefined,
): RowChange[] {
  const header = read?.header;
  if (header === undefined || plan.newHeaders.length === 0) return [];
  const before = new Map([...made.columns].map(([key, { index }]) => [key, index]));
  const shown = headerTexts(plan, made, read);
  const oldAt = new Map(plan.newHeaders.map(({ key, was: text }) => [before.get(key) ?? -1, text]));
  const values = new Map(
    plan.newHeaders.flatMap(({ key, was, header: text }) => {
      const index = before.get(key);
      return index === undefined || shown.get(key) !== was ? [] : [[index, text] as const];
    }),
  );
  if (values.size === 0) return [];
  const idHeader = idOf(read?.columns.get('s:id')?.values[header.row]);
  const was = new Map([...values.keys()].map((index) => [index, oldAt.get(index) ?? '']));
  return [{ row: header.row, id: idHeader, values, was, strict: true }];
}

/** What the headers said before the new columns: their cells were read in the old order of columns. */
function headerTexts(
  plan: ColumnPlan,
  made: MadeColumns,
  read: ColumnsRead | undefined,
): Map<ColumnKey, string> {
  const added = plan.newColumns.flatMap(({ key }) => made.columns.get(key)?.index ?? []);
  return new Map(
    [...made.columns].map(([key, { index }]) => {
      const old = index - added.filter((place) => place < index).length;
      return [key, idOf(read?.header?.cells[old])];
    }),
  );
}
