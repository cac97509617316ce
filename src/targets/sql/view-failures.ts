import type { TargetNotice } from '../../mirror/notices.ts';
import type { CheckResult } from '../../mirror/target.ts';
import type { CataloguedForm } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import type { ErrorDescription } from './sql-errors.ts';
import type { SqlSession } from './sql-session.ts';
import { formOfLive, type Notes, readNotes, type ViewFailure } from './view-notes.ts';

/*
 * What there is to say of views that could not be made when that was tried: they lack forms or fields, and nobody who reads them
 * sees that. That forms wait for the views while others come is no failure.
 */

/** Most forms in a sentence. */
const MOST_NAMES = 3;

const LOOK_OR_PASS = 'look or pass';

/** Why a view could not be made, for people; `error` is undefined where the database refused it without one of its own. */
export function describeViewFailure(
  dialect: SqlDialect,
  error: unknown,
): Pick<ErrorDescription, 'what' | 'remedy'> {
  const description = dialect.views.describeFailure(error) ?? dialect.describeError(error);
  if (description !== undefined) return { what: description.what, remedy: description.remedy };
  return {
    what: `${dialect.product} refuses it`,
    remedy: 'If people built something on it, or made something of its name, look at that.',
  };
}

/** By form what its views lack, and since when; see {@link TargetNotice}. */
export async function viewFailureNotices(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<(formId: string) => TargetNotice[]> {
  const notes = await readNotes(session, dialect, []);
  return (formId) => {
    const lacking = [...notes.failed].filter(([key, one]) => isLacking(notes, key, one, formId));
    return behindNotices(
      dialect,
      lacking.map(([, failure]) => failure),
    );
  };
}

/** What there is to say of views of a form that could not be made. `again`: who tries that once more. */
export const behindNotices = (
  dialect: Pick<SqlDialect, 'shownRelation'>,
  failed: readonly ViewFailure[],
  again = LOOK_OR_PASS,
): TargetNotice[] =>
  alike(failed).map((failures) => ({
    code: 'VIEW_BEHIND',
    blocks: false,
    tab: failures[0].name,
    columns: [],
    rows: [],
    message: `${happened(dialect, failures)} What came to this form since, or all of it, may be missing there.`,
    remedy: remedyOf(failures, again),
  }));

/** The same for `check`, once for all forms. */
export async function viewFailureResults(
  session: SqlSession,
  dialect: SqlDialect,
  forms: readonly Pick<CataloguedForm, 'id' | 'slug'>[],
): Promise<CheckResult[]> {
  const notes = await readNotes(session, dialect, []);
  return alike([...notes.failed.values()]).map((failures) => {
    const lacking = forms.filter(({ id }) =>
      [...notes.failed].some(
        ([key, failure]) => failures.includes(failure) && isLacking(notes, key, failure, id),
      ),
    );
    const names = lacking.slice(0, MOST_NAMES).map(({ slug }) => slug);
    const more = lacking.length - names.length;
    const of = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    const message = `${happened(dialect, failures)} What came since to these forms, or all of them, may be missing there: ${of}.`;
    return { ok: true, message, remedy: remedyOf(failures) };
  });
}

/** A view over all forms lacks those that changed since; every one where it is not there, or nothing says which. */
function isLacking(
  { stale }: Notes,
  key: string,
  { isMissing }: ViewFailure,
  formId: string,
): boolean {
  const shown = formOfLive(key);
  if (shown !== undefined) return shown === formId;
  return isMissing || stale.size === 0 || stale.has(formId);
}

type Failures = readonly [ViewFailure, ...ViewFailure[]];

/** Views that failed for one reason are told of together. */
function alike(failures: readonly ViewFailure[]): Failures[] {
  const byReason = Map.groupBy(failures, ({ what, remedy }) => `${what} ${remedy}`);
  return [...byReason.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  );
}

function happened(dialect: Pick<SqlDialect, 'shownRelation'>, failures: Failures): string {
  const names = failures.map(({ name }) => dialect.shownRelation(name)).toSorted();
  const since = failures.map(({ at }) => at).toSorted()[0] ?? '';
  const last = names.at(-1) ?? '';
  const [views, them] =
    names.length === 1
      ? [`The view ${last} is`, 'it']
      : [`The views ${names.slice(0, -1).join(', ')} and ${last} are`, 'them'];
  return `${views} behind: since ${since.slice(0, 16).replace('T', ' ')} UTC bringing ${them} up to date has failed, as ${failures[0].what}.`;
}

const remedyOf = ([{ remedy }]: Failures, again = LOOK_OR_PASS): string =>
  `${remedy} The next ${again} tries again; the tables themselves are not behind.`;
