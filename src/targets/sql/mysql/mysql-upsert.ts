import {
  type Batch,
  type ColumnType,
  type Dialect,
  numberOf,
  type Param,
  quoted,
  type Session,
  type VersionPlan,
} from '../database.ts';
import { SWALLOWED } from '../savepoint.ts';
import { RowTooLarge } from './mysql-errors.ts';
import { textLiteral, valueLiteral } from './mysql-literal.ts';
import type { MysqlSession } from './mysql-session.ts';

const STAGE = '_mirror_stage';

/**
 * The rows go into a temporary table, which is joined to the form's table: rows that differ are updated, missing rows inserted.
 * Not `ON DUPLICATE KEY UPDATE`, which would take a row of another submission for this one where people added a unique key.
 */
export async function upsert(
  tx: Session,
  { table, columns, rows, at }: Batch,
  versions: VersionPlan,
  types: Dialect['types'],
): Promise<{ inserted: number; updated: number }> {
  const answers = columns.map(({ name, type }) => ({ name: quoted(name), type }));
  await stage(tx as MysqlSession, answers, rows, types);
  const to = quoted(table);
  const names = ['status', 'created_at', ...answers.map(({ name }) => name)];
  const same = names.map((name) => `t.${name} <=> s.${name}`).join(' AND ');
  const differs = `(t._deleted_at IS NOT NULL OR NOT (${same}))`;
  // From the staged rows to the table by its key, although the server may estimate their sizes otherwise.
  const joined = `${STAGE} AS s STRAIGHT_JOIN ${to} AS t ON t.id = s.id`;
  await keepVersions(
    tx,
    versions,
    at,
    joined,
    versions.answers === null ? 't.status <> s.status' : differs,
  );
  const time = textLiteral(at);
  const updated = await tx.run(
    `UPDATE ${joined} SET ${names.map((name) => `t.${name} = s.${name}`).join(', ')}, t._changed_at = ${time}, t._deleted_at = NULL
     WHERE ${differs}`,
  );
  const list = names.join(', ');
  const inserted = await tx.run(
    `INSERT INTO ${to} (id, ${list}, _first_seen_at, _changed_at)
     SELECT s.id, ${names.map((name) => `s.${name}`).join(', ')}, ${time}, ${time}
     FROM ${STAGE} AS s LEFT JOIN ${to} AS t ON t.id = s.id WHERE t.id IS NULL`,
  );
  // A trigger that people added may have swallowed or changed rows: then the target has failed, and they are not equal.
  const [left] = await tx.query(
    `SELECT count(*) AS n FROM ${STAGE} AS s LEFT JOIN ${to} AS t ON t.id = s.id WHERE t.id IS NULL OR ${differs}`,
  );
  if (numberOf(left?.['n']) > 0)
    throw Object.assign(new Error(`a trigger of the table ${table} swallows or changes rows`), {
      code: SWALLOWED,
    });
  return { inserted, updated };
}

/** Fills the temporary table, by statements of as many rows as there is room for. */
async function stage(
  session: MysqlSession,
  columns: readonly { readonly name: string; readonly type: ColumnType }[],
  rows: Batch['rows'],
  { id, text, time, ...types }: Dialect['types'],
): Promise<void> {
  const own = columns.map(({ name, type }) => `, ${name} ${type === 'text' ? text : types[type]}`);
  await session.run(`DROP TEMPORARY TABLE IF EXISTS ${STAGE}`);
  await session.run(
    `CREATE TEMPORARY TABLE ${STAGE} (id ${id} NOT NULL, status ${text} NOT NULL, created_at ${time}${own.join('')})`,
  );
  const head = `INSERT INTO ${STAGE} VALUES `;
  let [tuples, bytes]: [string[], number] = [[], head.length];
  const write = async (): Promise<void> => {
    if (tuples.length > 0) await session.run(head + tuples.join(','));
    [tuples, bytes] = [[], head.length];
  };
  for (const row of rows) {
    const tuple = `(${row.map(valueLiteral).join(',')})`;
    const size = Buffer.byteLength(tuple) + 1;
    if (head.length + size > session.maxPacket) throw new RowTooLarge();
    if (bytes + size > session.room) await write();
    tuples.push(tuple);
    bytes += size;
  }
  await write();
}

/** See `Dialect.markDeleted`. */
export async function markDeleted(
  tx: Session,
  { table, at, ids }: { table: string; at: string; ids: readonly string[] },
  versions: VersionPlan,
): Promise<number> {
  const to = quoted(table);
  if (versions.answers !== null)
    await keepVersions(tx, versions, at, `${to} AS t`, 't._deleted_at IS NULL AND t.id IN ($4)', [
      ids,
    ]);
  return tx.run(
    `UPDATE ${to} SET _deleted_at = $1, _changed_at = $1 WHERE _deleted_at IS NULL AND id IN ($2)`,
    [at, ids],
  );
}

/** Versions that end: the rows of `t` in `from` that meet a condition. */
async function keepVersions(
  tx: Session,
  { formId, notBefore, answers }: VersionPlan,
  at: string,
  from: string,
  where: string,
  more: readonly Param[] = [],
): Promise<void> {
  const pairs = (answers ?? []).map((name) => `${textLiteral(name)}, t.${quoted(name)}`);
  const kept = answers === null ? 'NULL' : `json_object(${pairs.join(', ')})`;
  await tx.run(
    `INSERT INTO _mirror_versions (form_id, submission_id, until, not_before, status, created_at, deleted_at, answers)
     SELECT $1, t.id, $2, $3, t.status, t.created_at, t._deleted_at, ${kept} FROM ${from} WHERE ${where}
     ON DUPLICATE KEY UPDATE _mirror_versions.form_id = _mirror_versions.form_id`,
    [formId, at, notBefore, ...more],
  );
}
