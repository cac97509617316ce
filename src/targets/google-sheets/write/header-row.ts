import { isDeepStrictEqual } from 'node:util';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { type ColumnKey, createMetadata, fieldKey, METADATA_KEYS } from '../api/metadata.ts';
import { keepsFromHeader, type Obstacle, readProtections } from '../api/obstacles.ts';
import { columnOrder, type NewHeader } from '../columns/column-plan.ts';
import { movedError, SheetsError } from '../api/sheets-error.ts';
import { headerText } from '../columns/tab-title.ts';
import { type FieldCatalogue, OWN_COLUMNS } from '../columns/field-catalogue.ts';
import { tableHeads, withRows } from '../columns/laid-ranges.ts';
import type { Layout } from '../columns/layout.ts';
import { formatColumns, type WaitingHeader } from '../columns/new-columns.ts';
import type { RowChange } from '../rows/row-comparison.ts';
import { idOf, isGivenName, keyColumnsOf, RowIndex } from '../rows/row-index.ts';
import { type ColumnsRead, headerFilter, readColumns } from '../rows/tab-reading.ts';
import { type Blocked, withHeaders } from '../state/blocked.ts';
import { catalogueDigest, type FormSheet } from '../state/form-sheet.ts';
import type { FormState } from '../state/form-state.ts';
import { outdatedRequests } from '../state/summary-marks.ts';
import { applyWrite } from './form-write.ts';
import { isRefusal } from './growing.ts';

type Request = sheets_v4.Schema$Request;

/** How long others wait afterwards: rows will follow. */
const LEASE_MS = 60_000;

/**
 * Moves a header row that people sorted into the rows back above them, and marks it again; true when it did. It stays
 * where it is when Google refuses the move: answers find their columns all the same. That is not tried again until it, or
 * what is in the way, is another. What the sheet was read to hold is void afterwards.
 */
export async function returnHeader(
  sheet: FormSheet,
  { strayHeader }: RowIndex,
  isMarked: boolean,
): Promise<boolean> {
  if (strayHeader === undefined) return false;
  const { sheetId } = sheet.usableLayout();
  const { row, top } = strayHeader;
  const { spreadsheet } = sheet;
  const stuck = spreadsheet.stuckHeaders.get(sheet.form.id);
  if (stuck?.isProtected === true && !sheet.knowsProtections) await readProtected(sheet);
  const around = (): string =>
    JSON.stringify([row, sheet.obstacles.all.map(({ name }) => name).sort()]);
  if (stuck?.around === around()) return false;
  try {
    await spreadsheet.commit({
      formId: sheet.form.id,
      requests: [
        ...(isMarked ? [{ deleteDeveloperMetadata: { dataFilter: headerFilter(sheetId) } }] : []),
        {
          moveDimension: {
            source: { sheetId, dimension: 'ROWS', startIndex: row, endIndex: row + 1 },
            destinationIndex: top,
          },
        },
        createMetadata({ sheetId, row: top }, METADATA_KEYS.header, '1'),
        // Its formulas name the row that the header was marked in, which is one of the others now.
        ...outdatedRequests(sheet.structure.summary),
      ],
      responseRanges: [],
      leaseMs: LEASE_MS,
    });
  } catch (error) {
    const isProtected = error instanceof SheetsError && error.fault === 'protected';
    if (!isProtected && !isRefusal(error)) throw error;
    if (isProtected) await readProtected(sheet);
    spreadsheet.stuckHeaders.set(sheet.form.id, { isProtected, around: around() });
    return false;
  }
  spreadsheet.stuckHeaders.delete(sheet.form.id);
  const { record } = spreadsheet.known.summary;
  spreadsheet.keepSummary({ record: { ...record, digest: '' } });
  sheet.forgetRows();
  return true;
}

async function readProtected(sheet: FormSheet): Promise<void> {
  sheet.keepProtections(readProtections(await sheet.spreadsheet.api.protections()));
}

/**
 * The header row as it is now; one that was deleted is made again first, one that was sorted into the rows moved back, or
 * read where it stands: its mark stays with the first row.
 */
export async function readHeader(sheet: FormSheet): Promise<ColumnsRead> {
  const { api } = sheet.spreadsheet;
  const layout = sheet.usableLayout();
  const read = await readColumns(api, layout, { keys: keyColumnsOf(layout) });
  const index = RowIndex.fromColumns(read);
  const isGone = index.isHeaderGone(read);
  const isReturned = await returnHeader(sheet, index, !isGone);
  if (!isReturned && !isGone) {
    const row = index.headerRow ?? read.header?.row;
    return row === undefined || row === read.header?.row ? read : readStray(sheet, row);
  }
  // What waits then is known to the form's state, and not to the plan that this is read for.
  if (!isReturned && (await restoreHeader(sheet))) throw movedError(sheet.spreadsheet.address);
  return readColumns(api, sheet.usableLayout(), { keys: ['s:id'] });
}

async function readStray(sheet: FormSheet, row: number): Promise<ColumnsRead> {
  const query = { keys: ['s:id'] as const, rows: { start: row, end: row + 1 } };
  const read = await readColumns(sheet.spreadsheet.api, sheet.usableLayout(), query);
  return { ...read, header: { row, cells: read.rows.get(row) ?? [] } };
}

/**
 * Makes a new header row on top, after people deleted the old one, or emptied it. Headers of columns that are protected wait;
 * true when some do.
 */
export async function restoreHeader(sheet: FormSheet): Promise<boolean> {
  const layout = sheet.usableLayout();
  const { sheetId, columns } = layout;
  const { header } = await readColumns(sheet.spreadsheet.api, layout, { keys: [] });
  const order = columnOrder(sheet.view.catalogue);
  const headers = new Map(order.map(({ key, header }) => [key, header]));
  const waiting = new Map<ColumnKey, WaitingHeader>();
  for (const [key, { index }] of columns) {
    // What ends somewhere is moved down by the new row.
    const over = sheet.obstacles.all.filter(
      (one) => one.area.endRow === undefined && keepsFromHeader(one, 0, index),
    );
    if (over.length > 0) waiting.set(key, { obstacles: over, shown: '' });
  }
  // Before the row is there: a header that is not known to wait would be missing for good.
  if (waiting.size > 0) await keepWaiting(sheet, waiting);
  const requests: Request[] = [
    {
      insertDimension: {
        range: { sheetId, dimension: 'ROWS', startIndex: 0, endIndex: 1 },
        inheritFromBefore: false,
      },
    },
    ...[...columns].flatMap(([key, { index }]) =>
      waiting.has(key)
        ? []
        : formatColumns(sheetId, index, [{ key, header: headers.get(key) ?? key }], 0).slice(1, 3),
    ),
    {
      updateSheetProperties: {
        properties: { sheetId, gridProperties: { frozenRowCount: 1 } },
        fields: 'gridProperties.frozenRowCount',
      },
    },
    // The mark of a row that was emptied: the row itself stays where it is, blank.
    ...(header === undefined
      ? []
      : [{ deleteDeveloperMetadata: { dataFilter: headerFilter(sheetId) } }]),
    createMetadata({ sheetId, row: 0 }, METADATA_KEYS.header, '1'),
    // Its formulas named cells of the header that is gone.
    ...outdatedRequests(sheet.structure.summary),
  ];
  const { spreadsheet } = sheet;
  const formId = sheet.form.id;
  await spreadsheet.commit({ formId, requests, responseRanges: [], leaseMs: LEASE_MS });
  const { record } = spreadsheet.known.summary;
  spreadsheet.keepSummary({ record: { ...record, digest: '' } });
  const { tab } = sheet.view;
  const ranges = withRows(tab?.ranges ?? [], 0, 1, false);
  sheet.wrote({
    ...(tab !== undefined && { tab: { ...tab, ranges } }),
    layout: { ...layout, tableHeads: tableHeads(ranges) },
  });
  sheet.forgetRows();
  return waiting.size > 0;
}

async function keepWaiting(
  sheet: FormSheet,
  waiting: ReadonlyMap<ColumnKey, WaitingHeader>,
): Promise<void> {
  const { catalogue, state } = sheet.view;
  const after = withWaiting(catalogue, state, waiting);
  await applyWrite(sheet, {
    state: () => after.state,
    catalogue: after.catalogue,
    leaseMs: LEASE_MS,
  });
}

/** Catalogue and state where some headers cannot be written: the catalogue keeps what they show. */
export function withWaiting(
  wanted: FieldCatalogue,
  state: FormState,
  waiting: ReadonlyMap<ColumnKey, WaitingHeader>,
): { state: FormState; catalogue: FieldCatalogue } {
  const fields = wanted.fields.map((field) => {
    const header = waiting.get(fieldKey(field.id))?.shown;
    return header === undefined ? field : Object.assign({}, field, { header });
  });
  const catalogue = { ...wanted, fields };
  const met = [...waiting.values()].map(({ obstacles }) => obstacles);
  const blocked = withHeaders(state.blocked, met);
  return { catalogue, state: { ...state, blocked, catalogue: catalogueDigest(catalogue) } };
}

/** Headers to be written, and those that cannot be. */
export interface HeaderWrite {
  readonly changes: readonly RowChange[];
  readonly waiting: ReadonlyMap<ColumnKey, WaitingHeader>;
}

/**
 * Relabelled headers, except where people have put their own, and those that something is in the way of; `read`: the
 * header row as it is. Throws when columns were moved meanwhile: then all is to be planned again.
 */
export async function headerWrite(
  sheet: FormSheet,
  newHeaders: readonly NewHeader[],
  read: ColumnsRead | undefined,
): Promise<HeaderWrite> {
  const header = read?.header;
  const layout = sheet.usableLayout();
  if (header === undefined) return { changes: [], waiting: new Map() };
  const { values, was, waiting, mayHaveMoved } = writableHeaders(sheet, newHeaders, header);
  // The row was read as it lay a moment after the columns were found: one that moved since shows another one's text.
  if (mayHaveMoved && (await sheet.columnsMovedSince(layout))) {
    throw movedError(sheet.spreadsheet.address);
  }
  if (values.size === 0) return { changes: [], waiting };
  const id = idOf(read?.columns.get('s:id')?.values[header.row]);
  return { changes: [{ row: header.row, id, values, was, strict: true }], waiting };
}

/**
 * True when headers wait that showed something else a moment ago: whoever may edit them wrote a label themselves. One
 * read, where some wait.
 */
export async function isHeaderSettled(
  sheet: FormSheet,
  newHeaders: readonly NewHeader[],
): Promise<boolean> {
  const { blocked } = sheet.view.state;
  if (blocked.every(({ headers }) => headers === 0)) return false;
  const layout = sheet.usableLayout();
  const read = await readColumns(sheet.spreadsheet.api, layout, { keys: keyColumnsOf(layout) });
  const { header } = read;
  // The mark of one that was sorted is on another row.
  if (header === undefined) return false;
  if ((RowIndex.fromColumns(read).headerRow ?? header.row) !== header.row) return false;
  const all = [...newHeaders, ...missingOwnHeaders(layout)];
  const met = [...writableHeaders(sheet, all, header).waiting.values()];
  const now = withHeaders(
    blocked,
    met.map(({ obstacles }) => obstacles),
  );
  return !isDeepStrictEqual(headersOf(now), headersOf(blocked));
}

const headersOf = (blocked: readonly Blocked[]): Map<string, number> =>
  new Map(blocked.flatMap(({ name, headers }) => (headers > 0 ? [[name, headers]] : [])));

function writableHeaders(
  sheet: FormSheet,
  newHeaders: readonly NewHeader[],
  header: NonNullable<ColumnsRead['header']>,
): Pick<HeaderWrite, 'waiting'> & {
  readonly values: Map<number, string>;
  readonly was: Map<number, string>;
  readonly mayHaveMoved: boolean;
} {
  const { columns } = sheet.usableLayout();
  const table = sheet.view.tab?.ranges.find(
    ({ tableId, rows }) => tableId !== undefined && rows.start === header.row,
  );
  // What a header row that was made again shows, also where a header had waited.
  const remade = new Map(columnOrder(sheet.view.catalogue).map((one) => [one.key, one.header]));
  const labels = new Map<ColumnKey, string>(
    sheet.view.catalogue.fields.map(({ id, label }) => [fieldKey(id), headerText(label, id)]),
  );
  let mayHaveMoved = false;
  const waiting = new Map<ColumnKey, WaitingHeader>();
  const values = new Map<number, string>();
  const was = new Map<number, string>();
  for (const { key, was: old, header: text } of newHeaders) {
    const place = columns.get(key)?.index;
    if (place === undefined) continue;
    const shown = idOf(header.cells[place]);
    const obstacles = sheet.obstacles.all.filter((one) => keepsFromHeader(one, header.row, place));
    const isCovered = obstacles.some(({ kind }) => kind === 'merge');
    // A table gives a name to a column that has none.
    const isNamed =
      old === '' &&
      isGivenName(shown) &&
      shown.endsWith(` ${place + 1 - (table?.columns.start ?? Infinity)}`);
    // A process that died may have written the header of a label, and not that it did.
    const isAhead = shown !== text && shown.replace(/ \(\d+\)$/, '') === labels.get(key);
    const isOurs =
      isNamed || isAhead || (old === '' && key.startsWith('f:') && shown === remade.get(key));
    // Merged cells show nothing where they cover others; any other text is people's own.
    if (shown !== old && !isCovered && !isOurs) {
      mayHaveMoved = true;
      continue;
    }
    if (obstacles.length > 0) waiting.set(key, { obstacles, shown });
    else {
      values.set(place, text);
      was.set(place, isOurs ? shown : old);
    }
  }
  // A table makes "Name 2" of what another header shows, so a label waits until that one has its own.
  const isMet = (text: string): readonly Obstacle[] | undefined =>
    [...waiting.values()].find(({ shown }) => shown.toLowerCase() === text.toLowerCase())
      ?.obstacles;
  const next = (): NewHeader | undefined =>
    newHeaders.find(
      ({ key, header: text }) => values.has(columns.get(key)?.index ?? -1) && isMet(text),
    );
  for (let one = table && next(); one !== undefined; one = next()) {
    const place = columns.get(one.key)?.index ?? -1;
    waiting.set(one.key, { obstacles: isMet(one.header) ?? [], shown: was.get(place) ?? '' });
    values.delete(place);
  }
  return { values, was, waiting, mayHaveMoved };
}

/** The submission's own headers that an earlier write could not put there: where nothing stands, they are written. */
export const missingOwnHeaders = (layout: Layout): NewHeader[] =>
  OWN_COLUMNS.filter(({ key }) => layout.columns.has(key)).map(({ key, header }) => ({
    key,
    was: '',
    header,
  }));
