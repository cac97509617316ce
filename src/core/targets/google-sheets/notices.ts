import { plural } from '../../../base/format.ts';
import type { NoticeCode, TargetNotice } from '../../../mirror/notices.ts';
import { kindOf, type Obstacle } from '../../../targets/google-sheets/api/obstacles.ts';
import { allowRemedy } from '../../../targets/google-sheets/api/sheets-error.ts';
import type { Entry } from '../../mirror/port.ts';
import type { OddRows } from './odd-rows.ts';
import type { FormTab } from './structure.ts';
import { isBlocked } from './writable.ts';

/*
 * What people did to a form's tab that the mirror leaves as it is, in words.
 */

const NAMED_ROWS = 5;

/** What a person should see to on a tab. `email`: the account that writes. */
export function noticesOf(
  tab: FormTab,
  odd: OddRows,
  entries: Iterable<Entry>,
  email: string | undefined,
): TargetNotice[] {
  const reasons = [...entries].map(({ reason }) => reason).filter(isBlocked);
  const names = [...new Set(tab.obstacles.map(({ name }) => name))];
  return [
    ...names.flatMap((name) => {
      const many = reasons.filter((reason) => reason.includes(name)).length;
      return many === 0 ? [] : [cellsBlocked(tab, name, many, email)];
    }),
    ...copied(tab, odd.copies),
    ...withoutId(tab, odd.withoutId),
  ];
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

const CODES = {
  protection: 'CELLS_PROTECTED',
  merge: 'CELLS_MERGED',
  head: 'CELLS_IN_HEAD',
} as const satisfies Record<Obstacle['kind'], NoticeCode>;

function cellsBlocked(
  { title }: FormTab,
  name: string,
  many: number,
  email: string | undefined,
): TargetNotice {
  const kind = kindOf(name);
  const remedies = {
    protection: allowRemedy(email),
    merge: 'Unmerge them (Format › Merge cells › Unmerge).',
    head: 'Revert the table to unformatted data (in its menu), and make it again from the header row on.',
  } as const satisfies Record<Obstacle['kind'], string>;
  const are = many === 1 ? 'is' : 'are';
  return {
    code: CODES[kind],
    blocks: false,
    tab: title,
    columns: [],
    rows: [],
    message:
      `On the tab "${title}", ${name} ${kind === 'merge' ? 'keep' : 'keeps'} forms-mirror from writing: ` +
      `${plural(many, 'submission')} ${are} out of date. Everything else is written.`,
    remedy: `${remedies[kind]} The next run writes the rest.`,
  };
}

function copied({ title }: FormTab, copies: OddRows['copies']): TargetNotice[] {
  if (copies.length === 0) return [];
  const named = copies.map(({ row, of }) => `row ${row + 1} repeats row ${of + 1}`);
  const rows = copies.map(({ row }) => row + 1);
  return [
    {
      code: 'ROWS_COPIED',
      blocks: false,
      tab: title,
      columns: [],
      rows: rows.slice(0, NAMED_ROWS),
      message:
        `On the tab "${title}", ${plural(copies.length, 'row is a copy', 'rows are copies')} of another one, with the same ` +
        `submission ID: ${listed(named)}. Only the upper row is kept up to date.`,
      remedy:
        'Delete the copy, or move it to a tab of your own. Check first which of the two rows holds your notes.',
    },
  ];
}

function withoutId({ title }: FormTab, found: OddRows['withoutId']): TargetNotice[] {
  if (found.length === 0) return [];
  const rows = found.map((row) => row + 1);
  const have = found.length === 1 ? 'row has lost its' : 'rows have lost their';
  return [
    {
      code: 'ROWS_WITHOUT_ID',
      blocks: false,
      tab: title,
      columns: ['Submission ID'],
      rows: rows.slice(0, NAMED_ROWS),
      message:
        `On the tab "${title}", ${found.length} ${have} submission ID: ${listed(rows.map((row) => `row ${row}`))}. ` +
        'Such a row is no longer kept up to date; the submission is written again in a new row.',
      remedy:
        'Move your notes to the new row and delete the one without an ID, or bring the ID back (Edit › Undo, or ' +
        'File › Version history) and delete the new row.',
    },
  ];
}

function listed(named: readonly string[]): string {
  const more = named.length - NAMED_ROWS;
  const shown = named.slice(0, NAMED_ROWS).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}
