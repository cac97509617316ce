import { invalid } from './api-error.ts';
import type { Column, Dataset, Table } from './catalog.ts';
import { objectsAt, textAt, type Raw } from './json-object.ts';
import type { StoreConnection } from './store.ts';
import { checkColumns, checkDescription, columnFor } from './table-schema.ts';
import { addStoredColumn } from './table-store.ts';
import { sameType, sqlName, type BqField } from './types.ts';

/** Has a view's query checked; answers its columns. */
export type ViewReader = (query: string, dataset: Dataset) => Promise<readonly BqField[]>;

/** The columns of a view: named and typed by its query, described by a schema. */
export function viewColumns(fields: readonly BqField[], schema: Raw | undefined): Column[] {
  const described = new Map(
    (schema === undefined ? [] : objectsAt(schema, 'fields')).map((raw) => [
      (textAt(raw, 'name') ?? '').toLowerCase(),
      textAt(raw, 'description'),
    ]),
  );
  for (const name of described.keys()) {
    if (!fields.some((field) => field.name.toLowerCase() === name)) {
      throw invalid(`Schema of the view does not match its query: ${name} is not in it`);
    }
  }
  const columns = fields.map((field) => {
    const description = described.get(field.name.toLowerCase());
    checkDescription(description);
    return columnFor(field, false, description);
  });
  checkColumns(columns);
  return columns;
}

/** Takes a new schema: columns may be added at any place and described anew, never dropped or given another type. */
export async function changeColumns(
  connection: StoreConnection,
  table: Table,
  columns: readonly Column[],
): Promise<void> {
  const wanted = new Map(columns.map((column) => [column.name.toLowerCase(), column]));
  for (const old of table.columns) {
    const next = wanted.get(old.name.toLowerCase());
    const where = `Provided Schema does not match Table ${table.project}:${table.dataset}.${table.name}.`;
    if (next === undefined) {
      throw invalid(`${where} Field ${old.name} is missing in new schema`);
    }
    if (!sameType(next.type, old.type)) {
      throw invalid(
        `${where} Field ${old.name} has changed type from ${sqlName(old.type)} to ${sqlName(next.type)}`,
      );
    }
    if (next.isRequired && !old.isRequired) {
      throw invalid(`${where} Field ${old.name} has changed mode from NULLABLE to REQUIRED`);
    }
  }
  const known = new Set(table.columns.map(({ name }) => name.toLowerCase()));
  const added = columns.filter(({ name }) => !known.has(name.toLowerCase()));
  const required = added.find(({ isRequired }) => isRequired);
  if (required !== undefined) {
    throw invalid(
      `Provided Schema does not match Table. Cannot add required fields to an existing schema. (field: ${required.name})`,
    );
  }
  if (table.kind === 'TABLE') {
    for (const column of added) await addStoredColumn(connection, table, column);
  }
  const kept = table.columns.map((old) => {
    const next = wanted.get(old.name.toLowerCase());
    return next === undefined ? old : { ...next, name: old.name };
  });
  table.columns = [...kept, ...added];
}
