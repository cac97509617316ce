import { MirrorError } from '../../base/errors.ts';
import { otherSchema } from '../../base/other-schema.ts';
import {
  areOurs,
  CATALOGUE_TABLES,
  CATALOGUE_VERSION,
  makeTables,
  presentTables,
} from './catalogue-tables.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlConnection, type SqlSession, textOrNull } from './sql-session.ts';

/**
 * Whether there is a catalogue. Where `mirror_meta` was dropped, the other tables tell. Throws OTHER_SCHEMA for one that
 * another build wrote, and SETTINGS where a table of this name is not ours.
 */
export async function hasCatalogue(session: SqlSession, dialect: SqlDialect): Promise<boolean> {
  const found = await dialect.columnsOf(session, 'mirror_meta');
  if (found === undefined) return areOurs(dialect, await presentTables(session, dialect));
  if (found.join() !== 'key,value') throw notOurs(dialect, 'mirror_meta');
  const [row] = await session.query(
    `SELECT value FROM ${dialect.relation('mirror_meta')} WHERE "key" = 'catalogue_version'`,
  );
  const version = row === undefined ? null : textOrNull(row, 'value');
  if (version === String(CATALOGUE_VERSION)) return true;
  throw otherSchema({
    store: `The mirror whose catalogue is ${dialect.shownRelation('mirror_meta')}`,
    found: version,
    needed: CATALOGUE_VERSION,
    elsewhere: dialect.chooseAnotherPlace,
  });
}

/** Makes the catalogue. Processes that start together wait for each other, and one of them makes it. */
export async function makeCatalogue(connection: SqlConnection, dialect: SqlDialect): Promise<void> {
  await connection.transaction(async (tx) => {
    await dialect.lockCatalogue(tx);
    if (await hasCatalogue(tx, dialect)) return;
    const taken = await dialect.relationNames(tx);
    const foreign = [...CATALOGUE_TABLES].find((table) => taken.has(table));
    if (foreign !== undefined) throw notOurs(dialect, foreign);
    await makeTables(tx, dialect, CATALOGUE_TABLES);
  });
}

function notOurs(dialect: SqlDialect, table: string): MirrorError {
  return new MirrorError(
    'SETTINGS',
    `There is a table ${dialect.shownRelation(table)} that forms-mirror did not make, and it was left alone: ` +
      `${dialect.chooseAnotherPlace}.`,
  );
}
