import type { StorableRow } from '../dialect.ts';
import { booleanOf, quoted, type SqlSession } from '../sql-session.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import type { BatchColumn, BatchTable } from './postgres-batch.ts';
import { isRefusedCopy } from './postgres-errors.ts';
import { literal, qualified } from './postgres-names.ts';
import { keysOf } from './postgres-tables.ts';

/** Characters of text sent at once: the server takes in one part while the next is written. */
const CHARACTERS_A_PART = 65_536;

/** What the text format of COPY gives a meaning to; every other character stands for itself. */
const SPECIAL = /[\\\n\r\t]/;
const EACH_SPECIAL = /[\\\n\r\t]/g;
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};
const NULL = '\\N';

/**
 * Stores rows by COPY, the fastest way in, where the table is as it was made. Unless they look new, nothing is tried where one
 * of them is there: a COPY in vain leaves dead rows in the table, and an error in the server's log. False, and nothing is
 * stored, otherwise, and where the server refuses one of them, as it does one that is there: what it is, a statement with
 * INSERT tells better.
 */
export async function copyNew(
  tx: SqlSession,
  batch: BatchTable,
  rows: readonly StorableRow[],
  { at, looksNew }: { readonly at: string; readonly looksNew: boolean },
): Promise<boolean> {
  const ids = looksNew ? [] : rows.map(({ id }) => id);
  if (tx.copy === undefined || !(await isReady(tx, batch, ids))) return false;
  const { schema, table, columns } = batch;
  const names = [...columns.map(({ name }) => quoted(name)), '_first_seen_at', '_changed_at'];
  let copied: number;
  try {
    copied = await tx.copy(
      `SAVEPOINT forms_mirror_copy; COPY ${qualified(schema, table)} (${names.join(', ')}) FROM STDIN;
       RELEASE SAVEPOINT forms_mirror_copy`,
      copyText(columns, inOrder(rows), at),
    );
  } catch (error) {
    if (!isRefusedCopy(error)) throw error;
    await tx.exec('ROLLBACK TO SAVEPOINT forms_mirror_copy; RELEASE SAVEPOINT forms_mirror_copy');
    return false;
  }
  const swallowed = rows.length - copied;
  if (swallowed > 0) throw new SwallowedWrites(`${schema}.${table}`, swallowed);
  return true;
}

/** See {@link SqlDialect.addRows}. */
export async function copyTexts(
  tx: SqlSession,
  relation: string,
  columns: readonly string[],
  rows: Iterable<readonly string[]>,
): Promise<boolean> {
  if (tx.copy === undefined) return false;
  const lines: string[] = [];
  for (const row of rows) lines.push(`${row.map(copied).join('\t')}\n`);
  await tx.copy(`COPY ${relation} (${columns.join(', ')}) FROM STDIN`, [lines.join('')]);
  return true;
}

/** Of what the server counts on, as it numbers them: https://www.postgresql.org/docs/current/catalog-pg-type.html */
const TYPE_OIDS = { text: '25', timestamptz: '1184', numeric: '1700', jsonb: '3802' };

/**
 * True when the table has none of these IDs and is as it was made, so that COPY stores in it what INSERT would, and refuses
 * rows that are there: people retype columns, drop keys, have tables inherit it, and give it rules. Nobody changes that (ALTER) before the
 * transaction ends, as the table is named here.
 */
async function isReady(
  tx: SqlSession,
  { schema, table, columns }: BatchTable,
  ids: readonly string[],
): Promise<boolean> {
  const relation = qualified(schema, table);
  // A count, not EXISTS: for the first of many the planner reads the table from its start, and here there is none to find.
  const [answer] = await tx.query(
    `SELECT c.relkind = 'r' AND NOT c.relhasrules AND NOT c.relhassubclass AND EXISTS (SELECT ${keysOf('c.oid')})
      AND NOT EXISTS (
        SELECT 1 FROM unnest($2::text[], $3::oid[]) AS b(name, type)
        WHERE NOT EXISTS (SELECT 1 FROM pg_attribute AS a
          WHERE a.attrelid = c.oid AND a.attname = b.name AND a.atttypid = b.type))
      AND (SELECT count(*) FROM ${relation} WHERE id = ANY($1::text[])) = 0 AS is_ready
     FROM pg_class AS c WHERE c.oid = ${literal(relation)}::regclass`,
    [ids, columns.map(({ name }) => name), columns.map(({ type }) => TYPE_OIDS[type])],
  );
  return answer !== undefined && booleanOf(answer, 'is_ready');
}

/** The rows in the text format of COPY, in parts. */
function* copyText(
  columns: readonly BatchColumn[],
  rows: readonly StorableRow[],
  at: string,
): Generator<string> {
  const end = `\t${at}\t${at}\n`;
  let part = '';
  for (const row of rows) {
    let isFirst = true;
    for (const { valueOf } of columns) {
      if (isFirst) isFirst = false;
      else part += '\t';
      const value = valueOf(row);
      if (value === null) part += NULL;
      // No call for each of them: there are millions.
      else part += SPECIAL.test(value) ? value.replace(EACH_SPECIAL, escaped) : value;
    }
    part += end;
    if (part.length < CHARACTERS_A_PART) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}

/** Before these, units of UTF-16 are in the order of the bytes of UTF-8. */
const SURROGATE_OR_LATER = /[\uD800-\uFFFF]/;

/** By the bytes of their IDs, as the upsert has them: of several that wait for each other's rows none may wait in a circle. */
function inOrder(rows: readonly StorableRow[]): StorableRow[] {
  if (!rows.some(({ id }) => SURROGATE_OR_LATER.test(id))) {
    return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }
  return rows.toSorted((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
}

const copied = (value: string): string =>
  SPECIAL.test(value) ? value.replace(EACH_SPECIAL, escaped) : value;

const escaped = (character: string): string => ESCAPED[character] ?? character;
