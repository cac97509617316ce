import { count, plural } from '../../base/format.ts';
import type { Entries } from '../../mirror/ledger.ts';
import type { TargetNotice } from '../../mirror/port.ts';
import type { ColumnKey } from './api/metadata.ts';
import { allowRemedy } from './api/sheets-error.ts';
import { headersOf, type SheetField, waitingHeaders } from './fields.ts';
import { blockedIn, keepsFrom, type Obstacle, obstaclesOf } from './obstacles.ts';
import type { Survey } from './rows.ts';
import type { FormTab } from './structure.ts';

/*
 * Changes that people made to the tab of a form and that the mirror keeps, in words.
 */

/** So many rows a notice names. */
const MOST_NAMED = 20;

/** The notices of a tab. `email`: of the account that writes. */
export function noticesOf(
  tab: FormTab,
  fields: readonly SheetField[],
  entries: Entries,
  found: Survey,
  email: string | undefined,
): TargetNotice[] {
  const headers = headersOf(fields);
  const waits = new Map<Obstacle, Waits>();
  const waitsFor = (obstacle: Obstacle): Waits => {
    const known = waits.get(obstacle) ?? { rows: [], columns: new Set(), headers: [] };
    waits.set(obstacle, known);
    return known;
  };
  for (const entry of blockedIn(entries)) {
    const row = found.places.get(entry.id);
    for (const obstacle of row === undefined ? [] : obstaclesOf(entry, row, tab)) {
      const known = waitsFor(obstacle);
      known.rows.push((row ?? 0) + 1);
      for (const key of entry.blocked) known.columns.add(headers.get(key) ?? key);
    }
  }
  for (const { key, obstacles } of blockedHeaders(tab, fields, found.headerRow))
    for (const obstacle of obstacles) {
      const known = waitsFor(obstacle);
      known.headers.push(headers.get(key) ?? key);
      known.columns.add(headers.get(key) ?? key);
    }
  return [
    ...[...waits].map(([obstacle, known]) => cellsBlocked(tab, obstacle, known, email)),
    ...rowsCopied(tab, found.copies),
    ...rowsWithoutId(tab, found.withoutId),
  ];
}

/** The values that wait for the same obstacle. */
interface Waits {
  /** As people number them. */
  readonly rows: number[];
  readonly columns: Set<string>;
  readonly headers: string[];
}

/** Headers that should show another label, and their obstacles. */
export function blockedHeaders(
  { obstacles, columns }: FormTab,
  fields: readonly SheetField[],
  headerRow: number,
): { key: ColumnKey; obstacles: readonly Obstacle[] }[] {
  return waitingHeaders(fields).flatMap((key) => {
    const column = columns.get(key);
    const met =
      column === undefined ? [] : obstacles.filter((one) => keepsFrom(one, headerRow, column));
    return met.length === 0 ? [] : [{ key, obstacles: met }];
  });
}

function cellsBlocked(
  { title }: FormTab,
  { kind, name }: Obstacle,
  { rows, columns, headers }: Waits,
  email: string | undefined,
): TargetNotice {
  const isMerge = kind === 'merge';
  const what: string[] = [];
  if (rows.length > 0) {
    const [are, them] = rows.length === 1 ? ['is', 'it'] : ['are', 'them'];
    what.push(`${plural(rows.length, 'submission')} ${are} not as the source has ${them}`);
  }
  if (headers.length > 0)
    what.push(`the header row does not show ${headers.map((header) => `"${header}"`).join(', ')}`);
  const remedy = isMerge ? 'Unmerge them (Format › Merge cells › Unmerge).' : allowRemedy(email);
  return {
    code: isMerge ? 'CELLS_MERGED' : 'CELLS_PROTECTED',
    blocks: false,
    tab: title,
    columns: [...columns],
    rows: rows.toSorted((a, b) => a - b).slice(0, MOST_NAMED),
    message: `On the tab "${title}" ${name} ${isMerge ? 'keep' : 'keeps'} forms-mirror from writing: ${what.join(', and ')}. Everything else is written.`,
    remedy: `${remedy} The rest follows by itself.`,
  };
}

function rowsCopied({ title }: FormTab, copies: Survey['copies']): TargetNotice[] {
  if (copies.length === 0) return [];
  const named = copies.map(([row, of]) => `row ${row + 1} repeats row ${of + 1}`);
  return [
    {
      code: 'ROWS_COPIED',
      blocks: false,
      tab: title,
      columns: [],
      rows: copies.slice(0, MOST_NAMED).map(([row]) => row + 1),
      message:
        `On the tab "${title}" ${plural(copies.length, 'row is a copy', 'rows are copies')} of another one, with the same submission ` +
        `ID: ${listed(named)}. A copy is left unchanged: only the upper row is kept up to date.`,
      remedy:
        'Delete the copy, or move it to a tab of your own. Check first which of the two rows holds your notes.',
    },
  ];
}

function rowsWithoutId({ title }: FormTab, rows: readonly number[]): TargetNotice[] {
  if (rows.length === 0) return [];
  const [have, their] = rows.length === 1 ? ['row has', 'its'] : ['rows have', 'their'];
  return [
    {
      code: 'ROWS_WITHOUT_ID',
      blocks: false,
      tab: title,
      columns: ['Submission ID'],
      rows: rows.slice(0, MOST_NAMED).map((row) => row + 1),
      message:
        `On the tab "${title}" ${count(rows.length)} ${have} lost ${their} submission ID: ${listed(rows.map((row) => `row ${row + 1}`))}. ` +
        'The values there stay, and are no longer updated. If the source still has the submission, it is written again in a new row.',
      remedy:
        'Move your notes to the row that shows the submission now, and delete the one without an ID; or bring the ID back ' +
        '(Edit › Undo, or File › Version history) and delete the new row.',
    },
  ];
}

/** `row 9; row 12; and 3 more`. */
function listed(named: readonly string[]): string {
  const more = named.length - MOST_NAMED;
  return `${named.slice(0, MOST_NAMED).join('; ')}${more > 0 ? `; and ${count(more)} more` : ''}`;
}

/** The notice of a tab whose column of IDs was deleted. */
export const idColumnDeleted = ({ title }: Pick<FormTab, 'title'>): TargetNotice => ({
  code: 'ID_COLUMN_DELETED',
  blocks: true,
  tab: title,
  columns: ['Submission ID'],
  rows: [],
  message:
    `The column of submission IDs was deleted from the tab "${title}". Its rows can no longer be matched to submissions, ` +
    'so nothing is written there.',
  remedy:
    'Undo the deletion, or restore an earlier version (File › Version history). If neither is possible, copy your own notes ' +
    'to another tab and delete this one: the next run makes it again.',
});
