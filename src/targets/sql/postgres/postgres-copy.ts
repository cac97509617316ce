import type { StorableRow } from '../dialect.ts';
import { quoted, type SqlSession } from '../sql-session.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import type { BatchColumn, BatchTable } from './postgres-batch.ts';
import { isRefusedCopy } from './postgres-errors.ts';
import { qualified } from './postgres-names.ts';

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
 * Stores rows that the table does not have by COPY, the fastest way in. False, and nothing is stored, where the server
 * refuses one of them or took another writer's meanwhile: what it is, a statement with INSERT tells better.
 */
export async function copyNew(
  tx: SqlSession,
  { schema, table, columns }: BatchTable,
  rows: readonly StorableRow[],
  at: string,
): Promise<boolean> {
  if (tx.copy === undefined) return false;
  const names = [...columns.map(({ name }) => quoted(name)), '_first_seen_at', '_changed_at'];
  let copied: number;
  try {
    copied = await tx.copy(
      `SAVEPOINT forms_mirror_copy; COPY ${qualified(schema, table)} (${names.join(', ')}) FROM STDIN;
       RELEASE SAVEPOINT forms_mirror_copy`,
      // Of several that wait for each other's rows none may wait in a circle.
      copyText(columns, rows.toSorted(byId), at),
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
      else part += SPECIAL.test(value) ? value.replace(EACH_SPECIAL, escaped) : value;
    }
    part += end;
    if (part.length < CHARACTERS_A_PART) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}

const byId = (a: StorableRow, b: StorableRow): number => (a.id < b.id ? -1 : 1);

const escaped = (character: string): string => ESCAPED[character] ?? character;
