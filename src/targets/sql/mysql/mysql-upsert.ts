import { type Batch, type ColumnType, type Dialect, quoted } from '../dialect.ts';
import { STAGE, type Staging } from '../staged-upsert.ts';
import { RowTooLarge } from './mysql-errors.ts';
import { textLiteral, valueLiteral } from './mysql-literal.ts';
import type { MysqlSession } from './mysql-connection.ts';

/**
 * The rows go into a temporary table, which is joined to the form's table: rows that differ are updated, missing rows inserted.
 * Not `ON DUPLICATE KEY UPDATE`, which would take a row of another submission for this one where people added a unique key.
 */
export const mysqlStaging = (types: Dialect['types']): Staging => {
  const joined = (to: string): string => `${STAGE} AS s LEFT JOIN ${to} AS t ON t.id = s.id`;
  // From the staged rows to the table by its key, although the server may estimate their sizes otherwise.
  const matched = (to: string): string => `${STAGE} AS s STRAIGHT_JOIN ${to} AS t ON t.id = s.id`;
  return {
    stage: (tx, { columns, rows }) => stage(tx as MysqlSession, columns, rows, types),
    joined,
    matched,
    differs: (names) => `NOT (${names.map((name) => `t.${name} <=> s.${name}`).join(' AND ')})`,
    async store(tx, { to, names, at, isOther, areNew }) {
      const time = textLiteral(at);
      if (areNew !== 'all')
        await tx.run(
          `UPDATE ${matched(to)} SET ${names.map((name) => `t.${name} = s.${name}`).join(', ')}, t._changed_at = ${time}, t._deleted_at = NULL
           WHERE ${isOther}`,
        );
      if (areNew === 'none') return;
      const from = areNew === 'all' ? `${STAGE} AS s` : `${joined(to)} WHERE t.id IS NULL`;
      await tx.run(
        `INSERT INTO ${to} (id, ${names.join(', ')}, _first_seen_at, _changed_at)
         SELECT s.id, ${names.map((name) => `s.${name}`).join(', ')}, ${time}, ${time} FROM ${from}`,
      );
    },
    // A trigger, or a column of which a person changed the type: the server rounds numbers to it.
    mayAlter: async () => true,
    answers: (names) =>
      `json_object(${names.map((name) => `${textLiteral(name)}, t.${quoted(name)}`).join(', ')})`,
    unlessThere: 'ON DUPLICATE KEY UPDATE _mirror_versions.form_id = _mirror_versions.form_id',
    timeOf: (param) => param,
  };
};

/** Fills the temporary table, by statements of as many rows as there is room for. */
async function stage(
  session: MysqlSession,
  columns: Batch['columns'],
  rows: Batch['rows'],
  { id, text, time, ...types }: Dialect['types'],
): Promise<void> {
  const typeOf = (type: ColumnType): string => (type === 'text' ? text : types[type]);
  const own = columns.map(({ name, type }) => `, ${quoted(name)} ${typeOf(type)}`);
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
