import { randomUUID } from 'node:crypto';
import type { SqlDialect } from './dialect.ts';
import { MODEL_VIEWS, type ModelView } from './model-views.ts';
import { type SqlSession, textOf } from './sql-session.ts';

/*
 * What `mirror_meta` keeps of the views over all forms and of live rows: the name of each and how it was left, which forms
 * have other columns since, written with the change, and which views could not be made when that was tried last.
 */

const PREFIX = 'view ';
const STALE = `${PREFIX}stale `;
const FAILED = `${PREFIX}failed `;
/** The key of a form's view of live rows. */
export const liveKey = (formId: string): string => `${PREFIX}live ${formId}`;
/** The key of a view over all forms. */
export const modelKey = (view: ModelView): string => PREFIX + view;

/** A view as it was left. */
export interface KeptView {
  readonly name: string;
  readonly state: string;
}

/** Why a view is not as it is to be, from when making it first failed until it is made. Holds no answer. */
export interface ViewFailure {
  readonly name: string;
  readonly at: string;
  /** The view was not there then, or is none of ours any more: it shows no form. */
  readonly isMissing: boolean;
  /** See {@link ErrorDescription}. */
  readonly what: string;
  readonly remedy: string;
}

/** What `mirror_meta` says of views, by key. */
export interface Notes {
  readonly kept: ReadonlyMap<string, KeptView>;
  /** By ID of the form a value, which is another one after each change. */
  readonly stale: ReadonlyMap<string, string>;
  /** By key of the view. */
  readonly failed: ReadonlyMap<string, ViewFailure>;
}

/** The form whose live rows the view of this key shows; undefined for a view over all forms. */
export const formOfLive = (key: string): string | undefined =>
  key.startsWith(liveKey('')) ? key.slice(liveKey('').length) : undefined;

/** Notes that views have to follow a form's columns or its table. */
export async function noteStaleViews(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<void> {
  await saveNote(tx, dialect, STALE + formId, randomUUID());
}

/** Begins the value of a note that a pass left to a later one. */
const LEFT = 'left ';

/** Whether the pass that changed the form's columns left the views over all forms to a later one: who meets it changed none. */
export const wasLeft = ({ stale }: Notes, formId: string): boolean =>
  stale.get(formId)?.startsWith(LEFT) === true;

/** Notes that the pass which changed a form's columns leaves the views over all forms to a later one. */
export async function noteLeft(
  tx: SqlSession,
  dialect: SqlDialect,
  { stale }: Notes,
  formId: string,
): Promise<void> {
  const value = stale.get(formId);
  if (value === undefined || value.startsWith(LEFT)) return;
  await tx.query(
    `UPDATE ${dialect.relation('mirror_meta')} SET value = $1 WHERE "key" = $2 AND value = $3`,
    [LEFT + value, STALE + formId, value],
  );
}

/** The names that the views over all forms have, of those that were made. */
export async function modelViewNames(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<ModelView, string>> {
  const { kept } = await readNotes(session, dialect, MODEL_VIEWS.map(modelKey));
  return new Map(
    MODEL_VIEWS.flatMap((view) => {
      const name = kept.get(modelKey(view))?.name;
      return name === undefined ? [] : [[view, name] as const];
    }),
  );
}

/** By form ID the names of the views of live rows, of those that were made. */
export async function liveViewNames(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<string, string>> {
  const rows = await session.query(
    `SELECT "key", value FROM ${dialect.relation('mirror_meta')} WHERE ${dialect.beginsWith('"key"', liveKey(''))}`,
  );
  return new Map(
    rows.flatMap((row) => {
      const name = parsed(textOf(row, 'value'))?.name;
      const formId = textOf(row, 'key').slice(liveKey('').length);
      return name === undefined ? [] : [[formId, name] as const];
    }),
  );
}

/** What is kept under these keys, and all that is stale or could not be made. */
export async function readNotes(
  session: SqlSession,
  dialect: SqlDialect,
  keys: readonly string[],
): Promise<Notes> {
  const [key, ofStale] = ['"key"', dialect.beginsWith('"key"', STALE)];
  const rows = await session.query(
    `SELECT "key", value FROM ${dialect.relation('mirror_meta')} WHERE ${ofStale} OR ${dialect.beginsWith(key, FAILED)} OR ${dialect.isIn(key, '$1')}`,
    [dialect.list(keys)],
  );
  const kept = new Map<string, KeptView>();
  const stale = new Map<string, string>();
  const failed = new Map<string, ViewFailure>();
  for (const row of rows) {
    const [name, value] = [textOf(row, 'key'), textOf(row, 'value')];
    if (name.startsWith(STALE)) stale.set(name.slice(STALE.length), value);
    else if (name.startsWith(FAILED)) {
      const failure = parsed(value);
      if (failure !== undefined) failed.set(PREFIX + name.slice(FAILED.length), failure);
    } else {
      const view = parsed(value);
      if (view !== undefined) kept.set(name, view);
    }
  }
  return { kept, stale, failed };
}

/** What we keep of a view, one way or the other. */
function parsed(value: string): (KeptView & ViewFailure) | undefined {
  try {
    return JSON.parse(value) as KeptView & ViewFailure;
  } catch {
    // Only another program writes anything else.
    return undefined;
  }
}

/** Drops these notes of stale views. What changed since they were read has another value, and stays. */
export async function dropStale(
  tx: SqlSession,
  dialect: SqlDialect,
  { stale }: Pick<Notes, 'stale'>,
): Promise<void> {
  const meta = dialect.relation('mirror_meta');
  for (const [formId, value] of stale) {
    await tx.query(`DELETE FROM ${meta} WHERE "key" = $1 AND value = $2`, [STALE + formId, value]);
  }
}

/** Keeps how a view was left. */
export const saveView = (
  tx: SqlSession,
  dialect: SqlDialect,
  key: string,
  view: KeptView,
): Promise<void> => saveNote(tx, dialect, key, JSON.stringify(view));

/** Keeps why a view could not be made: since when, as it was first, and nothing anew while it fails alike. */
export async function saveFailure(
  tx: SqlSession,
  dialect: SqlDialect,
  { failed }: Notes,
  key: string,
  failure: ViewFailure,
): Promise<void> {
  const before = failed.get(key);
  const now = JSON.stringify({ ...failure, at: before?.at ?? failure.at });
  if (JSON.stringify(before) !== now) await saveNote(tx, dialect, failedKey(key), now);
}

/** Drops what was kept of these views' failures, as they are made. */
export async function dropFailures(
  tx: SqlSession,
  dialect: SqlDialect,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(
    `DELETE FROM ${dialect.relation('mirror_meta')} WHERE ${dialect.isIn('"key"', '$1')}`,
    [dialect.list(keys.map(failedKey))],
  );
}

const failedKey = (key: string): string => FAILED + key.slice(PREFIX.length);

async function saveNote(
  tx: SqlSession,
  dialect: SqlDialect,
  key: string,
  value: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO ${dialect.relation('mirror_meta')} ("key", value) VALUES ($1, $2)
     ON CONFLICT ("key") DO UPDATE SET value = excluded.value`,
    [key, value],
  );
}
