import { invalidQuery, notDone } from './api-error.ts';
import { shownName, type Table } from './catalog.ts';
import { columnName, type Placeholder } from './emit.ts';
import type { Prepared } from './statement.ts';
import type { Bindings, StoreConnection } from './store.ts';
import type { BqField, BqType, BqValue } from './types.ts';

/** The rows of a query with their types. */
export interface Rows {
  readonly fields: readonly BqField[];
  readonly rows: readonly (readonly BqValue[])[];
}

/** A connection with the values of a statement: each SQL text gets those that it names. */
export class Execution {
  readonly connection: StoreConnection;
  readonly #valueFor: (placeholder: Placeholder) => string | null;
  readonly #prepared: Prepared;

  constructor(
    connection: StoreConnection,
    prepared: Prepared,
    valueFor: (placeholder: Placeholder) => string | null,
  ) {
    this.connection = connection;
    this.#prepared = prepared;
    this.#valueFor = valueFor;
  }

  run(sql: string): Promise<number> {
    return this.connection.run(sql, this.#bindings(sql));
  }

  rows(sql: string): ReturnType<StoreConnection['rows']> {
    return this.connection.rows(sql, this.#bindings(sql));
  }

  /** The first cell of the first row as a number. */
  async count(sql: string): Promise<number> {
    const [row] = await this.rows(sql);
    return Number(row?.[0] ?? 0);
  }

  #bindings(sql: string): Bindings {
    const named = new Set<string>();
    for (const [, key] of sql.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w+)/g)) {
      if (key !== undefined) named.add(key);
    }
    const used = this.#prepared.writer.placeholders.filter(({ key }) => named.has(key));
    return Object.fromEntries(used.map((one) => [one.key, this.#valueFor(one)]));
  }
}

/** Runs a query statement. */
export async function runQuery(execution: Execution, prepared: Prepared): Promise<Rows> {
  const { node, writer } = prepared;
  node.only('outputColumnList', 'query', 'isValueTable');
  const outputs = node.list('outputColumnList');
  const fields = outputs.map((output) => ({
    name: output.text('name'),
    type: output.column().type,
  }));
  const columns = outputs.map((output, index) => {
    const { id, type } = output.column();
    return `${outputSql(columnName(id), type)} AS o${index}`;
  });
  // DuckDB keeps the order of its input, so sorted rows stay sorted through this SELECT.
  const sql = `SELECT ${columns.join(', ')} FROM (${writer.scan(node.child('query'))})`;
  const rows = await execution.rows(sql);
  return { fields, rows: rows.map((row) => row.map(valueOf)) };
}

/** The value of an expression as DuckDB returns it: text; for a time, its microseconds since the epoch. */
function outputSql(sql: string, type: BqType): string {
  switch (type.kind) {
    case 'STRING':
      return sql;
    case 'TIMESTAMP':
      return `CAST(epoch_us(${sql}) AS VARCHAR)`;
    case 'FLOAT64':
      return `CASE CAST(${sql} AS VARCHAR) WHEN 'nan' THEN 'NaN' WHEN 'inf' THEN 'Infinity' WHEN '-inf' THEN '-Infinity' ELSE CAST(${sql} AS VARCHAR) END`;
    case 'BOOL':
    case 'INT64':
      return `CAST(${sql} AS VARCHAR)`;
    case 'ARRAY':
    case 'STRUCT':
      throw notDone(`results of the type ${type.kind}`);
    default:
      return type satisfies never;
  }
}

/** DuckDB's output: each scalar as text. */
function valueOf(raw: unknown): BqValue {
  if (raw === null || typeof raw === 'string') return raw;
  throw new Error('The store handed out a value that is no text.');
}

/** Runs an ASSERT. */
export async function runAssert(execution: Execution, { node, writer }: Prepared): Promise<void> {
  node.only('expression', 'description');
  const [row] = await execution.rows(`SELECT (${writer.expression(node.child('expression'))})`);
  if (row?.[0] === true) return;
  const description = node.text('description');
  throw invalidQuery(description === '' ? 'Assertion failed' : `Assertion failed: ${description}`);
}

/** The table of the store that a statement changes. */
export function targetOf(prepared: Prepared): Table {
  const name = prepared.node.child('tableScan').child('table').text('fullName');
  const table = prepared.names.local.get(name);
  if (table === undefined) throw new Error(`Nobody resolved the table ${name}.`);
  if (table.kind === 'VIEW') {
    throw invalidQuery(
      `${shownName(table)} is not allowed for this operation because it is currently a VIEW.`,
    );
  }
  return table;
}
