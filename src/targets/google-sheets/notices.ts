import { count, plural } from '../../base/format.ts';
import type { NoticeCode, TargetNotice } from '../../mirror/port.ts';
import type { ColumnKey } from './api/metadata.ts';
import { keepsFromHeader, kindOf, type Obstacle } from './api/obstacles.ts';
import { allowRemedy } from './api/sheets-error.ts';
import type { Entries } from '../../mirror/ledger.ts';
import { blockedIn } from './blocked.ts';
import { headersOf, type SheetField, waitingHeaders } from './fields.ts';
import type { Survey } from './rows.ts';
import type { FormTab } from './structure.ts';

/*
 * What people did to the tab of a form and the mirror leaves as it is, in words.
 */

/** So many rows a notice names. */
const MOST_NAMED = 20;

/** What there is to say of a tab. `email`: of the account that writes. */
export function noticesOf(
  tab: FormTab,
  fields: readonly SheetField[],
  entries: Entries,
  found: Survey,
  email: string | undefined,
): TargetNotice[] {
  const headers = headersOf(fields);
  const waits = new Map<string, Waits>();
  const waitsFor = (name: string): Waits => {
    const known = waits.get(name) ?? { submissions: 0, rows: [], columns: new Set(), headers: [] };
    waits.set(name, known);
    return known;
  };
  for (const [id, { blocked }] of blockedIn(entries))
    for (const name of blocked.by) {
      const known = waitsFor(name);
      known.submissions++;
      const row = found.places.get(id);
      if (row !== undefined) known.rows.push(row + 1);
      for (const key of blocked.columns) known.columns.add(headers.get(key) ?? key);
    }
  for (const { key, obstacles } of blockedHeaders(tab, fields, found.headerRow))
    for (const { name } of obstacles) {
      const known = waitsFor(name);
      known.headers.push(headers.get(key) ?? key);
      known.columns.add(headers.get(key) ?? key);
    }
  return [
    ...[...waits].map(([name, known]) => cellsBlocked(tab, name, known, email)),
    ...rowsCopied(tab, found.copies),
    ...rowsWithoutId(tab, found.withoutId),
  ];
}

/** What waits for one obstacle. */
interface Waits {
  submissions: number;
  readonly rows: number[];
  readonly columns: Set<string>;
  readonly headers: string[];
}

/** Headers that should show another label, and what is in their way. */
export function blockedHeaders(
  { obstacles, columns }: FormTab,
  fields: readonly SheetField[],
  headerRow: number,
): { key: ColumnKey; obstacles: readonly Obstacle[] }[] {
  return waitingHeaders(fields).flatMap((key) => {
    const column = columns.get(key);
    const met =
      column === undefined
        ? []
        : obstacles.filter((one) => keepsFromHeader(one, headerRow, column));
    return met.length === 0 ? [] : [{ key, obstacles: met }];
  });
}

function cellsBlocked(
  { title }: FormTab,
  name: string,
  { submissions, rows, columns, headers }: Waits,
  email: string | undefined,
): TargetNotice {
  const isMerge = kindOf(name) === 'merge';
  const code: NoticeCode = isMerge ? 'CELLS_MERGED' : 'CELLS_PROTECTED';
  const what = [
    ...(submissions === 0
      ? []
      : [
          `${plural(submissions, 'submission')} ${submissions === 1 ? 'is not as the source has it' : 'are not as the source has them'}`,
        ]),
    ...(headers.length === 0
      ? []
      : [`the header row does not show ${headers.map((header) => `"${header}"`).join(', ')}`]),
  ];
  const remedy = isMerge ? 'Unmerge them (Format › Merge cells › Unmerge).' : allowRemedy(email);
  return {
    code,
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
        'What is there is left as it is and no longer kept up to date; a submission that the source has is written again, in a row of its own.',
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
