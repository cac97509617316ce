import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { ShownForm } from './answers-view.ts';
import { loadForm, loadForms } from './catalogue.ts';
import { presentTables } from './catalogue-tables.ts';
import { CATALOGUE_TEXTS } from './descriptions.ts';
import type { SqlDialect } from './dialect.ts';
import type { FormTable } from './field-column.ts';
import { MODEL_VIEWS } from './model-views.ts';
import { textsOfForm } from './relations.ts';
import type { RelationTexts } from './view-sql.ts';
import { heldVersions } from './row-history.ts';
import { numberOf, type SqlConnection, type SqlSession } from './sql-session.ts';
import { describeViewFailure } from './view-failures.ts';
import { makeLive, makeModel, type Making } from './view-making.ts';
import {
  dropFailures,
  dropStale,
  formOfLive,
  type KeptView,
  liveKey,
  modelKey,
  noteLeft,
  type Notes,
  readNotes,
  saveFailure,
  saveView,
  wasLeft,
} from './view-notes.ts';

/*
 * The views over all forms, and that of a form's live rows. They are made at the end of a pass, in a transaction of their own:
 * the rows are the promise, and a view that can't be made now is made by a later pass. A pass that changes nothing reads what is
 * kept of them (view-notes.ts), and how they are, and is done.
 */

/**
 * How many of the forms have to wait for the views over all of them until these are worth making. Whatever a first copy of many
 * forms costs, that of their views grows with their number alone.
 */
const WORTH_MAKING = 1 / 5;

/** Whether the views over all forms wait for more forms, or are made now. */
export type ViewsWhen = 'in time' | 'now';

/** What {@link syncViews} is asked for. */
export interface ViewsAsked {
  /** The form whose pass it is; undefined for a look, or who closes the target. */
  readonly formId: string | undefined;
  readonly when: ViewsWhen;
  readonly at: string;
}

/** What {@link syncViews} did. */
export interface ViewsEnd {
  /** The views over all forms were left to the next pass that changes no column. */
  readonly isLeft: boolean;
  /** Some could not be made, now or before: what is to be said of forms may be another thing than it was. */
  readonly toldOf: boolean;
}

/**
 * Brings the views over all forms, and that of this form's live rows, to what there is; those that people dropped are made again. `in time`: the former may be left to the next pass that changes no column, or to who calls
 * it `now`, while forms come one after the other. Never rejects: what a pass stored holds. What could not be made is kept, for
 * whoever shows how the mirror is (view-failures.ts).
 */
export async function syncViews(
  connection: SqlConnection,
  dialect: SqlDialect,
  asked: ViewsAsked,
): Promise<ViewsEnd> {
  let found: Due | undefined;
  try {
    const due = await findDue(connection, dialect, asked);
    found = due;
    const isLeft = !due.model && due.notes.stale.size > 0;
    const hadFailed = due.notes.failed.size > 0;
    if (!due.model && !due.live) return { isLeft, toldOf: hadFailed };
    const hasFailed = await connection.transaction((tx) => makeDue(tx, dialect, asked));
    return { isLeft, toldOf: hadFailed || hasFailed };
  } catch (error) {
    if (found !== undefined) await noteAllFailed(connection, dialect, asked, found, error);
    return { isLeft: false, toldOf: true };
  }
}

/** Makes what is due. True when some of it could not be made. */
async function makeDue(tx: SqlSession, dialect: SqlDialect, asked: ViewsAsked): Promise<boolean> {
  const { formId } = asked;
  await dialect.lockCatalogue(tx);
  // Another process may have made them meanwhile.
  const due = await findDue(tx, dialect, asked);
  const { stale } = due.notes;
  const forms = await formsToShow(tx, dialect, due.model ? undefined : formId);
  const changed = new Set([
    ...(formId === undefined ? [] : [formId]),
    ...stale.keys(),
    ...failedForms(due.notes),
  ]);
  const followers = forms.filter(({ form }) => changed.has(form.id));
  const { describe } = dialect.views;
  if (describe !== undefined) {
    for (const form of followers) await describe(tx, await formTexts(tx, dialect, form));
    if (due.model) await describe(tx, await catalogueTexts(tx, dialect));
  }
  await dialect.views.hurry(tx);
  const making: Making = { notes: due.notes, made: new Map(), failed: new Map() };
  for (const form of followers) await makeLive(tx, dialect, form, making);
  for (const view of due.model ? MODEL_VIEWS : []) {
    await makeModel(tx, dialect, view, { ...making, forms });
  }
  const { made, failed } = making;
  await saveMade(tx, dialect, made);
  const tried = [
    ...(due.model ? MODEL_VIEWS.map(modelKey) : []),
    ...(due.model ? changed : followers.map(({ form }) => form.id)).values().map(liveKey),
  ];
  await saveFailed(tx, dialect, asked, due, failed);
  const ended = tried.filter((key) => due.notes.failed.has(key) && !failed.has(key));
  await dropFailures(tx, dialect, ended);
  const isModelMade = due.model && !MODEL_VIEWS.some((view) => failed.has(modelKey(view)));
  // Who looks next tries those again that stay.
  const followed = [...stale].filter(([id]) => !failed.has(liveKey(id)));
  if (isModelMade) await dropStale(tx, dialect, { stale: new Map(followed) });
  else if (!due.model && formId !== undefined) await noteLeft(tx, dialect, due.notes, formId);
  return failed.size > 0;
}

const failedForms = ({ failed }: Notes): string[] =>
  [...failed.keys()].map(formOfLive).filter((formId) => formId !== undefined);

/** What is to be made. */
interface Due {
  readonly model: boolean;
  readonly live: boolean;
  readonly notes: Notes;
  /** Whether the view of this key is there. */
  readonly isThere: (key: string) => boolean;
}

async function findDue(
  session: SqlSession,
  dialect: SqlDialect,
  { formId, when }: ViewsAsked,
): Promise<Due> {
  const modelKeys = MODEL_VIEWS.map(modelKey);
  const liveKeys = formId === undefined ? [] : [liveKey(formId)];
  const notes = await readNotes(session, dialect, [...modelKeys, ...liveKeys]);
  const left = new Map(notes.kept.values().map(({ name, state }) => [name, state]));
  const states = await dialect.views.states(session, left);
  const isAsLeft = (key: string): boolean => {
    const kept = notes.kept.get(key);
    return kept !== undefined && states.get(kept.name) === kept.state;
  };
  const isDropped = (key: string): boolean => {
    const kept = notes.kept.get(key);
    return kept !== undefined && !states.has(kept.name);
  };
  const isStale = formId !== undefined && notes.stale.has(formId);
  const hasFailed =
    formId === undefined ? failedForms(notes).length > 0 : notes.failed.has(liveKey(formId));
  return {
    notes,
    isThere: (key) => notes.kept.has(key) && !isDropped(key),
    // While forms come, SQLite's state of every view changes with each of them.
    model:
      notes.stale.size === 0
        ? !modelKeys.every(isAsLeft)
        : when === 'now' ||
          modelKeys.some(isDropped) ||
          (await areWorthMaking(session, dialect, notes, formId)),
    live: isStale || hasFailed || !liveKeys.every(isAsLeft),
  };
}

/** A pass that changed no columns finds that those of other forms, or of its own in an earlier pass, have come to rest. */
async function areWorthMaking(
  session: SqlSession,
  dialect: SqlDialect,
  notes: Notes,
  formId: string | undefined,
): Promise<boolean> {
  const { stale } = notes;
  if (formId === undefined || !stale.has(formId) || wasLeft(notes, formId)) return true;
  const [row] = await session.query(
    `SELECT count(*) AS forms FROM ${dialect.relation('mirror_forms')}`,
  );
  return row === undefined || stale.size >= numberOf(row, 'forms') * WORTH_MAKING;
}

/** What a form's table, its history and its view with labels are, and the columns of them. */
async function formTexts(
  tx: SqlSession,
  dialect: SqlDialect,
  form: ShownForm,
): Promise<RelationTexts[]> {
  const versions = form.history && (await heldVersions(tx, dialect, form.history));
  const columns = { table: form.present, versions: versions?.present };
  return textsOfForm(dialect, form, columns);
}

async function catalogueTexts(tx: SqlSession, dialect: SqlDialect): Promise<RelationTexts[]> {
  const tables = [...(await presentTables(tx, dialect)).keys()];
  return tables.map((name) => {
    const description = CATALOGUE_TEXTS[name]?.description ?? '';
    return { name, kind: 'table', description, columns: {} };
  });
}

/** The forms whose tables are there; one of them, or all. */
async function formsToShow(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string | undefined,
): Promise<ShownForm[]> {
  const forms: (FormTable | undefined)[] =
    formId === undefined ? await loadForms(tx, dialect) : [await loadForm(tx, dialect, formId)];
  const known = forms.filter((form) => form !== undefined);
  const columns = await dialect.columnsOfEach(tx, new Set(known.map(({ table }) => table)));
  return known.flatMap((form) => {
    const present = new Set(columns.get(form.table));
    return SYSTEM_COLUMNS.every((name) => present.has(name)) ? [{ ...form, present }] : [];
  });
}

async function saveMade(
  tx: SqlSession,
  dialect: SqlDialect,
  made: ReadonlyMap<string, string>,
): Promise<void> {
  const states = await dialect.views.states(tx, new Map(made.values().map((name) => [name, ''])));
  for (const [key, name] of made) {
    const kept: KeptView = { name, state: states.get(name) ?? '' };
    await saveView(tx, dialect, key, kept);
  }
}

async function saveFailed(
  tx: SqlSession,
  dialect: SqlDialect,
  { at }: ViewsAsked,
  { notes, isThere }: Due,
  failed: Making['failed'],
): Promise<void> {
  for (const [key, { name, error }] of failed) {
    const why = describeViewFailure(dialect, error);
    await saveFailure(tx, dialect, notes, key, { name, at, isMissing: !isThere(key), ...why });
  }
}

/** Where all that was due failed as one, as when something of the catalogue is locked. */
async function noteAllFailed(
  connection: SqlConnection,
  dialect: SqlDialect,
  asked: ViewsAsked,
  due: Due,
  error: unknown,
): Promise<void> {
  const { formId } = asked;
  const failed: Making['failed'] = new Map();
  for (const view of due.model ? MODEL_VIEWS : []) {
    const key = modelKey(view);
    failed.set(key, { name: due.notes.kept.get(key)?.name ?? view, error });
  }
  const live = due.live && formId !== undefined ? due.notes.kept.get(liveKey(formId)) : undefined;
  if (live !== undefined && formId !== undefined)
    failed.set(liveKey(formId), { name: live.name, error });
  // Where that can't be kept either, the target is in a state that passes and looks tell of.
  await connection.transaction((tx) => saveFailed(tx, dialect, asked, due, failed)).catch(() => {});
}
