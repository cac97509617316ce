import { MirrorError } from '../../../base/errors.ts';
import type { Store } from '../../mirror/port.ts';
import { SqlStore, type SqlStoreOptions } from './store.ts';

/** Opens a target in a SQL database by its address. Loads the driver of its kind and no other. */
export async function openSqlStore(url: string, options: SqlStoreOptions): Promise<Store> {
  if (/^sqlite:/i.test(url)) {
    const { SqliteDatabase } = await import('./sqlite/sqlite-database.ts');
    const path = url.slice('sqlite:'.length);
    return SqlStore.open(await SqliteDatabase.open(path, options.clock), options);
  }
  if (/^postgres(?:ql)?:/i.test(url)) {
    const { PostgresDatabase } = await import('./postgres/postgres-database.ts');
    return SqlStore.open(await PostgresDatabase.open(url), options);
  }
  if (/^(?:mysql|mariadb):/i.test(url)) {
    const { MysqlDatabase } = await import('./mysql/mysql-database.ts');
    return SqlStore.open(await MysqlDatabase.open(url), options);
  }
  throw new MirrorError(
    'SETTINGS',
    `The address of target ${options.name} names no database that is supported here.`,
  );
}
