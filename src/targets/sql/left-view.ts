import type { TargetNotice } from '../../mirror/notices.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { SqlDialect } from './dialect.ts';
import type { SqlSession } from './sql-session.ts';

/** The name of a view that had to take another one than that of the labelled view: `contact_labelled_2`. */
const SECOND_NAME = /^(.+_labelled)_\d+$/;

/** Whether a view of ours has a name that was not its first choice: only then can one have been left behind. */
export const hasSecondName = (view: string): boolean => SECOND_NAME.test(view);

/**
 * The view of ours that was left behind under the first name when something kept it from being turned to a table that was
 * made anew: whoever reads it reads what was mirrored once. A view of someone else under that name is not spoken of.
 */
export async function leftViewNotices(
  session: SqlSession,
  dialect: SqlDialect,
  views: readonly string[],
): Promise<Map<string, TargetNotice[]>> {
  const former = new Map<string, string>();
  for (const view of views) {
    const [, first] = SECOND_NAME.exec(view) ?? [];
    if (first !== undefined) former.set(view, first);
  }
  const notices = new Map<string, TargetNotice[]>();
  for (const [view, first] of former) {
    // A name that a view of another form has by now is that form's.
    if (views.includes(first)) continue;
    // A view of SQLite that shows nothing any more has no columns to ask for.
    const columns = (await dialect.columnsOf(session, first).catch(() => undefined)) ?? [];
    if (SYSTEM_COLUMNS.every((name) => columns.includes(name)))
      notices.set(view, [leftView(dialect, first, view)]);
  }
  return notices;
}

function leftView(dialect: SqlDialect, left: string, view: string): TargetNotice {
  const [old, now] = [dialect.shownRelation(left), dialect.shownRelation(view)];
  return {
    code: 'VIEW_LEFT',
    blocks: false,
    tab: left,
    columns: [],
    rows: [],
    message: `The view ${old} shows a former table, not what is mirrored now: something depends on it, so it was left as it is.`,
    remedy: `Let what reads it read ${now} instead, then drop it.`,
  };
}
