import type { DescribeHealth } from '../../../mirror/health-text.ts';
import type { Erasure } from '../../../mirror/erasure.ts';
import { plusCounts, tallied } from '../../../mirror/status-counts.ts';
import { withForgotten } from '../../../mirror/window.ts';
import { count, plural } from '../../../base/format.ts';
import { MirrorError } from '../../../base/errors.ts';
import { columnName, spansOf } from '../api/a1.ts';
import { keepsFrom, type Obstacle } from '../api/obstacles.ts';
import { allowRemedy } from '../api/sheets-error.ts';
import { fitText, type ReadValue } from '../api/cell-value.ts';
import { readDatedRows } from '../rows/dated-rows.ts';
import type { RowChange } from '../rows/row-comparison.ts';
import { idOf, type RowIndex } from '../rows/row-index.ts';
import { listedOf, type PlacedRow, filledRows, rowsOf } from '../state/traces.ts';
import { readColumns, readRows } from '../rows/tab-reading.ts';
import { catalogueDigest, type FormSheet } from '../state/form-sheet.ts';
import type { FormState } from '../state/form-state.ts';
import { updateOwnTabs } from '../state/own-tabs.ts';
import { changeWindows, windowsOf } from '../state/window-list.ts';
import { applyWrite, stateNow } from './form-write.ts';
import { writableChanges } from './writable.ts';

/*
 * How submissions leave a sheet (L18). Their rows stay as blank ones: what people wrote beside them is theirs, and a row
 * that is deleted in the moment in which people sort would be another one. Three writes, each verified as any other:
 *
 * 1. All cells of ours but the ID, with the note that keeps the submission away, its listings, and the new counts.
 * 2. The IDs, which step 1 still needed to see that it hit the right rows.
 * 3. The undo tab, which the steps before have filled with what they erased.
 *
 * A crash after 1 leaves an ID beside blank cells, which no pass takes for a row; the same command goes on from there.
 */

const LEASE_MS = 10_000;
/** Rows of which the IDs are erased, or the cells of fields, at a time. */
const ROWS_A_WRITE = 5_000;

/** What goes along with the erasure of some submissions. */
export interface ErasePlan {
  readonly ids: readonly string[];
  /** The state to be written with the erasure of some of them, but for its counts. */
  readonly state: (ids: readonly string[]) => Promise<FormState>;
  readonly now: string;
  readonly describe: DescribeHealth;
}

/**
 * Erases submissions: their rows, and what the state tab lists of them. To be called inside a turn; `onErased` is told after
 * the first step, as a repetition finds that done. Those with a protected cell that holds something stay as they are: throws
 * TARGET_DENIED, which names their rows, after the others were erased.
 */
export async function eraseSubmissions(
  sheet: FormSheet,
  plan: ErasePlan,
  onErased: (erasure: Erasure) => void,
): Promise<Erasure> {
  if (protectionsOf(sheet).length === 0) return eraseAll(sheet, plan, onErased);
  const rows = rowsOf(await sheet.readRows(), new Set(plan.ids));
  const columns = [...sheet.usableLayout().columns.values()].map(({ index }) => index);
  const kept = await keptByProtections(sheet, rows, columns);
  if (kept.length === 0) return eraseAll(sheet, plan, onErased);
  const stays = new Set(kept.map(({ id }) => id));
  const ids = plan.ids.filter((id) => !stays.has(id));
  const erased = ids.length === 0 ? 0 : (await eraseAll(sheet, { ...plan, ids }, onErased)).rows;
  throw keptError(sheet, kept, erased);
}

async function eraseAll(
  sheet: FormSheet,
  plan: ErasePlan,
  onErased: (erasure: Erasure) => void,
): Promise<Erasure> {
  const { spreadsheet, form } = sheet;
  const given = await plan.state(plan.ids);
  const stateTab = await spreadsheet.stateTab();
  const listed = listedOf(stateTab, form.id, plan.ids);
  const listedIds = new Set(plan.ids.map((id) => fitText(id).text));
  for (const { submissionId, reason } of stateTab.rejections(form.id)) {
    if (listedIds.has(submissionId)) stateTab.unlist(form.id, submissionId, reason);
  }
  for (const refusal of stateTab.marks(form.id)) {
    if (listedIds.has(refusal.submissionId)) stateTab.endMark(form.id, refusal);
  }
  const ids = new Set(plan.ids);
  const index = await sheet.readRows();
  const rows = rowsOf(index, ids);
  const known = [...index].filter(({ id }) => ids.has(id));
  const removed = known.filter((row) => row.removed).length;
  const left = [...(await peoplesCells(sheet, rows)), ...rowsInDoubt(sheet, index, rows)];
  const counted = stateNow(sheet, plan.now, given);
  const { counts, stored, checkpoint } = counted;
  // The source counts them all the same: what has no row takes their place.
  const live = tallied(known.filter((row) => !row.removed));
  await accountInWindows(sheet, ids);
  const state: FormState = {
    ...counted,
    checkpoint: checkpoint && {
      ...checkpoint,
      unstored: plusCounts(checkpoint.unstored, live),
    },
    stored: stored - known.length,
    counts: {
      ...counts,
      live: counts.live - known.length + removed,
      removed: counts.removed - removed,
      copies: counts.copies - rows.filter(({ row }) => isCopy(index.copies, row)).length,
    },
  };
  const ownTabs = await updateOwnTabs(sheet, { state, now: plan.now }, plan.describe);
  const changes = blanked(sheet, rows);
  await applyWrite(sheet, { changes, state: () => state, ownTabs, leaseMs: LEASE_MS });
  sheet.forgetRows();
  const erasure = { rows: rows.length, ...listed, left };
  onErased(erasure);
  await eraseIds(sheet, ids);
  await clearUndoTab(sheet);
  return erasure;
}

/** Of each window what is forgotten, in memory; rows are read for their dates where there are windows. */
async function accountInWindows(sheet: FormSheet, ids: ReadonlySet<string>): Promise<void> {
  const { spreadsheet, form, view } = sheet;
  if (windowsOf(await spreadsheet.stateTab(), form.id).length === 0) return;
  const reading = { layout: sheet.usableLayout(), time: view.time };
  const dated = await readDatedRows(spreadsheet.api, reading, { from: null, to: null });
  const rows = dated.filter(({ id }) => ids.has(id));
  await changeWindows(sheet, (window) => withForgotten(window, rows));
}

const isCopy = (copies: readonly { readonly row: number }[], place: number): boolean =>
  copies.some(({ row }) => row === place);

/** Blanks all cells of ours in these rows, but the ID. */
function blanked(sheet: FormSheet, rows: readonly PlacedRow[]): RowChange[] {
  const columns = [...sheet.usableLayout().columns].filter(([key]) => key !== 's:id');
  const values = new Map(columns.map(([, { index }]) => [index, null]));
  const changes = rows.map(({ row, id }): RowChange => ({
    row,
    id,
    values,
    was: new Map(),
    strict: false,
  }));
  // A protected cell of these rows is known to be empty.
  return [...writableChanges(changes, protectionsOf(sheet)).changes];
}

/** Without merged cells: whether Google keeps or drops what is written under them, an empty value leaves nothing there. */
const protectionsOf = (sheet: FormSheet): Obstacle[] =>
  sheet.obstacles.all.filter(({ kind }) => kind === 'protection');

/** A row with a cell that holds something and cannot be emptied. */
interface KeptRow extends PlacedRow {
  /** What is in the way. */
  readonly names: readonly string[];
}

/** Of these rows those in which a protection keeps one of these columns from being emptied, and it holds something. */
async function keptByProtections(
  sheet: FormSheet,
  rows: readonly PlacedRow[],
  columns: readonly number[],
): Promise<KeptRow[]> {
  const protections = protectionsOf(sheet);
  const met = rows.filter(({ row }) =>
    protections.some((one) => columns.some((column) => keepsFrom(one, row, column))),
  );
  if (met.length === 0) return [];
  const places = met.map(({ row }) => row);
  const cells = await readRows(sheet.spreadsheet.api, sheet.usableLayout(), spansOf(places, 8));
  return met.flatMap((placed): KeptRow[] => {
    const filled = columns.filter((column) => idOf(cells.get(placed.row)?.[column]) !== '');
    const names = protections
      .filter((one) => filled.some((column) => keepsFrom(one, placed.row, column)))
      .map(({ name }) => name);
    return names.length === 0 ? [] : [{ ...placed, names }];
  });
}

/** How many rows an error names. */
const NAMED_ROWS = 5;

/** Says which rows still hold what was to be erased. */
function keptError(sheet: FormSheet, kept: readonly KeptRow[], erased: number): MirrorError {
  const { title } = sheet.usableLayout();
  const rows = kept.slice(0, NAMED_ROWS).map(({ row }) => String(row + 1));
  const more = kept.length > rows.length ? ` and ${count(kept.length - rows.length)} more` : '';
  const names = [...new Set(kept.flatMap((one) => one.names))].sort().join(' and ');
  const [noun, hold, lie] = kept.length === 1 ? ['row', 'holds', 'lies'] : ['rows', 'hold', 'lie'];
  return new MirrorError(
    'TARGET_DENIED',
    `The ${noun} ${rows.join(', ')}${more} of the tab "${title}" still ${hold} data that was to be erased: ` +
      `${kept.length === 1 ? 'it' : 'they'} ${lie} in ${names}. ${plural(erased, 'other row was', 'other rows were')} erased. ` +
      `${allowRemedy(sheet.spreadsheet.api.email)} Then run the same command again. (${sheet.spreadsheet.address})`,
    { retryable: false },
  );
}

/** Blanks the ID cells of rows that hold nothing else of ours, if they hold just that at the moment of the write. */
async function eraseIds(sheet: FormSheet, ids: ReadonlySet<string>): Promise<void> {
  const rows = rowsOf(await sheet.readRows(), ids);
  const column = sheet.usableLayout().columns.get('s:id')?.index ?? 0;
  for (let start = 0; start < rows.length; start += ROWS_A_WRITE) {
    const changes = rows.slice(start, start + ROWS_A_WRITE).map(({ row, id }): RowChange => {
      const values = new Map([[column, null]]);
      return { row, id, values, was: new Map([[column, id]]), strict: true };
    });
    await applyWrite(sheet, { changes, leaseMs: LEASE_MS });
  }
  sheet.forgetRows();
}

/** Empties the undo tab, which holds the rows of the last write as they were. */
export async function clearUndoTab({ spreadsheet, structure, form }: FormSheet): Promise<void> {
  const undo = structure.roles.get('undo');
  if (undo === undefined) return;
  await spreadsheet.commit({
    formId: form.id,
    requests: [{ updateCells: { range: { sheetId: undo.sheetId }, fields: 'userEnteredValue' } }],
    responseRanges: [],
    leaseMs: 0,
  });
}

/** Rows whose ID people cleared and that may show what is erased: their submission stands in none of the rows that stay. */
function rowsInDoubt(sheet: FormSheet, index: RowIndex, erased: readonly PlacedRow[]): string[] {
  const gone = new Set<number | undefined>([undefined, ...erased.map(({ row }) => row)]);
  const rows = index.withoutId.flatMap(({ row, again }) => (gone.has(again) ? [row + 1] : []));
  if (rows.length === 0) return [];
  const more = rows.length > NAMED_ROWS ? ` and ${count(rows.length - NAMED_ROWS)} more` : '';
  const [noun, have] = rows.length === 1 ? ['row', 'has lost its'] : ['rows', 'have lost their'];
  return [
    `tab ${sheet.usableLayout().title}, ${noun} ${rows.slice(0, NAMED_ROWS).join(', ')}${more}, which ${have} submission ID ` +
      'and may show data that was to be erased: look there, and delete it by hand',
  ];
}

/** What people wrote into these rows, in columns of their own. */
async function peoplesCells(sheet: FormSheet, rows: readonly PlacedRow[]): Promise<string[]> {
  if (rows.length === 0) return [];
  const layout = sheet.usableLayout();
  const { api } = sheet.spreadsheet;
  const { header } = await readColumns(api, layout, { keys: ['s:id'] });
  const ours = new Set([...layout.columns.values()].map(({ index }) => index));
  const found: string[] = [];
  for (const { row } of rows) {
    const range = { sheetId: layout.sheetId, startRowIndex: row, endRowIndex: row + 1 };
    const [match] = await api.values([{ gridRange: range }], 'ROWS');
    const [cells = []] = (match?.valueRange?.values ?? []) as ReadValue[][];
    for (const [column, value] of cells.entries()) {
      if (ours.has(column) || idOf(value) === '') continue;
      const title = idOf(header?.cells[column]);
      const named = title === '' ? '' : ` (${title})`;
      found.push(`tab ${layout.title}, row ${row + 1}, column ${columnName(column)}${named}`);
    }
  }
  return found;
}

/**
 * Empties the cells of these fields in rows of ours; how many rows held something. To be called inside a turn. Throws
 * TARGET_DENIED where protected cells still hold something, after the others were emptied.
 */
export async function emptyFields(
  sheet: FormSheet,
  fieldIds: readonly string[],
  now: string,
): Promise<number> {
  const rows = await filledRows(sheet, fieldIds);
  const kept = await keptByProtections(
    sheet,
    rows,
    rows.flatMap(({ columns }) => columns),
  );
  const stays = new Set(kept.map(({ row }) => row));
  const free = rows.filter(({ row }) => !stays.has(row));
  const changes = free.map(({ row, id, columns }): RowChange => {
    const values = new Map(columns.map((column) => [column, null]));
    return { row, id, values, was: new Map(), strict: false };
  });
  const emptied = new Set(fieldIds);
  const old = sheet.view.catalogue;
  const fields = old.fields.map((field) =>
    emptied.has(field.id)
      ? { ...field, content: 'none' as const, removedAt: field.removedAt ?? now }
      : field,
  );
  const catalogue = { ...old, fields };
  for (let start = 0; start < changes.length; start += ROWS_A_WRITE) {
    const some = changes.slice(start, start + ROWS_A_WRITE);
    await applyWrite(sheet, { changes: some, leaseMs: LEASE_MS });
  }
  if (kept.length > 0) {
    sheet.forgetRows();
    await clearUndoTab(sheet);
    throw keptError(sheet, kept, free.length);
  }
  // A field that is picked again comes back as one that was removed: its column is filled by reading everything.
  const state = {
    ...stateNow(sheet, now),
    catalogue: catalogueDigest(catalogue),
    prepared: '',
  };
  await applyWrite(sheet, { state: () => state, catalogue, leaseMs: LEASE_MS });
  sheet.forgetRows();
  await clearUndoTab(sheet);
  return rows.length;
}
