import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { PickedField } from '../../../mirror/types.ts';
import { type ColumnKey, formMark } from '../../../targets/google-sheets/api/metadata.ts';
import { ColumnMarker, formatColumns } from '../../../targets/google-sheets/columns/new-columns.ts';
import { newTab } from '../../../targets/google-sheets/columns/new-tab.ts';
import { freeTabTitle } from '../../../targets/google-sheets/columns/tab-title.ts';
import type { SheetRow } from '../../../targets/google-sheets/rows/row-values.ts';
import { SerialTime } from '../../../targets/google-sheets/rows/serial-time.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Applied, Change, Entry, Row } from '../../mirror/port.ts';
import { headersOf, type SheetField, withAnswers } from './fields.ts';
import {
  appendRows,
  type Columns,
  encoderOf,
  headerRowOf,
  type KnownRow,
  rowsById,
  writeRow,
} from './rows.ts';
import type { Aim, SheetFile, View } from './sheet-file.ts';
import type { FormTab } from './structure.ts';

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

  // Where people have the rows now: they may have sorted them since the form was opened.
  const isMoving = updated.length + deleted.length > 0;
  const places =
    isMoving && tab !== undefined
      ? rowsById(await file.table(tab, ['s:id']))
      : new Map<string, number>();
  const { sheetId, columns } = laid;
  const requests = [...laid.requests];
  const aimed: [row: number, id: string][] = [];
  for (const row of updated) {
    const place = places.get(row.id);
    if (place === undefined) inserted.push(row);
    else {
      requests.push(...writeRow(sheetId, place, row.values, columns));
      aimed.push([place, row.id]);
    }
  }
  for (const id of deleted) {
    const place = places.get(id);
    const mark = new Map([['s:removed' as const, time.toSerial(deletedAt) ?? deletedAt]]);
    // People removed the row since the form was opened.
    if (place === undefined) rows.delete(id);
    else {
      requests.push(...writeRow(sheetId, place, mark, columns));
      aimed.push([place, id]);
    }
  }
  requests.push(...appendRows(sheetId, inserted, columns));
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
      updated: updated.length,
      unchanged,
      deleted: deleted.length,
      rejected: known.length - stored.length,
    },
  };
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
    return { sheetId, requests: made.requests, columns, marks: new Map(), fields: named };
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
    // A header that people wrote stays.
    const old = before.get(key);
    if (typeof old === 'string' && shown.get(key)?.[rowIndex] !== old) continue;
    const values = [{ userEnteredValue: { stringValue: headers.get(key) ?? '' } }];
    const start = { sheetId: tab.sheetId, rowIndex, columnIndex };
    requests.push({ updateCells: { start, rows: [{ values }], fields: 'userEnteredValue' } });
  }
  return { sheetId: tab.sheetId, ...added, fields: named };
}

/** Own columns as a new tab has them: what people read first, what only the mirror needs last. */
function orderOf(headers: ReadonlyMap<ColumnKey, string>): ColumnKey[] {
  const answers = [...headers.keys()].filter((key) => key.startsWith('f:'));
  return ['s:at', 's:status', ...answers, 's:removed', 's:id'];
}

/** New columns go before those that only the mirror needs, or behind all. */
function addColumns(
  file: SheetFile,
  { sheetId, columns: old, columnCount, marks: known }: FormTab,
  keys: readonly ColumnKey[],
  headers: ReadonlyMap<ColumnKey, string>,
  formName: string,
): { requests: Request[]; columns: Columns; marks: ReadonlyMap<ColumnKey, number> } {
  if (keys.length === 0) return { requests: [], columns: old, marks: known };
  const at = old.get('s:removed') ?? old.get('s:id') ?? columnCount;
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
