import { count, plural } from '../../../base/format.ts';
import { shellOption } from '../../../base/shell.ts';
import type { NoticeCode, TargetNotice } from '../../../mirror/notices.ts';
import { kindOf, type Obstacle } from '../api/obstacles.ts';
import { allowRemedy } from '../api/sheets-error.ts';
import type { Layout } from '../columns/layout.ts';
import type { RowIndex } from '../rows/row-index.ts';
import type { Blocked } from './blocked.ts';
import { type FormState, NAMED_ROWS, type OddRow, type OddRows } from './form-state.ts';

/*
 * What people did to a form's tab and the mirror leaves alone, in words. Columns are as the spreadsheet's structure shows
 * them, rows as the cells were last read: the state keeps the first of them, so that a look costs no read.
 */

/** What {@link noticesOf} speaks of. */
export interface NoticedTab {
  readonly formId: string;
  readonly layout: Layout;
  /** Labels of the columns that people deleted. */
  readonly dropped: readonly string[];
  readonly state: Pick<FormState, 'counts' | 'oddRows' | 'blocked'>;
  /** The account that writes. */
  readonly email: string | undefined;
}

/** What there is to say of a form's tab, worst first. */
export function noticesOf(noticed: NoticedTab): TargetNotice[] {
  const { layout, state } = noticed;
  if (!layout.columns.has('s:id')) return [idColumnDeleted(layout)];
  return [
    ...state.blocked.map((one) => cellsBlocked(noticed, one)),
    columnsDeleted(noticed),
    rowsCopied(layout, state.counts.copies, state.oddRows.copies),
    rowsWithoutId(layout, state.counts.withoutId, state.oddRows.withoutId),
  ].filter((notice) => notice !== undefined);
}

/** The rows that people made odd, as a read of the key columns shows them. */
export const oddRowsOf = (index: RowIndex): OddRows => ({
  copies: index.copies
    .slice(0, NAMED_ROWS)
    .map(({ id, row }): OddRow => [row + 1, (index.placeOf(id) ?? -1) + 1]),
  withoutId: index.withoutId
    .slice(0, NAMED_ROWS)
    .map(({ row, again }): OddRow => [row + 1, (again ?? -1) + 1]),
});

/** Also the message of the error that every pass ends with. */
export function idColumnDeleted({ title }: Pick<Layout, 'title'>): TargetNotice {
  return {
    code: 'ID_COLUMN_DELETED',
    blocks: true,
    tab: title,
    columns: ['Submission ID'],
    rows: [],
    message:
      `The column of submission IDs was deleted from the tab "${title}", so its rows can no longer be matched to ` +
      'submissions, and nothing is written to it any more.',
    remedy:
      'Undo the deletion, or restore an earlier version (File › Version history). If neither is possible, rename the tab, ' +
      'copy your own notes out of it, and delete it: the next pass writes a new one.',
  };
}

const BLOCKED_CODES = {
  protection: 'CELLS_PROTECTED',
  merge: 'CELLS_MERGED',
  head: 'CELLS_IN_HEAD',
} as const satisfies Record<Obstacle['kind'], NoticeCode>;

function cellsBlocked({ layout, email }: NoticedTab, blocked: Blocked): TargetNotice {
  const { name } = blocked;
  const kind = kindOf(name);
  const keep = kind === 'merge' ? 'keep' : 'keeps';
  return {
    code: BLOCKED_CODES[kind],
    blocks: false,
    tab: layout.title,
    columns: [],
    rows: [],
    message:
      `On the tab "${layout.title}" ${name} ${keep} forms-mirror from writing: ${waitsFor(blocked)}. ` +
      'Everything else is written.',
    remedy: `${obstacleRemedy(kind, email)} The rest follows by itself.`,
  };
}

/** What to do about something that keeps cells from being written; `email`: of the account that writes. */
export const obstacleRemedy = (kind: Obstacle['kind'], email: string | undefined): string =>
  ({
    protection: allowRemedy(email),
    merge: 'Unmerge them (Format › Merge cells › Unmerge).',
    head: 'Revert the table to unformatted data (by its menu); from the header row on it can be made a table again.',
  })[kind];

function waitsFor({ submissions, headers }: Blocked): string {
  const them = submissions === 1 ? 'it' : 'them';
  const rows = `${plural(submissions, 'submission')} ${submissions === 1 ? 'is' : 'are'} not as the source has ${them}`;
  const texts =
    headers === 1
      ? '1 header does not show the label of its field'
      : `${count(headers)} headers do not show the labels of their fields`;
  if (submissions === 0) return texts;
  return headers === 0 ? rows : `${rows}, and ${texts}`;
}

function columnsDeleted({
  formId,
  layout,
  dropped: columns,
}: NoticedTab): TargetNotice | undefined {
  if (columns.length === 0) return undefined;
  const shown = columns.slice(0, NAMED_ROWS).map((label) => `"${label}"`);
  const more = columns.length - shown.length;
  const names = `${shown.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
  const where = `deleted from the tab "${layout.title}"`;
  return {
    code: 'COLUMNS_DELETED',
    blocks: false,
    tab: layout.title,
    columns,
    rows: [],
    message:
      columns.length === 1
        ? `The column ${names} was ${where}, and stays away: what belongs in it is not mirrored.`
        : `The columns ${names} were ${where}, and stay away: what belongs in them is not mirrored.`,
    remedy: `If that was a mistake, run: forms-mirror sync --full --restore-columns ${shellOption('--form', formId)}`,
  };
}

function rowsCopied(
  { title }: Layout,
  all: number,
  rows: readonly OddRow[],
): TargetNotice | undefined {
  if (all === 0) return undefined;
  const named = rows.map(([row, kept]) => `row ${row} repeats row ${kept}`);
  return {
    code: 'ROWS_COPIED',
    blocks: false,
    tab: title,
    columns: [],
    rows: rows.map(([row]) => row),
    message:
      `On the tab "${title}" ${plural(all, 'row is a copy', 'rows are copies')} of another one, with the same submission ID` +
      `${listed(named, all)}. A copy is left unchanged: only the upper row is kept up to date.`,
    remedy:
      'Delete the copy, or move it to a tab of your own. Check first which of the two rows holds your notes.',
  };
}

function rowsWithoutId(
  { title }: Layout,
  all: number,
  rows: readonly OddRow[],
): TargetNotice | undefined {
  if (all === 0) return undefined;
  const named = rows.map(([row, again]) =>
    again === 0 ? `row ${row}` : `row ${row}, whose submission is now in row ${again}`,
  );
  const [have, their] = all === 1 ? ['row has', 'its'] : ['rows have', 'their'];
  return {
    code: 'ROWS_WITHOUT_ID',
    blocks: false,
    tab: title,
    columns: ['Submission ID'],
    rows: rows.map(([row]) => row),
    message:
      `On the tab "${title}" ${count(all)} ${have} lost ${their} submission ID${listed(named, all)}. What stands there is ` +
      'left as it is and no longer kept up to date; a submission that the source has is written again, in a row of its own.',
    remedy:
      'Move your notes to the row that shows the submission now, and delete the one without an ID; or bring the ID back ' +
      '(Edit › Undo, or File › Version history) and delete the new row.',
  };
}

/** `: row 9, row 12 and 3 more`. */
function listed(named: readonly string[], all: number): string {
  if (named.length === 0) return '';
  const more = all - named.length;
  return `: ${named.join('; ')}${more > 0 ? `; and ${count(more)} more` : ''}`;
}
