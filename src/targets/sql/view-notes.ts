import { randomUUID } from 'node:crypto';
import type { SqlDialect } from './dialect.ts';
import { MODEL_VIEWS, type ModelView } from './model-views.ts';
import { type SqlSession, textOf } from './sql-session.ts';

/*
 * What `mirror_meta` keeps of the views over all forms and of live rows: the name of each and how it was left, and which forms
 * have other columns since, written with the change.
 */

const PREFIX = 'view ';
const STALE = `${PREFIX}stale `;
/** The key of a form's view of live rows. */
export const liveKey = (formId: string): string => `${PREFIX}live ${formId}`;
/** The key of a view over all forms. */
export const modelKey = (view: ModelView): string => PREFIX + view;

/** A view as it was left. */
export interface KeptView {
  readonly name: string;
  readonly state: string;
  /** See {@link viewsText}; an earlier release kept none. */
  readonly text?: string | undefined;
}

/** What `mirror_meta` says of views, by key. */
export interface Notes {
  readonly kept: ReadonlyMap<string, KeptView>;
  /** By ID of the form a value, which is another one after each change. */
  readonly stale: ReadonlyMap<string, string>;
}

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
      const name = keptView(textOf(row, 'value'))?.name;
      const formId = textOf(row, 'key').slice(liveKey('').length);
      return name === undefined ? [] : [[formId, name] as const];
    }),
  );
}

/** What is kept under these keys, and all that is stale. */
export async function readNotes(
  session: SqlSession,
  dialect: SqlDialect,
  keys: readonly string[],
): Promise<Notes> {
  const rows = await session.query(
    `SELECT "key", value FROM ${dialect.relation('mirror_meta')} WHERE ${dialect.beginsWith('"key"', STALE)} OR ${dialect.isIn('"key"', '$1')}`,
    [dialect.list(keys)],
  );
  const kept = new Map<string, KeptView>();
  const stale = new Map<string, string>();
  for (const row of rows) {
    const [key, value] = [textOf(row, 'key'), textOf(row, 'value')];
    const view = key.startsWith(STALE) ? undefined : keptView(value);
    if (view !== undefined) kept.set(key, view);
    else if (key.startsWith(STALE)) stale.set(key.slice(STALE.length), value);
  }
  return { kept, stale };
}

function keptView(value: string): KeptView | undefined {
  try {
    return JSON.parse(value) as KeptView;
  } catch {
    // Only another program writes anything else.
    return undefined;
  }
}

/** Drops these notes of stale views. What changed since they were read has another value, and stays. */
export async function dropStale(
  tx: SqlSession,
  dialect: SqlDialect,
  { stale }: Notes,
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
