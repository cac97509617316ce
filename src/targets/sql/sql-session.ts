/** A parameter of a statement. A list goes through {@link SqlDialect.list}. */
export type SqlValue = string | number | bigint | null | readonly (string | null)[];

/** A row of a result, by column name. PostgreSQL gives every value as text, SQLite integers as bigint. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Where statements go. Parameters are written `$1`, `$2`, … in both dialects. Rejects with the driver's own errors. */
export interface SqlSession {
  /** Runs one statement; the rows it returns. */
  query(sql: string, params?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** The same with each row as an array, for wide rows and names that repeat. */
  queryArrays(sql: string, params?: readonly SqlValue[]): Promise<unknown[][]>;
  /** Runs one or more statements without parameters. */
  exec(sql: string): Promise<void>;
  /**
   * Runs statements of which one is a `COPY … FROM STDIN`, which takes these texts; how many rows it stored. Undefined where
   * the database has no such statement.
   */
  readonly copy?: (sql: string, texts: Iterable<string>) => Promise<number>;
  /**
   * Runs a statement of a transaction without waiting for it: those after it find it done, and where it fails, the next one
   * that is waited for fails with the same, and so does the commit. Not for going back to a savepoint, which would hide that
   * from the server. Undefined where it would be waited for all the same.
   */
  readonly send?: (sql: string, params?: readonly SqlValue[]) => void;
}

/** A dedicated connection. Statements outside a transaction wait for a running one to end. */
export interface SqlConnection extends SqlSession {
  /**
   * Runs `work` in a transaction that can write, commits when it resolves and rolls back when it rejects. One at a time;
   * further ones wait. `first`: what it writes matters to later transactions only, so that it need not outlast a power
   * failure before they do, where no process would outlast one either.
   */
  transaction<T>(work: (tx: SqlSession) => Promise<T>, order?: 'first'): Promise<T>;
  close(): Promise<void>;
}

/**
 * Runs `work` in a savepoint: when it rejects, nothing of it stays and the transaction can go on. `name`: another one than
 * that of a savepoint around it, which MySQL would forget.
 */
export async function inSavepoint<T>(
  tx: SqlSession,
  work: () => Promise<T>,
  name = 'forms_mirror',
): Promise<T> {
  await run(tx, `SAVEPOINT ${name}`);
  try {
    const result = await work();
    await run(tx, `RELEASE SAVEPOINT ${name}`);
    return result;
  } catch (error) {
    // If this fails too, the whole transaction is lost; the first error is the cause.
    await tx.exec(`ROLLBACK TO SAVEPOINT ${name}; RELEASE SAVEPOINT ${name}`).catch(() => {});
    throw error;
  }
}

/** Runs a statement of a transaction whose rows nobody needs: see {@link SqlSession.send}. */
export async function run(
  tx: SqlSession,
  sql: string,
  params?: readonly SqlValue[],
): Promise<void> {
  if (tx.send !== undefined) tx.send(sql, params);
  else if (params === undefined) await tx.exec(sql);
  else await tx.query(sql, params);
}

/** The text in a column; throws TypeError when there is none, which is a defect. */
export function textOf(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`no text in column ${column}`);
  return value;
}

/** The text in a column, null when it is empty. */
export function textOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : textOf(row, column);
}

/** The number in a column, however the driver wrote it. */
export function numberOf(row: SqlRow, column: string): number {
  const value = Number(row[column]);
  if (Number.isNaN(value)) throw new TypeError(`no number in column ${column}`);
  return value;
}

/** The truth in a column: 1 and 0 in SQLite, `t` and `f` in PostgreSQL. */
export function booleanOf(row: SqlRow, column: string): boolean {
  const value = row[column];
  return value === true || value === 't' || value === 'true' || Number(value) === 1;
}

/** A name as an identifier, whatever is in it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `($1, $2), ($3, $4)`: placeholders for rows of `width` values. */
export function placeholders(rows: number, width: number): string {
  const row = (first: number): string =>
    `(${Array.from({ length: width }, (_, index) => `$${first + index}`).join(', ')})`;
  return Array.from({ length: rows }, (_, index) => row(index * width + 1)).join(', ');
}

/** `items` in pieces of at most `size`. */
export function* piecesOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** The values of `name` by those of `relation`, in the order of the rows. */
export function columnsByRelation(rows: readonly SqlRow[]): Map<string, string[]> {
  const byRelation = Map.groupBy(rows, (row) => textOf(row, 'relation'));
  return new Map(
    [...byRelation].map(([relation, group]) => [relation, group.map((row) => textOf(row, 'name'))]),
  );
}
