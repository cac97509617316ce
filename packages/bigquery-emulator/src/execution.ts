import { invalidQuery, notDone, type ApiError } from './api-error.ts';
import { shownName, type Table } from './catalog.ts';
import { columnName, type Placeholder } from './emit.ts';
import type { Prepared } from './statement.ts';
import type { Bindings, StoreConnection } from './store.ts';
import type { BqField, BqValue } from './types.ts';
import { outputSql, valueOf } from './values.ts';

/** The rows of a query with their types. */
export interface Rows {
  readonly fields: readonly BqField[];
  readonly rows: readonly (readonly BqValue[])[];
}

/** Rows changed by a statement. */
export interface DmlCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

/** A connection with the values of a statement: each SQL text is given those that it names. */
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

/** Runs a query statement, or any scan with named outputs. */
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
  // DuckDB keeps the order of what it reads, so that sorted rows stay sorted through this SELECT.
  const sql = `SELECT ${columns.join(', ')} FROM (${writer.scan(node.child('query'))})`;
  const rows = await execution.rows(sql);
  const values = rows.map((row) => row.map(valueOf));
  for (const [index, { name, type }] of fields.entries()) {
    if (type.kind !== 'ARRAY') continue;
    if (values.some((row) => hasNullElement(row[index]))) throw nullElement(name);
  }
  return { fields, rows: values };
}

const hasNullElement = (value: BqValue | undefined): boolean =>
  Array.isArray(value) && value.includes(null);

/** Arrays with NULL in them may neither leave a query nor be stored. */
export const nullElement = (field: string): ApiError =>
  invalidQuery(`Array cannot have a null element; error in writing field ${field}`);

/** The value of an expression. */
export async function runExpression(execution: Execution, prepared: Prepared): Promise<BqValue> {
  const { node, writer } = prepared;
  const sql = `SELECT ${outputSql(writer.expression(node), node.type())}`;
  const [row] = await execution.rows(sql);
  return valueOf(row?.[0]);
}

/** The table of the store that a statement changes. */
export function targetOf(prepared: Prepared): Table {
  const name = prepared.node.child('tableScan').child('table').text('fullName');
  const table = prepared.names.local.get(name);
  if (table === undefined) throw notDone('changes of INFORMATION_SCHEMA');
  if (table.kind === 'VIEW') {
    throw invalidQuery(
      `${shownName(table)} is not allowed for this operation because it is currently a VIEW.`,
    );
  }
  return table;
}
