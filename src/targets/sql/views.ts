import type { Database } from './database.ts';
import { type Dialect, quoted, relationsOf, type Session, textOf } from './dialect.ts';
import { publicViews, viewedForms } from './form-views.ts';
import { describedRelations } from './relations.ts';

const KEPT = 'views';

/** As {@link makeViews}, in a transaction of its own. */
export const rebuildViews = (database: Database, history: boolean): Promise<string[]> =>
  database.transaction((tx) => makeViews(tx, database.dialect, history));

/**
 * Makes the views that are missing or no longer as they should be. What could not be made, a sentence for each: it is tried
 * again at the end of the next run.
 */
export async function makeViews(
  tx: Session,
  dialect: Dialect,
  history: boolean,
): Promise<string[]> {
  await dialect.alone(tx);
  const notes: string[] = [];
  const forms = await viewedForms(tx, dialect);
  const wanted = publicViews(dialect.views, forms, history);
  const kept = await readKept(tx);
  const made = new Map(Object.entries(kept ?? {}));
  const relations = await relationsOf(tx, dialect);
  const isMade = (name: string): boolean =>
    relations.get(name) === 'view' && made.get(name) === wanted.get(name);
  const gone = [...made.keys()].filter((name) => !wanted.has(name)).toReversed();
  const open = [...wanted].filter(([name]) => !isMade(name));
  if (kept !== null && gone.length + open.length === 0) return notes;
  const isOurs = (name: string): boolean =>
    !relations.has(name) || (made.has(name) && relations.get(name) === 'view');
  const next = new Map(made);
  for (const [name] of open) if (isOurs(name)) next.set(name, NOT_AS_WANTED);
  // Before they are made, for a database that commits with each of them: those that a killed process leaves are ours.
  await keep(tx, dialect, next);
  for (const name of gone) {
    if (relations.get(name) === 'view') await tx.run(`DROP VIEW IF EXISTS ${quoted(name)}`);
    next.delete(name);
  }
  for (const [name, sql] of open) {
    if (!isOurs(name)) {
      notes.push(`The view ${name} was not made: something else has that name.`);
      next.delete(name);
      continue;
    }
    try {
      await dialect.putView(tx, name, sql);
      next.set(name, sql);
    } catch (error) {
      notes.push(`The view ${name} could not be brought up to date: ${(error as Error).message}`);
      if (!relations.has(name)) next.delete(name);
    }
  }
  await keep(tx, dialect, next);
  await dialect.comment?.(tx, describedRelations(forms, await relationsOf(tx, dialect), history));
  return notes;
}

/** The record of a view of ours that shows something else. */
const NOT_AS_WANTED = '';

/** The SELECTs of the views that were made, by name; null before the first. */
async function readKept(tx: Session): Promise<Record<string, string> | null> {
  const [row] = await tx.query('SELECT value FROM _mirror_records WHERE name = $1', [KEPT]);
  return row === undefined ? null : (JSON.parse(textOf(row['value'])) as Record<string, string>);
}

async function keep(
  tx: Session,
  dialect: Dialect,
  made: ReadonlyMap<string, string>,
): Promise<void> {
  await tx.run(
    `INSERT INTO _mirror_records (name, revision, value) VALUES ($1, 1, $2) ${dialect.onConflict(['name'], ['value'])}`,
    [KEPT, JSON.stringify(Object.fromEntries(made))],
  );
}
