import { saveCopies } from './catalogue-copy.ts';
import { repairCatalogue } from './catalogue-repair.ts';
import { CATALOGUE_VERSION, catalogueVersion, migrate } from './catalogue-version.ts';
import type { SqlDialect } from './dialect.ts';
import type { FormLock } from './form-lock.ts';
import type { SqlConnection, SqlSession } from './sql-session.ts';

/** Where a catalogue is changed. */
export interface CataloguePlace {
  readonly dialect: SqlDialect;
  /** The target, for messages. */
  readonly place: string;
  /** Now (ISO). */
  readonly at: string;
}

/** Makes the catalogue, brings it to the present version, and makes tables of it again that people dropped. True when it was older. */
export async function healCatalogue(
  connection: SqlConnection,
  { dialect, place, at }: CataloguePlace,
): Promise<boolean> {
  await repairCatalogue(connection, dialect, place, at);
  const isOld = (await catalogueVersion(connection, dialect)) !== CATALOGUE_VERSION;
  if (isOld) await migrate(connection, dialect);
  return isOld;
}

/**
 * Changes what is no form's own in one transaction, under a lock, which is released afterwards; `after` comes before that.
 * Heals the catalogue first.
 */
export async function changeCatalogue<T>(
  lock: FormLock,
  where: CataloguePlace,
  change: (tx: SqlSession) => Promise<T>,
  after: (connection: SqlConnection) => Promise<unknown> = async () => {},
): Promise<T> {
  const { connection } = lock;
  try {
    const migrated = await healCatalogue(connection, where);
    const result = await connection.transaction(async (tx) => {
      if (migrated) await saveCopies(tx, where.dialect);
      return change(tx);
    });
    await after(connection);
    return result;
  } finally {
    await lock.release();
  }
}
