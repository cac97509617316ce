import { partsOf } from './answer-parts.ts';
import type { Catalogue } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from './field-column.ts';
import { heldTable } from './erasure.ts';
import { dropCheckpoint } from './pass-records.ts';
import { clearVersions, heldVersions } from './row-history.ts';
import { noteScrub } from './scrubbing.ts';
import { requireNone } from './swallowed-writes.ts';
import { numberOf, quoted, type SqlSession, textOf } from './sql-session.ts';

/*
 * Fields whose columns were emptied (L18). `mirror_emptied` says which: looking for a value in an empty column would read
 * the whole table. The note goes when the field is prepared again.
 */

/** The fields of each form that were emptied. */
export async function readEmptied({
  session,
  dialect,
}: Catalogue): Promise<Map<string, Set<string>>> {
  const rows = await session.query(
    `SELECT form_id, field_id FROM ${dialect.relation('mirror_emptied')}`,
  );
  const byForm = Map.groupBy(rows, (row) => textOf(row, 'form_id'));
  return new Map(
    [...byForm].map(([form, fields]) => [
      form,
      new Set(fields.map((row) => textOf(row, 'field_id'))),
    ]),
  );
}

/** The columns of a table that hold answers to some fields. */
interface Place {
  readonly condition: string;
  /** Sets them to nothing. */
  readonly changes: readonly string[];
}

/** Where answers to these fields are in the columns `present`; undefined when there is no such column. */
function placeOf(
  dialect: SqlDialect,
  fields: readonly FieldColumn[],
  present: ReadonlySet<string>,
): Place | undefined {
  const parts = partsOf(fields);
  const own = parts
    .filter(({ storage, name }) => storage === 'column' && present.has(name))
    .map(({ name }) => name);
  const keys = parts.filter(({ storage }) => storage === 'more').map(({ name }) => name);
  const rest = keys.length > 0 && present.has(MORE_COLUMN);
  const without = dialect.withoutKeys(MORE_COLUMN, keys);
  const conditions = [
    ...own.map((column) => `${quoted(column)} IS NOT NULL`),
    ...(rest ? [`${MORE_COLUMN} IS DISTINCT FROM ${without}`] : []),
  ];
  if (conditions.length === 0) return undefined;
  return {
    condition: conditions.join(' OR '),
    changes: [
      ...own.map((column) => `${quoted(column)} = NULL`),
      ...(rest ? [`${MORE_COLUMN} = ${without}`] : []),
    ],
  };
}

/** How many rows hold an answer to one of these fields, and how many of their former versions do. */
export async function countFilled(
  session: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  fields: readonly FieldColumn[],
  present: ReadonlySet<string>,
): Promise<{ readonly rows: number; readonly versions: number }> {
  const count = async (
    table: string,
    columns: ReadonlySet<string>,
    which: string,
  ): Promise<number> => {
    const place = placeOf(dialect, fields, columns);
    if (place === undefined) return 0;
    const [row] = await session.query(
      `SELECT count(*) AS filled FROM ${dialect.relation(table)} WHERE (${place.condition})${which}`,
    );
    return row === undefined ? 0 : numberOf(row, 'filled');
  };
  const held = form.history ? await heldVersions(session, dialect, form.history) : undefined;
  return {
    rows: await count(form.table, present, ''),
    versions: held
      ? await count(held.table, new Set(held.present), ' AND _valid_to IS NOT NULL')
      : 0,
  };
}

/** Empties the columns of these fields; how many rows, and former versions of rows, held something. */
export async function emptyFields(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  fieldIds: readonly string[],
  at: string,
): Promise<number> {
  const held = await heldTable(tx, dialect, form);
  const fields = form.fields.filter(({ id }) => fieldIds.includes(id));
  const present = held?.present ?? new Set<string>();
  const place = placeOf(dialect, fields, present);
  const filled = await countFilled(tx, dialect, form, fields, present);
  if (dialect.scrubs) await noteScrub(tx, dialect, form.form.id, at);
  if (place !== undefined && filled.rows > 0) {
    await tx.query(
      `UPDATE ${dialect.relation(form.table)} SET ${[...place.changes, '_changed_at = $1'].join(', ')}
       WHERE ${place.condition}`,
      [dialect.timeValue(at)],
    );
    await requireNone(tx, dialect, form.table, [place.condition, []]);
  }
  await clearVersions(tx, dialect, form, new Set(fieldIds), 'all');
  for (const { id } of fields) {
    await tx.query(
      `INSERT INTO ${dialect.relation('mirror_emptied')} (form_id, field_id, emptied_at) VALUES ($1, $2, $3)
       ON CONFLICT (form_id, field_id) DO UPDATE SET emptied_at = excluded.emptied_at`,
      [form.form.id, id, dialect.timeValue(at)],
    );
  }
  return filled.rows + filled.versions;
}

/** Fields that are prepared are filled again: everything has to be read where one of them was emptied. */
export async function refillFields(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  fieldIds: readonly string[],
): Promise<void> {
  const rows = await tx.query(
    `DELETE FROM ${dialect.relation('mirror_emptied')}
     WHERE form_id = $1 AND ${dialect.isIn('field_id', '$2')} RETURNING field_id`,
    [formId, dialect.list(fieldIds)],
  );
  if (rows.length > 0) await dropCheckpoint(tx, dialect, formId);
}
