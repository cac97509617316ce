import { isDeepStrictEqual } from 'node:util';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellData, type ReadValue } from './api/cell-value.ts';
import { deleteRows } from './erase.ts';
import { microsOf, type SheetRow } from './row-values.ts';
import { type KnownRow, OWN_COLUMNS } from './rows.ts';
import { SerialTime } from './serial-time.ts';
import { type Aim, aimAt, type SheetFile, type View } from './sheet-file.ts';
import type { FormTab } from './structure.ts';

/*
 * Puts right what a write left beside the cells that it was meant for: people moved rows or columns between the reading and
 * the write.
 */

type Request = sheets_v4.Schema$Request;

/** The record of writes until it is known that they met the right cells. */
export interface Unverified {
  /** IDs of the rows that were added below all others. */
  readonly appended: readonly string[];
  /** IDs of the rows that were written by their place. */
  readonly updated: readonly string[];
  /** Where our columns were. */
  readonly columns: readonly number[];
  /** Columns were made, or headers written. */
  readonly isOnHeaders: boolean;
}

/** What two writes were meant for. */
export const together = (now: Unverified, before: Unverified): Unverified => ({
  appended: [...new Set([...now.appended, ...before.appended])],
  updated: [...new Set([...now.updated, ...before.updated])],
  columns: [...new Set([...now.columns, ...before.columns])],
  isOnHeaders: now.isOnHeaders || before.isOnHeaders,
});

/** The submissions that were written. */
export const idsOf = ({ appended, updated }: Unverified): Set<string> =>
  new Set([...appended, ...updated]);

/**
 * Plans to remove rows that were added beside our columns, to restore IDs that were overwritten, and to clear cells
 * that show an ID or an answer beside its column or row. `known`: the former rows of submissions, by ID. `values`:
 * the values of the last write, if this process wrote it. Cells of people that were overwritten are lost.
 */
export async function planSweep(
  file: SheetFile,
  { structure }: View,
  formId: string,
  left: Unverified,
  known: ReadonlyMap<string, KnownRow>,
  values: readonly SheetRow[],
): Promise<{ readonly requests: readonly Request[]; readonly aim: Aim | null }> {
  const read = await readSettled(file, structure.forms.get(formId), formId);
  if (read === null) return { requests: [], aim: null };
  const { tab, lines } = read;
  const { sheetId, columns, marks } = tab;
  const at = columns.get('s:id') ?? -1;
  const ids = lines.map((line) => String(line[at] ?? ''));
  const [added, written] = [new Set(left.appended), idsOf(left)];
  // They are so new that no person can have written their IDs anywhere.
  const astray = lines.flatMap((line, row) => {
    const isBeside = line.some((cell, column) => column !== at && added.has(String(cell ?? '')));
    const id = ids[row] ?? '';
    return isBeside && !added.has(id) && !known.has(id) ? [row] : [];
  });
  const requests: Request[] = [];
  const mended: [row: number, id: string][] = [];
  const write = (row: number, columnIndex: number, value: string | null, id: string): void => {
    const start = { sheetId, rowIndex: row, columnIndex };
    const fields = 'userEnteredValue';
    requests.push({ updateCells: { start, rows: [{ values: [cellData(value)] }], fields } });
    if (id !== '') mended.push([row - astray.filter((gone) => gone < row).length, id]);
  };
  const then = [...ids];
  const time = new SerialTime(structure.timeZone);
  for (const [row, id] of ownersOf(lines, ids, known, time)) {
    if (astray.includes(row) || (id ?? '') === then[row]) continue;
    write(row, at, id, id ?? '');
    then[row] = id ?? '';
  }
  const ours = new Set(columns.values());
  const own = new Set(OWN_COLUMNS.map((key) => columns.get(key)));
  const strays = straysOf(values, (id) => {
    const createdAt = known.get(id)?.createdAt ?? null;
    return createdAt === null ? null : shown(time.toSerial(createdAt) ?? createdAt);
  });
  for (const [row, line] of lines.entries()) {
    if (astray.includes(row)) continue;
    const id = then[row] ?? '';
    const stray = strays(line, id);
    for (const [column, cell] of line.entries()) {
      // Its ID was put back.
      if (column === at && id !== ids[row]) continue;
      const text = String(cell ?? '');
      const wasOurs = !ours.has(column) && left.columns.includes(column);
      const isId =
        // People may show the ID of its row in a column of their own.
        column !== at && written.has(text) && (ours.has(column) || (wasOurs && text !== ids[row]));
      // By these a row is known as ours. The comparison writes them again, but no answers of a submission that is gone.
      const isNeeded = own.has(column) && id !== '' && known.has(id);
      if (isId || (!isNeeded && stray(cell, wasOurs)))
        write(row, column, null, column === at ? '' : id);
    }
  }
  requests.push(...deleteRows(sheetId, astray));
  // This write may go astray as well.
  const aim = aimAt(tab, columns, marks, mended, left);
  return { requests, aim: requests.length === 0 ? null : aim };
}

/**
 * Finds what a write left in a row: another one than its own, which shows the time of the submission and one more of its values,
 * or beside our columns in its own. `timeOf`: the time of a submission, as its row shows it; rows of the same time are not told apart.
 */
function straysOf(
  written: readonly SheetRow[],
  timeOf: (id: string) => ReadValue,
): (line: readonly ReadValue[], id: string) => (cell: ReadValue, wasOurs: boolean) => boolean {
  const byId = new Map<string, ReadonlySet<ReadValue>>();
  const byTime = new Map<ReadValue, string[]>();
  for (const { id, values } of written) {
    const filled = [...values].filter(([key, value]) => key !== 's:id' && value !== null);
    byId.set(id, new Set(filled.map(([, value]) => shown(value))));
    const at = shown(values.get('s:at'));
    if ((at ?? null) !== null) byTime.set(at, [...(byTime.get(at) ?? []), id]);
  }
  return (line, id) => {
    const there = new Set(line.map(shown));
    const own = timeOf(id);
    const others = [...there]
      .filter((cell) => cell !== own)
      .flatMap((cell) => byTime.get(cell) ?? [])
      .filter((each) => each !== id)
      .flatMap((each) => byId.get(each) ?? [])
      .filter((cells) => there.intersection(cells).size > 1);
    return (cell, wasOurs) =>
      others.some((cells) => cells.has(shown(cell))) ||
      (wasOurs && byId.get(id)?.has(shown(cell)) === true);
  };
}

/** Times are equal by the microsecond. */
const shown = (cell: ReadValue): ReadValue => (typeof cell === 'number' ? microsOf(cell) : cell);

/**
 * Rows whose ID was overwritten, each with the ID that it should have; null if that is not certain, so that people
 * are asked. One of our rows shows the time of its submission in some cell, even after a write into the wrong
 * columns.
 */
function ownersOf(
  lines: readonly (readonly ReadValue[])[],
  ids: readonly string[],
  known: ReadonlyMap<string, KnownRow>,
  time: SerialTime,
): [row: number, id: string | null][] {
  const timeOf = (createdAt: string): ReadValue => shown(time.toSerial(createdAt) ?? createdAt);
  const times = lines.map((line) => new Set(line.map(shown)));
  const claimed = new Set<string>();
  const all = new Set<ReadValue>();
  for (const { createdAt } of known.values()) if (createdAt !== null) all.add(timeOf(createdAt));
  const showsItsTime = (row: number): boolean => {
    const found = known.get(ids[row] ?? '');
    if (found === undefined) return false;
    return found.createdAt === null || times[row]?.has(timeOf(found.createdAt)) === true;
  };
  const dated = new Set(ids.filter((_, row) => showsItsTime(row)));
  // A time that was written over, and cleared, says nothing against a row, unless another one has the same ID and its time.
  const isRight = (row: number): boolean =>
    showsItsTime(row) ||
    (known.has(ids[row] ?? '') &&
      !dated.has(ids[row] ?? '') &&
      times[row]?.isDisjointFrom(all) === true);
  for (const [row, id] of ids.entries()) if (isRight(row)) claimed.add(id);
  const lost = new Map<ReadValue, string[]>();
  for (const { id, createdAt } of known.values())
    if (createdAt !== null && !claimed.has(id))
      lost.set(timeOf(createdAt), [...(lost.get(timeOf(createdAt)) ?? []), id]);
  const wrong = ids.flatMap((id, row) => {
    const candidates = [...(times[row] ?? [])].flatMap((at) => lost.get(at) ?? []);
    const isOurs = candidates.length > 0 || (id !== '' && claimed.has(id));
    return isRight(row) || !isOurs ? [] : [{ row, candidates }];
  });
  const rivals = wrong.flatMap(({ candidates }) => candidates);
  return wrong.map(({ row, candidates }) => {
    const [id] = candidates;
    const isCertain = candidates.length === 1 && rivals.filter((each) => each === id).length === 1;
    return [row, isCertain && id !== undefined ? id : null];
  });
}

const MOST_READINGS = 5;

/**
 * The cells of a tab, and the positions of its columns at the same moment, because people work in it. Null if the
 * tab does not exist.
 */
async function readSettled(
  file: SheetFile,
  found: FormTab | undefined,
  formId: string,
): Promise<{ readonly tab: FormTab; readonly lines: ReadValue[][] } | null> {
  let tab = found;
  for (let tries = 1; tab !== undefined; tries++) {
    const lines = await file.cells(tab.sheetId);
    const after = (await file.refresh()).structure.forms.get(formId);
    const isSame = isDeepStrictEqual(after?.columns, tab.columns);
    if (isSame || tries >= MOST_READINGS) return { tab, lines };
    tab = after;
  }
  return null;
}
