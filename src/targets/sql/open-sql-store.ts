import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import type { Store } from '../../mirror/port.ts';
import { type KeptHistory, SqlStore } from './store.ts';

/** How a target in a database is opened. */
export interface OpenSqlOptions {
  /** As the settings name it, for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly history: KeptHistory;
}

/** Opens a target in a SQL database by its address. Loads the driver of its kind and no other; connects at first use. */
export async function openSqlStore(url: string, options: OpenSqlOptions): Promise<Store> {
  const placeOf = (shown: string): string => `Target ${options.name} (${shown})`;
  if (/^sqlite:/i.test(url)) {
    const { SqliteDatabase } = await import('./sqlite/sqlite-database.ts');
    const { parseSqliteUrl } = await import('./sqlite/sqlite-address.ts');
    const path = parseSqliteUrl(url);
    const database = new SqliteDatabase(path, options.clock, placeOf(`sqlite:${path}`));
    return new SqlStore(database, { ...options, address: { database: null, schema: 'main' } });
  }
  if (/^postgres(?:ql)?:/i.test(url)) {
    const { PostgresDatabase } = await import('./postgres/postgres-database.ts');
    const { parsePostgresUrl } = await import('./postgres/postgres-address.ts');
    const parsed = parsePostgresUrl(url);
    const database = new PostgresDatabase(parsed, placeOf(parsed.shown));
    const address = { database: parsed.database, schema: parsed.schema };
    return new SqlStore(database, { ...options, address });
  }
  if (/^(?:mysql|mariadb):/i.test(url)) {
    const { MysqlDatabase } = await import('./mysql/mysql-database.ts');
    const { parseMysqlUrl } = await import('./mysql/mysql-address.ts');
    const parsed = parseMysqlUrl(url);
    const database = new MysqlDatabase(parsed, placeOf(parsed.shown));
    const address = { database: parsed.database, schema: parsed.database };
    return new SqlStore(database, { ...options, address });
  }
  throw new MirrorError(
    'SETTINGS',
    `The address of target ${options.name} names no database that is supported here.`,
  );
}
