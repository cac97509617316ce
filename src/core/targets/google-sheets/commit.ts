import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { PickedField } from '../../../mirror/types.ts';
import { type ColumnKey, formMark } from '../../../targets/google-sheets/api/metadata.ts';
import { ColumnMarker, formatColumns } from '../../../targets/google-sheets/columns/new-columns.ts';
import { newTab } from '../../../targets/google-sheets/columns/new-tab.ts';
import { freeTabTitle } from '../../../targets/google-sheets/columns/tab-title.ts';
import {
  keepsFromHeader,
  keepsFromInsertingColumn,
} from '../../../targets/google-sheets/api/obstacles.ts';
import { endsAtRow, insertInside } from '../../../targets/google-sheets/columns/laid-ranges.ts';
import type { SheetRow } from '../../../targets/google-sheets/rows/row-values.ts';
import { SerialTime } from '../../../targets/google-sheets/rows/serial-time.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Applied, Change, Entry, Row } from '../../mirror/port.ts';
import { headersOf, type SheetField, withAnswers } from './fields.ts';
import {
  appendRows,
  type Columns,
  cellsIn,
  placeRow,
  encoderOf,
  headerRowOf,
  type KnownRow,
  rowsById,
  writeRow,
} from './rows.ts';
import type { Aim, SheetFile, View } from './sheet-file.ts';
import type { FormTab } from './structure.ts';
import { blockedReason, type Writable, writableCells } from './writable.ts';

type Request = sheets_v4.Schema$Request;

/** What a change is applied to. */
export interface Committing {
  readonly state: FormState;
  readonly fields: readonly SheetField[];
  readonly prepared: readonly PickedField[];
  readonly rows: ReadonlyMap<string, KnownRow>;
  readonly atMs: number;
  readonly isForgotten: (id: string) => boolean;
}

/** What a commit writes to the form's tab, and what is known then. */
export interface PlannedCommit {
  readonly requests: readonly Request[];
  readonly rows: ReadonlyMap<string, KnownRow>;
  readonly fields: readonly SheetField[];
  readonly rejected: readonly Entry[];
  /** IDs of the rows that are stored then. */
  readonly stored: readonly string[];
  readonly applied: Applied;
  readonly aim: Aim | null;
}

/** Plans the write of a change over the spreadsheet as it was just read. */
export async function planCommit(
  file: SheetFile,
  { structure }: View,
  change: Change,
  from: Committing,
): Promise<PlannedCommit> {
  const { state, prepared, atMs } = from;
  const selected = new Set(prepared.map(({ id }) => id));
  const known = (change.rows ?? []).filter(({ id }) => !from.isForgotten(id));
  const fields = withAnswers(from.fields, known, selected);
  const tab = structure.forms.get(state.formId);
  const time = new SerialTime(structure.timeZone);
  const laid = await layOut(file, structure.titles, tab, state, fields);

  const encoder = encoderOf(laid.columns.keys(), prepared, time);
  const rows = new Map(from.rows);
  const inserted: SheetRow[] = [];
  const updated: SheetRow[] = [];
  const rejected = new Map<string, Entry>();
  const stored: string[] = [];
  let unchanged = 0;
  for (const row of known) {
    const { row: encoded, rejections } = encoder.encode(row);
    for (const { reason } of rejections) rejected.set(row.id, rejectedEntry(row, reason, atMs));
    if (encoded === undefined) continue;
    stored.push(row.id);
    const before = from.rows.get(row.id);
    rows.set(row.id, {
      id: row.id,
      status: String(encoded.values.get('s:status') ?? ''),
      createdAt: row.createdAt,
      isDeleted: false,
      deletedAt: null,
      print: encoded.fingerprint,
    });
    if (before === undefined) inserted.push(encoded);
    else if (before.isDeleted || before.print !== encoded.fingerprint) updated.push(encoded);
    else unchanged++;
  }
  const deleted = (change.deleted ?? []).filter((id) => rows.get(id)?.isDeleted === false);
  const deletedAt = new Date(atMs).toISOString();
  for (const id of deleted) {
    const before = rows.get(id);
    if (before !== undefined) rows.set(id, { ...before, isDeleted: true, deletedAt, print: null });
  }

  const { sheetId, columns } = laid;
  const obstacles = tab?.obstacles ?? [];
  // Where people have the rows now: they may have sorted them since the form was opened.
  const isMoving = updated.length + deleted.length > 0;
  const isPlaced =
    inserted.length > 0 &&
    (obstacles.length > 0 ||
      (tab?.ranges ?? []).some(({ rows: { end } }) => end < (tab?.rowCount ?? 0)));
  const table =
    tab !== undefined && (isMoving || isPlaced)
      ? await file.table(tab, obstacles.length > 0 ? undefined : ['s:id'])
      : new Map();
  const places = rowsById(table);
  const requests = [...laid.requests];
  const aimed: [row: number, id: string][] = [];
  const list = (id: string, kind: Entry['kind'], { blocked, by }: Writable): void => {
    const of = rows.get(id);
    const names = blocked.map((key) => laid.headers.get(key) ?? key);
    const { status = '', createdAt = null } = known.find((row) => row.id === id) ?? of ?? {};
    const reason = blockedReason(names, by);
    rejected.set(id, { kind, id, status, createdAt, reason, atMs });
  };
  let partly = 0;
  let unwritten = 0;
  for (const row of updated) {
    const place = places.get(row.id);
    if (place === undefined) {
      inserted.push(row);
      continue;
    }
    // A row with cells that are not written differs in every run: only what can be changed of it is written.
    const changed =
      obstacles.length > 0 ? encoder.differences(row, cellsIn(table, place)) : row.values;
    const cells = writableCells(changed, place, columns, obstacles);
    const written = writeRow(sheetId, place, cells.values, columns);
    requests.push(...written);
    if (written.length > 0) aimed.push([place, row.id]);
    else unwritten++;
    if (cells.blocked.length === 0) continue;
    partly++;
    list(row.id, 'rejected', cells);
    rows.set(row.id, asWritten(rows.get(row.id), from.rows.get(row.id), cells));
  }
  for (const id of deleted) {
    const place = places.get(id);
    // People removed the row since the form was opened.
    if (place === undefined) {
      rows.delete(id);
      continue;
    }
    const mark = new Map([['s:removed' as const, time.toSerial(deletedAt) ?? deletedAt]]);
    const cells = writableCells(mark, place, columns, obstacles);
    if (cells.blocked.length > 0) {
      list(id, 'undecided', cells);
      rows.set(id, from.rows.get(id) ?? (rows.get(id) as KnownRow));
      continue;
    }
    requests.push(...writeRow(sheetId, place, mark, columns));
    aimed.push([place, id]);
  }
  if (isPlaced && tab !== undefined) {
    const end = Math.max(...[...table.values()].map((cells) => cells.length), 1);
    const isInside = endsAtRow(tab.ranges, end);
    if (isInside) requests.push(...insertInside(sheetId, 'ROWS', end, inserted.length));
    const missing = end + inserted.length - tab.rowCount;
    if (!isInside && missing > 0)
      requests.push({ appendDimension: { sheetId, dimension: 'ROWS', length: missing } });
    for (const [n, row] of inserted.entries()) {
      const cells = writableCells(row.values, end + n, columns, obstacles);
      requests.push(...placeRow(sheetId, end + n, cells.values, columns));
      aimed.push([end + n, row.id]);
      if (cells.blocked.length === 0) continue;
      partly++;
      list(row.id, 'rejected', cells);
      rows.set(row.id, asWritten(rows.get(row.id), from.rows.get(row.id), cells));
    }
  } else requests.push(...appendRows(sheetId, inserted, columns));
  if (inserted.length > 0) requests.push(...widerFilter(sheetId, tab));
  return {
    requests,
    rows,
    fields: laid.fields,
    rejected: [...rejected.values()],
    stored,
    aim:
      tab === undefined || requests.length === 0
        ? null
        : {
            sheetId,
            title: tab.title,
            idColumn: columns.get('s:id') ?? 0,
            rows: aimed,
            appended: inserted.map(({ id }) => id),
            columns: new Map(
              [...laid.marks].map(([key, id]) => [id, columns.get(key) ?? -1] as const),
            ),
          },
    applied: {
      inserted: stored.length - updated.length - unchanged,
      updated: updated.length - unwritten,
      unchanged: unchanged + unwritten,
      deleted: deleted.length,
      rejected: known.length - stored.length + partly,
    },
  };
}

/** A row as it is once some of its cells were left out: it is compared anew, and shows what those cells show. */
function asWritten(
  wanted: KnownRow | undefined,
  before: KnownRow | undefined,
  { blocked }: Writable,
): KnownRow {
  const row = wanted as KnownRow;
  return {
    ...row,
    print: null,
    status: blocked.includes('s:status') ? (before?.status ?? '') : row.status,
    createdAt: blocked.includes('s:at') ? (before?.createdAt ?? null) : row.createdAt,
    ...(blocked.includes('s:removed') && {
      isDeleted: before?.isDeleted ?? false,
      deletedAt: before?.deletedAt ?? null,
    }),
  };
}

/** A filter over all rows takes in those that the grid gets. */
function widerFilter(sheetId: number, tab: FormTab | undefined): Request[] {
  // That of a new tab was made before the rows.
  if (tab === undefined)
    return [{ setBasicFilter: { filter: { range: { sheetId, startRowIndex: 0 } } } }];
  const { filter, rowCount } = tab;
  if (filter === null || (filter.range?.endRowIndex ?? rowCount) < rowCount) return [];
  const { endRowIndex: _end, ...range } = filter.range ?? {};
  return [{ setBasicFilter: { filter: { ...filter, range } } }];
}

const rejectedEntry = ({ id, status, createdAt }: Row, reason: string, atMs: number): Entry => ({
  kind: 'rejected',
  id,
  status,
  createdAt,
  reason,
  atMs,
});

interface LaidOut {
  readonly sheetId: number;
  /** Of each column. */
  readonly headers: ReadonlyMap<ColumnKey, string>;
  readonly requests: readonly Request[];
  /** Where the columns are after the requests, and the IDs of the metadata that says so. */
  readonly columns: Columns;
  readonly marks: ReadonlyMap<ColumnKey, number>;
  /** With the headers that are written. */
  readonly fields: readonly SheetField[];
}

/** The form's tab with a column for each field that has one: what is missing is made, and headers follow labels. */
async function layOut(
  file: SheetFile,
  titles: readonly string[],
  tab: FormTab | undefined,
  { formId, name }: FormState,
  fields: readonly SheetField[],
): Promise<LaidOut> {
  const headers = headersOf(fields);
  const named = fields.map((field) => {
    const header = field.column === null ? null : headers.get(field.column as ColumnKey);
    return { ...field, header: header ?? null };
  });
  if (tab === undefined) {
    const keys = orderOf(headers);
    const sheetId = file.newId();
    const marker = new ColumnMarker(sheetId, [], keys, name, () => file.newId());
    const made = newTab(
      {
        sheetId,
        title: freeTabTitle(name, titles),
        formMark: formMark(formId, file.api.spreadsheetId, sheetId),
        place: 0,
        columns: keys.map((key) => ({ key, header: headers.get(key) ?? '' })),
      },
      marker,
    );
    const columns = new Map([...made.layout.columns].map(([key, { index }]) => [key, index]));
    return { sheetId, headers, requests: made.requests, columns, marks: new Map(), fields: named };
  }
  const missing = [...headers.keys()].filter((key) => !tab.columns.has(key));
  const added = addColumns(file, tab, missing, headers, name);
  const before = new Map(fields.map((field) => [field.column, field.header]));
  const renamed = [...added.columns].filter(
    ([key]) => tab.columns.has(key) && before.has(key) && before.get(key) !== headers.get(key),
  );
  const shown = renamed.length === 0 ? new Map() : await file.table(tab);
  const rowIndex = headerRowOf(shown);
  const requests = added.requests;
  for (const [key, columnIndex] of renamed) {
    // A header that people wrote stays, and so does one that they protected.
    const old = before.get(key);
    const isTheirs = typeof old === 'string' && shown.get(key)?.[rowIndex] !== old;
    const isKept = tab.obstacles.some((one) => keepsFromHeader(one, rowIndex, columnIndex));
    if (rowIndex < 0 || isTheirs || isKept) continue;
    const values = [{ userEnteredValue: { stringValue: headers.get(key) ?? '' } }];
    const start = { sheetId: tab.sheetId, rowIndex, columnIndex };
    requests.push({ updateCells: { start, rows: [{ values }], fields: 'userEnteredValue' } });
  }
  return { sheetId: tab.sheetId, headers, ...added, fields: named };
}

/** Own columns as a new tab has them: what people read first, what only the mirror needs last. */
function orderOf(headers: ReadonlyMap<ColumnKey, string>): ColumnKey[] {
  const answers = [...headers.keys()].filter((key) => key.startsWith('f:'));
  return ['s:at', 's:status', ...answers, 's:removed', 's:id'];
}

/** New columns go before those that only the mirror needs, or behind all. */
function addColumns(
  file: SheetFile,
  { sheetId, columns: old, columnCount, marks: known, obstacles }: FormTab,
  keys: readonly ColumnKey[],
  headers: ReadonlyMap<ColumnKey, string>,
  formName: string,
): { requests: Request[]; columns: Columns; marks: ReadonlyMap<ColumnKey, number> } {
  if (keys.length === 0) return { requests: [], columns: old, marks: known };
  const place = old.get('s:removed') ?? old.get('s:id') ?? columnCount;
  // Google refuses to insert columns into a protected range.
  const at = obstacles.some((one) => keepsFromInsertingColumn(one, place)) ? columnCount : place;
  const columns = new Map(
    [...old].map(([key, index]) => [key, index >= at ? index + keys.length : index] as const),
  );
  const there = [...old].map(([mark, index]) => ({ mark, index, metadataId: 0, compact: false }));
  const marker = new ColumnMarker(sheetId, there, keys, formName, () => file.newId());
  const placed = keys.map((key, n) => marker.place(key, at + n));
  const marks = new Map(known);
  const range = { sheetId, dimension: 'COLUMNS', startIndex: at, endIndex: at + keys.length };
  const made = keys.map((key) => ({ key, header: headers.get(key) ?? '' }));
  const requests: Request[] = [
    at >= columnCount
      ? { appendDimension: { sheetId, dimension: 'COLUMNS', length: keys.length } }
      : { insertDimension: { range, inheritFromBefore: false } },
    ...formatColumns(sheetId, at, made, 0),
    ...placed.map((mark) => marker.request(mark)),
  ];
  for (const [n, key] of keys.entries()) {
    columns.set(key, at + n);
    marks.set(key, placed[n]?.metadataId ?? 0);
  }
  return { requests, columns, marks };
}
