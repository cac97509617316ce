import { repairCatalogue } from './catalogue-repair.ts';
import { hasCatalogue, makeCatalogue } from './catalogue-version.ts';
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

/** Makes the catalogue, or makes tables of it again that people dropped. */
export async function healCatalogue(
  connection: SqlConnection,
  { dialect, place, at }: CataloguePlace,
): Promise<void> {
  if (await hasCatalogue(connection, dialect)) {
    await repairCatalogue(connection, dialect, place, at);
  } else {
    await makeCatalogue(connection, dialect);
  }
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
    await healCatalogue(connection, where);
    const result = await connection.transaction(change);
    await after(connection);
    return result;
  } finally {
    await lock.release();
  }
}
