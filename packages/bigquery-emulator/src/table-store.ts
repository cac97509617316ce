import type { Column, Table } from './catalog.ts';
import { quoted } from './emit.ts';
import type { StoreConnection } from './store.ts';
import { duckType } from './types.ts';

/** Changes to tables of the store that the REST interface and DDL share. */

/** Creates the table of the store for the rows. */
export async function createStored(connection: StoreConnection, table: Table): Promise<void> {
  const columns = table.columns.map(columnSql);
  await connection.run(`CREATE TABLE ${table.physical} (${columns.join(', ')})`);
}

const columnSql = ({ name, type, isRequired }: Column): string =>
  `${quoted(name)} ${duckType(type)}${isRequired ? ' NOT NULL' : ''}`;

export async function dropStored(connection: StoreConnection, table: Table): Promise<void> {
  await connection.run(`DROP TABLE IF EXISTS ${table.physical}`);
}

export async function addStoredColumn(
  connection: StoreConnection,
  table: Table,
  column: Column,
): Promise<void> {
  await connection.run(
    `ALTER TABLE ${table.physical} ADD COLUMN ${quoted(column.name)} ${duckType(column.type)}`,
  );
}
