import { isDeepStrictEqual } from 'node:util';
import { listForms, loadForm, saveFields, saveForm, saveHistory } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import type { FormTable } from './field-column.ts';
import { type SqlSession, textOf } from './sql-session.ts';
import { noteStaleViews } from './view-notes.ts';

/*
 * Which table is a form's, and which column a field's, is nothing that could be found out again: labels and names change.
 * So `mirror_meta` holds a copy of each form's part of `mirror_forms` and `mirror_fields`, written with them; where rows or
 * whole tables of these two are gone, they are restored from it.
 */

const PREFIX = 'form ';

/** Writes the copy of a form, if it is not as the form is: views have to follow it then. */
export async function saveCopy(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
): Promise<void> {
  const value = JSON.stringify(form);
  const meta = dialect.relation('mirror_meta');
  const key = PREFIX + form.form.id;
  const [row] = await tx.query(`SELECT value FROM ${meta} WHERE "key" = $1`, [key]);
  // Whatever the order of its properties: that of a form which was read differs from that of one which was made.
  if (row !== undefined && isSame(textOf(row, 'value'), value)) return;
  await noteStaleViews(tx, dialect, form.form.id);
  await tx.query(
    `INSERT INTO ${meta} ("key", value) VALUES ($1, $2) ON CONFLICT ("key") DO UPDATE SET value = excluded.value`,
    [key, value],
  );
}

function isSame(stored: string, value: string): boolean {
  if (stored === value) return true;
  try {
    return isDeepStrictEqual(JSON.parse(stored), JSON.parse(value));
  } catch {
    // Only another program writes anything else.
    return false;
  }
}

/** Writes the copies of all forms of the catalogue. */
export async function saveCopies(tx: SqlSession, dialect: SqlDialect): Promise<void> {
  for (const { id } of await listForms(tx, dialect)) {
    const form = await loadForm(tx, dialect, id);
    if (form !== undefined) await saveCopy(tx, dialect, form);
  }
}

/** IDs of the forms that there is a copy of. */
export async function copiedForms(session: SqlSession, dialect: SqlDialect): Promise<string[]> {
  const rows = await session.query(
    `SELECT "key" FROM ${dialect.relation('mirror_meta')} WHERE "key" LIKE '${PREFIX}%'`,
  );
  return rows.map((row) => textOf(row, 'key').slice(PREFIX.length));
}

/**
 * Restores what the catalogue lacks of a form and its copy has. The names of the tables of which rows were restored; when
 * they were first seen is told by the history of labels, as far as that goes.
 */
export async function restoreForm(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  at: string,
): Promise<string[]> {
  const copy = await readCopy(tx, dialect, formId);
  if (copy === undefined) return [];
  const restored: string[] = [];
  const known = await loadForm(tx, dialect, formId);
  if (known === undefined) {
    await saveForm(tx, dialect, copy.form, copy, at);
    await saveHistory(tx, dialect, formId, copy.history ?? null);
    await dateBack(tx, dialect, 'mirror_forms', formId);
    restored.push('mirror_forms');
  }
  const fields = (await loadForm(tx, dialect, formId))?.fields ?? [];
  const there = new Set(fields.map(({ id }) => id));
  const missing = copy.fields.filter(({ id }) => !there.has(id));
  if (missing.length > 0) {
    await saveFields(tx, dialect, formId, missing, at);
    await dateBack(tx, dialect, 'mirror_fields', formId);
    restored.push('mirror_fields');
  }
  return restored;
}

/** The copy of a form as it is written, which changes with whatever changes of the form; undefined where there is none. */
export async function readCopyText(
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<string | undefined> {
  const [row] = await session.query(
    `SELECT value FROM ${dialect.relation('mirror_meta')} WHERE "key" = $1`,
    [PREFIX + formId],
  );
  return row && textOf(row, 'value');
}

async function readCopy(
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<FormTable | undefined> {
  const text = await readCopyText(session, dialect, formId);
  return text === undefined ? undefined : toCopy(text);
}

function toCopy(text: string): FormTable | undefined {
  try {
    return JSON.parse(text) as FormTable;
  } catch {
    // Only another program writes anything else.
    return undefined;
  }
}

/** The copies of all forms. */
export async function readCopies(session: SqlSession, dialect: SqlDialect): Promise<FormTable[]> {
  const rows = await session.query(
    `SELECT value FROM ${dialect.relation('mirror_meta')} WHERE "key" LIKE '${PREFIX}%' ORDER BY "key"`,
  );
  return rows.map((row) => toCopy(textOf(row, 'value'))).filter((copy) => copy !== undefined);
}

/** What was restored was first seen when its first label was, at the latest. */
async function dateBack(
  tx: SqlSession,
  dialect: SqlDialect,
  table: 'mirror_forms' | 'mirror_fields',
  formId: string,
): Promise<void> {
  const name = dialect.relation(table);
  const sameField = table === 'mirror_fields' ? `AND h.field_id = ${table}.field_id` : '';
  await tx.query(
    `UPDATE ${name} SET first_seen_at = coalesce(
       (SELECT min(valid_from) FROM ${dialect.relation('mirror_label_history')} AS h
        WHERE h.form_id = $1 ${sameField}), first_seen_at)
     WHERE form_id = $1`,
    [formId],
  );
}
