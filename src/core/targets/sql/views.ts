import type { FormState } from '../../mirror/form-state.ts';
import {
  type Database,
  type Dialect,
  quoted,
  type Session,
  type SqlField,
  textOf,
  type ViewedForm,
} from './database.ts';
import { inSavepoint } from './savepoint.ts';

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
  const notes: string[] = [];
  const wanted = dialect.views(await viewedForms(tx, dialect), history);
  const [row] = await tx.query('SELECT value FROM _mirror_records WHERE name = $1', [KEPT]);
  const made = new Map(
    Object.entries(
      row === undefined ? {} : (JSON.parse(textOf(row['value'])) as Record<string, string>),
    ),
  );
  const relations = await dialect.relations(tx);
  const next = new Map<string, string>();
  let isChanged = row === undefined;
  for (const name of [...made.keys()].filter((each) => !wanted.has(each)).toReversed()) {
    if (relations.get(name) === 'view') await tx.run(`DROP VIEW IF EXISTS ${quoted(name)}`);
    isChanged = true;
  }
  for (const [name, sql] of wanted) {
    const isOurs = made.has(name) || !relations.has(name);
    const isThere = relations.get(name) === 'view' && made.get(name) === sql;
    if (isThere) {
      next.set(name, sql);
      continue;
    }
    isChanged = true;
    if (!isOurs || relations.get(name) === 'table') {
      notes.push(`The view ${name} was not made: something else has that name.`);
      continue;
    }
    try {
      await inSavepoint(tx, () => dialect.putView(tx, name, sql));
      next.set(name, sql);
    } catch (error) {
      notes.push(`The view ${name} could not be brought up to date: ${(error as Error).message}`);
    }
  }
  if (!isChanged) return notes;
  await tx.run(
    `INSERT INTO _mirror_records (name, revision, value) VALUES ($1, 1, $2)
       ON CONFLICT (name) DO UPDATE SET revision = _mirror_records.revision + 1, value = excluded.value`,
    [KEPT, JSON.stringify(Object.fromEntries(next))],
  );
  return notes;
}

async function viewedForms(tx: Session, dialect: Dialect): Promise<ViewedForm[]> {
  const forms: ViewedForm[] = [];
  for (const row of await tx.query('SELECT state, fields FROM _mirror_state ORDER BY form_id')) {
    const { formId, slug, name, place } = JSON.parse(textOf(row['state'])) as FormState;
    const fields = JSON.parse(textOf(row['fields'])) as SqlField[];
    const columns = await dialect.columnsOf(tx, place);
    if (columns.has('id')) forms.push({ formId, slug, name, table: place, columns, fields });
  }
  return forms;
}
