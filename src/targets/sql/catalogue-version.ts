import { MirrorError, safeText } from '../../base/errors.ts';
import { makeTables, takeStep } from './catalogue-steps.ts';
import {
  presentTables,
  saveVersion,
  tablesOfVersion,
  versionOfTables,
} from './catalogue-structure.ts';
import type { SqlDialect } from './dialect.ts';
import { type Migration, MIGRATIONS } from './migrations.ts';
import { type SqlConnection, type SqlSession, textOrNull } from './sql-session.ts';

/** The catalogue's version that this program writes. */
export const CATALOGUE_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/**
 * The version of the catalogue; undefined when there is none. Where `mirror_meta` was dropped, the other tables tell it. Throws SETTINGS when it is not ours, was written by a
 * newer release, or has a version that no release ever wrote. An older one can be read as it is: what came with a later
 * version is then missing. Only {@link migrate} changes it.
 */
export async function catalogueVersion(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<number | undefined> {
  const found = await dialect.columnsOf(session, 'mirror_meta');
  if (found === undefined) {
    return versionOfTables(dialect, await presentTables(session, dialect));
  }
  if (found.join() !== 'key,value') throw notOurs(dialect, 'mirror_meta');
  const [row] = await session.query(
    `SELECT value FROM ${dialect.relation('mirror_meta')} WHERE "key" = 'catalogue_version'`,
  );
  const text = row === undefined ? null : textOrNull(row, 'value');
  if (text === null || !/^[1-9]\d{0,8}$/.test(text)) throw unknownVersion(dialect, text);
  const version = Number(text);
  if (version > CATALOGUE_VERSION) throw tooNew(dialect, version);
  return version;
}

/**
 * Brings the catalogue to the version of the last of `steps`, making it where there is none. Each step is a transaction
 * of its own, together with the version it leads to: a process that dies in the middle leaves the version before or the
 * one after. Processes that start together wait for each other, and each step runs once.
 */
export async function migrate(
  connection: SqlConnection,
  dialect: SqlDialect,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  for (const step of steps) {
    await connection.transaction(async (tx) => {
      await dialect.lockCatalogue(tx);
      const version = (await catalogueVersion(tx, dialect)) ?? 0;
      if (version >= step.version) return;
      await refuseForeignTables(tx, dialect, steps, version);
      const { stepwise } = dialect;
      if (stepwise === undefined) {
        const statements = step.changes(dialect).map(({ sql }) => sql);
        await tx.exec(statements.join(';\n'));
      } else if (version === 0) {
        const tables = new Set(steps.flatMap(({ creates }) => creates));
        await makeTables(tx, dialect, stepwise, { tables, version: CATALOGUE_VERSION });
        return;
      } else {
        await takeStep(tx, dialect, stepwise, step);
      }
      await saveVersion(tx, dialect, step.version);
    });
  }
}

async function refuseForeignTables(
  tx: SqlSession,
  dialect: SqlDialect,
  steps: readonly Migration[],
  version: number,
): Promise<void> {
  const taken = await dialect.relationNames(tx);
  const present = dialect.stepwise === undefined ? undefined : await presentTables(tx, dialect);
  /** Made by a process that died before it came to the version. */
  const isOurs = (table: string, step: Migration): boolean =>
    present?.get(table)?.join() === tablesOfVersion(dialect, step.version).get(table)?.join();
  const foreign = steps
    .filter((step) => step.version > version)
    .flatMap((step) =>
      step.creates.filter((table) => present === undefined || !isOurs(table, step)),
    )
    .find((table) => taken.has(table));
  if (foreign !== undefined) throw notOurs(dialect, foreign);
}

function notOurs(dialect: SqlDialect, table: string): MirrorError {
  return new MirrorError(
    'SETTINGS',
    `There is a table ${dialect.shownRelation(table)} that forms-mirror did not make, and it was left alone: ` +
      `${dialect.chooseAnotherPlace}.`,
  );
}

function tooNew(dialect: SqlDialect, version: number): MirrorError {
  return new MirrorError(
    'SETTINGS',
    `The catalogue (${dialect.shownRelation('mirror_meta')}) was written by a newer forms-mirror: it has version ` +
      `${version}, and this release knows versions up to ${CATALOGUE_VERSION}. Nothing was changed. ` +
      'Upgrade forms-mirror here to the release that runs elsewhere, or to the latest one.',
  );
}

function unknownVersion(dialect: SqlDialect, version: string | null): MirrorError {
  const has =
    version === null ? 'has no version' : `has version ${JSON.stringify(safeText(version, 20))}`;
  return new MirrorError(
    'SETTINGS',
    `The catalogue (${dialect.shownRelation('mirror_meta')}) ${has}, which no release of forms-mirror writes, so ` +
      'nothing was changed: restore the database from a backup, or ' +
      `${dialect.chooseAnotherPlace}, which the next pass fills.` +
      (version === null
        ? ' If only that was deleted, drop this table: the next pass reads the version off the others.'
        : ''),
  );
}
