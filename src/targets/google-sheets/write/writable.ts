import { MirrorError } from '../../../base/errors.ts';
import { count, plural } from '../../../base/format.ts';
import type { Rejection } from '../../../mirror/types.ts';
import type { RowOutcome } from '../../../mirror/target.ts';
import { keepsFrom, keepsFromInserting, type Obstacle } from '../api/obstacles.ts';
import type { ColumnKey } from '../api/metadata.ts';
import { columnOrder } from '../columns/column-plan.ts';
import { type Layout, SPARE_ROWS } from '../columns/layout.ts';
import { type ComparedRows, placed, type RowChange } from '../rows/row-comparison.ts';
import type { SheetRow } from '../rows/row-values.ts';
import { IN_THE_WAY } from '../state/blocked.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { obstacleRemedy } from '../state/notices.ts';

/*
 * What of a batch can be written where people have protected or merged cells. The rest is listed, so that nothing calls it
 * current, and follows once nothing is in the way any more.
 */

/** A submission with cells that are not written, and what is in the way. */
export interface BlockedRow {
  readonly id: string;
  readonly columns: readonly number[];
  readonly obstacles: readonly Obstacle[];
}

/** Changes without the cells that something is in the way of. */
export interface WritableChanges<C extends RowChange = RowChange> {
  readonly changes: readonly C[];
  readonly blocked: readonly BlockedRow[];
}

/** Takes out of changes what cannot be written. A change of which nothing is left is left out. */
export function writableChanges<C extends RowChange>(
  changes: readonly C[],
  obstacles: readonly Obstacle[],
): WritableChanges<C> {
  if (obstacles.length === 0) return { changes, blocked: [] };
  const blocked: BlockedRow[] = [];
  const rest = changes.flatMap((change): C[] => {
    const met = blockedRow(change, obstacles);
    if (met === undefined) return [change];
    blocked.push(met);
    const left = new Map([...change.values].filter(([column]) => !met.columns.includes(column)));
    return left.size === 0 ? [] : [{ ...change, values: left }];
  });
  return { changes: rest, blocked };
}

function blockedRow(
  { id, row, values }: RowChange,
  obstacles: readonly Obstacle[],
): BlockedRow | undefined {
  const columns = [...values.keys()];
  const met = obstacles.filter((one) => columns.some((column) => keepsFrom(one, row, column)));
  if (met.length === 0) return undefined;
  const isMet = (column: number): boolean => met.some((one) => keepsFrom(one, row, column));
  return { id, columns: columns.filter(isMet), obstacles: met };
}

/** How many columns a listing names: what is in the way, which it ends with, must have room in a cell. */
const NAMED_COLUMNS = 5;

/** Submissions with cells that are not written, as they are listed; the sheet notes what is in the way. */
export function blockedListings(
  sheet: FormSheet,
  rows: readonly BlockedRow[],
  stored = true,
): Rejection[] {
  if (rows.length === 0) return [];
  const { catalogue } = sheet.view;
  const headers = new Map(columnOrder(catalogue).map(({ key, header }) => [key, header]));
  const names = new Map(
    [...sheet.usableLayout().columns].map(([key, { index }]) => [index, headers.get(key) ?? key]),
  );
  return rows.map(({ id, columns, obstacles }): Rejection => {
    const named = columns.slice(0, NAMED_COLUMNS).map((column) => `"${names.get(column) ?? ''}"`);
    const more = columns.length - named.length;
    const cells = `${named.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
    const reason = `${cells}${IN_THE_WAY}${inTheWay(sheet, obstacles)}.`;
    return { submissionId: id, reason, stored };
  });
}

function inTheWay(sheet: FormSheet, obstacles: readonly Obstacle[]): string {
  sheet.noteInTheWay(obstacles.map(({ name }) => name));
  return namesOf(obstacles);
}

function namesOf(obstacles: readonly Obstacle[]): string {
  const names = [...new Set(obstacles.map(({ name }) => name))].sort();
  return names.length === 0 ? 'something that is protected' : names.join(' and ');
}

/** A batch as far as it can be written. */
export interface WritableBatch {
  readonly compared: ComparedRows;
  /** New rows that are among the changes: they go into blank rows, as none can be inserted. */
  readonly placed: readonly SheetRow[];
  /** Rows to be added at the grid's end first. */
  readonly growBy: number;
  /** Submissions of which some cells are not written. */
  readonly partly: ReadonlySet<string>;
  /** What became of those that something is in the way of. */
  readonly outcomes: ReadonlyMap<string, RowOutcome>;
  readonly rejections: readonly Rejection[];
  readonly refused?: MirrorError | undefined;
}

/** What of a compared batch can be written; reads the rows below the last one where new rows cannot be inserted. */
export async function writableBatch(
  sheet: FormSheet,
  compared: ComparedRows,
): Promise<WritableBatch> {
  const { all, mayInsert } = sheet.obstacles;
  const outcomes = new Map<string, RowOutcome>();
  if (all.length === 0 && mayInsert) {
    const nothing = { placed: [], growBy: 0, partly: new Set<string>(), rejections: [] };
    return { compared, outcomes, ...nothing };
  }
  const { changes, blocked } = writableChanges(compared.changes, all);
  const stays = stillRemoved(sheet, compared, blocked);
  const written = new Set(changes.map(({ id }) => id));
  for (const { id } of blocked) {
    if (stays.has(id)) outcomes.set(id, 'rejected');
    else if (!written.has(id)) outcomes.set(id, 'unchanged');
  }
  const added = await placeNewRows(sheet, compared.newRows);
  for (const { id } of added.placeless) outcomes.set(id, 'rejected');
  const partly = [...blocked, ...added.blocked];
  const byStored = Map.groupBy(partly, ({ id }) => !stays.has(id));
  return {
    compared: {
      ...compared,
      changes: [...changes, ...added.changes],
      newRows: added.inserted,
      outcomes: new Map([...compared.outcomes, ...outcomes]),
    },
    placed: added.placed,
    growBy: added.growBy,
    partly: new Set(partly.map(({ id }) => id)),
    outcomes,
    rejections: [
      ...blockedListings(sheet, byStored.get(false) ?? [], false),
      ...blockedListings(sheet, byStored.get(true) ?? []),
    ],
    refused: added.refused,
  };
}

/** Rows that came back and whose mark as removed cannot be taken away: what else they hold is brought up to date. */
function stillRemoved(
  sheet: FormSheet,
  { outcomes }: ComparedRows,
  blocked: readonly BlockedRow[],
): ReadonlySet<string> {
  const column = sheet.usableLayout().columns.get('s:removed')?.index;
  const stays = blocked.filter(
    ({ id, columns }) =>
      column !== undefined && outcomes.get(id) === 'restored' && columns.includes(column),
  );
  return new Set(stays.map(({ id }) => id));
}

/** Where new rows go. */
interface PlacedNewRows {
  readonly inserted: readonly SheetRow[];
  readonly changes: readonly RowChange[];
  readonly placed: readonly SheetRow[];
  readonly growBy: number;
  readonly blocked: readonly BlockedRow[];
  /** Those for which there is no place, and what they make the pass fail with. */
  readonly placeless: readonly SheetRow[];
  readonly refused?: MirrorError;
}

/** A row without these is none of ours. */
const NEEDED: readonly ColumnKey[] = ['s:id', 's:at', 's:status'];

/**
 * New rows are inserted below the last one unless something is in the way: Google inserts no row inside a protected range,
 * that of a column of people's included. Then they are written into the blank rows below everything there is, and into
 * rows that are added at the grid's end.
 */
async function placeNewRows(
  sheet: FormSheet,
  newRows: readonly SheetRow[],
): Promise<PlacedNewRows> {
  const nothing = { changes: [], placed: [], growBy: 0, blocked: [], placeless: [] };
  const { all, mayInsert, mayGrow } = sheet.obstacles;
  const below = (sheet.view.index?.lastRow ?? 0) + 1;
  const across = all.filter((one) => keepsFromInserting(one, below));
  const isFree = mayInsert && across.length === 0;
  if (newRows.length === 0 || isFree) return { ...nothing, inserted: newRows };
  const layout = sheet.usableLayout();
  const first = await firstBlankRow(sheet, below);
  const end = layout.rowCount + (mayGrow ? newRows.length : 0);
  const places = placesFor(layout, all, first, end, newRows.length);
  const placedRows = newRows.slice(0, places.length);
  const cells = placedRows.map((row, index): RowChange => {
    const values = new Map([...placed(row.values, layout)].filter(([, value]) => value !== null));
    const was = new Map([...values.keys()].map((column) => [column, '']));
    return { row: places[index] ?? 0, id: row.id, values, was, strict: true };
  });
  const { changes, blocked } = writableChanges(cells, all);
  const lacking = (places.at(-1) ?? 0) + 1 - layout.rowCount;
  const placeless = newRows.slice(places.length);
  return {
    inserted: [],
    // Nothing may stand in the ID cell of a blank row.
    changes: changes.map(({ row, values, was, strict }) => ({ row, id: '', values, was, strict })),
    placed: placedRows,
    growBy: lacking > 0 ? lacking + SPARE_ROWS : 0,
    blocked,
    placeless,
    ...(placeless.length > 0 && {
      refused: noPlaceError(sheet, placeless.length, reasonsFor(all, across)),
    }),
  };
}

/** Rows cannot be added at all: whoever may not add any may not keep the form up to date. */
function noPlaceError(sheet: FormSheet, rows: number, obstacles: readonly Obstacle[]): MirrorError {
  const { form, spreadsheet } = sheet;
  const { title } = sheet.usableLayout();
  const kinds = new Set(obstacles.map(({ kind }) => kind));
  const remedies = [...kinds].map((kind) => obstacleRemedy(kind, spreadsheet.api.email));
  return new MirrorError(
    'TARGET_DENIED',
    `On the tab "${title}" no row can be added for ${plural(rows, 'submission')} of form "${form.name}" (${form.id}) because of ` +
      `${namesOf(obstacles)}. Everything else of this batch is written. ${remedies.join(' ')} The next pass tries again.`,
  );
}

/** What may have made Google refuse to insert rows: where that is not known, any protection. */
const reasonsFor = (all: readonly Obstacle[], across: readonly Obstacle[]): readonly Obstacle[] =>
  across.length > 0 ? across : all.filter(({ kind }) => kind === 'protection');

/** Rows in which a submission can be written so that it is found again. */
function placesFor(
  layout: Layout,
  obstacles: readonly Obstacle[],
  first: number,
  end: number,
  count: number,
): number[] {
  const columns = NEEDED.flatMap((key) => layout.columns.get(key)?.index ?? []);
  const places: number[] = [];
  for (let row = first; row < end && places.length < count; row++) {
    const isFree = columns.every((column) => !obstacles.some((one) => keepsFrom(one, row, column)));
    if (isFree) places.push(row);
  }
  return places;
}

/** The first row below which nothing stands in any column. */
async function firstBlankRow(sheet: FormSheet, below: number): Promise<number> {
  const { sheetId, rowCount } = sheet.usableLayout();
  if (below >= rowCount) return below;
  const gridRange = { sheetId, startRowIndex: below, endRowIndex: rowCount };
  const [match] = await sheet.spreadsheet.api.values([{ gridRange }], 'ROWS');
  // Rows that are empty to the end are missing in the answer.
  return below + (match?.valueRange?.values ?? []).length;
}
