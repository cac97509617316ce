import { count, plural } from '../../base/format.ts';
import { distrust, type FormState } from '../../mirror/form-state.ts';
import type { Entries } from './accounting.ts';
import type { StoredForm, TargetNotice } from '../../mirror/port.ts';
import { blockedIn, type Obstacle, obstaclesOf, remedyOf } from './obstacles.ts';
import type { Survey } from './rows.ts';
import type { FormTab } from './structure.ts';

/* Notices about changes that people made to the tab of a form and that the mirror keeps. */

/** The notices of a tab. `email`: the address of the account that writes. */
export function noticesOf(
  tab: FormTab,
  entries: Entries,
  found: Survey,
  email: string | undefined,
): TargetNotice[] {
  /** How many submissions wait for each obstacle. */
  const waits = new Map<Obstacle, number>();
  // The message of the failed run says why rows are missing.
  for (const entry of blockedIn(entries).filter(({ id }) => found.places.has(id)))
    for (const obstacle of obstaclesOf(entry, found, tab))
      waits.set(obstacle, (waits.get(obstacle) ?? 0) + 1);
  const { title } = tab;
  return [
    ...[...waits].map(([obstacle, waiting]) => cellsBlocked(tab, obstacle, waiting, email)),
    ...aboutRows(
      'ROWS_COPIED',
      found.copies,
      (rows) =>
        `On the tab "${title}" these rows are copies, with the submission ID of a row above: ${rows}. ` +
        'A copy is left unchanged: only the upper row is kept up to date.',
      'Delete the copy, or move it to a tab of your own. Check first which of the two rows holds your notes.',
    ),
    ...aboutRows(
      'ROWS_WITHOUT_ID',
      [...found.withoutId, ...found.bare.values()].toSorted((a, b) => a - b),
      (rows) =>
        `On the tab "${title}" these rows have no ID of a submission: ${rows}. The values there stay, and are neither updated nor ` +
        'counted. If a row lost its ID and the source still has the submission, it is written again in a new row.',
      'If a row lost its ID, move your notes to the row that shows the submission now, and delete the old one; or bring the ID back ' +
        '(Edit › Undo, or File › Version history) and delete the new row. Move rows that people added here to another tab.',
    ),
  ];
}

function cellsBlocked(
  { title }: FormTab,
  { kind, name }: Obstacle,
  waiting: number,
  email: string | undefined,
): TargetNotice {
  return {
    code: 'CELLS_PROTECTED',
    blocks: false,
    message:
      `On the tab "${title}" forms-mirror cannot write into ${name}: cells of ${plural(waiting, 'submission')} are not as the ` +
      'source has them. Everything else is written.',
    remedy: `${remedyOf(kind, email)} The next run writes the rest.`,
  };
}

/** The most rows that a notice names. */
const MOST_NAMED = 20;

/** A text about some rows, numbered as people see them: `9, 12 and 3 more`. */
function aboutRows(
  code: TargetNotice['code'],
  rows: readonly number[],
  message: (listed: string) => string,
  remedy: string,
): TargetNotice[] {
  if (rows.length === 0) return [];
  const named = rows.slice(0, MOST_NAMED).map((row) => row + 1);
  const more = rows.length - named.length;
  const listed = `${named.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
  return [{ code, blocks: false, message: message(listed), remedy }];
}

/** A form whose column of IDs was deleted claims nothing, because its rows are unknown. Null: it has the column, or no tab. */
export const withoutIds = (
  tab: FormTab | undefined,
  state: FormState,
): Pick<StoredForm, 'state' | 'notices'> | null =>
  tab === undefined || tab.columns.has('s:id')
    ? null
    : { state: distrust(state), notices: [idColumnDeleted(tab)] };

export const idColumnDeleted = ({ title }: Pick<FormTab, 'title'>): TargetNotice => ({
  code: 'ID_COLUMN_DELETED',
  blocks: true,
  message:
    `The column of submission IDs was deleted from the tab "${title}". Its rows can no longer be matched to submissions, ` +
    'so nothing is written there.',
  remedy:
    'Undo the deletion, or restore an earlier version (File › Version history). If neither is possible, copy your own notes ' +
    'to another tab and delete this one: the next run makes it again.',
});
