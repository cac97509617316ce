import type { SqlDialect } from './dialect.ts';
import { MIGRATIONS } from './migrations.ts';
import type { SqlSession } from './sql-session.ts';

/** The catalogue's tables and their columns, as some version has them or as they are. */
export type CatalogueTables = ReadonlyMap<string, readonly string[]>;

const TABLES = new Set(MIGRATIONS.flatMap((step) => step.creates));

/** The tables of the catalogue that there are, with their columns. */
export const presentTables = (
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<string, string[]>> => dialect.columnsOfEach(session, TABLES);

const ofVersions = new WeakMap<SqlDialect, Map<number, CatalogueTables>>();

/** The tables and columns that a version of the catalogue has. */
export function tablesOfVersion(dialect: SqlDialect, version: number): CatalogueTables {
  const known = ofVersions.get(dialect) ?? new Map<number, CatalogueTables>();
  ofVersions.set(dialect, known);
  const tables = known.get(version) ?? readTables(dialect, version);
  known.set(version, tables);
  return tables;
}

function readTables(dialect: SqlDialect, version: number): CatalogueTables {
  const tables = new Map<string, string[]>();
  for (const step of MIGRATIONS.filter((one) => one.version <= version)) {
    for (const { table, adds } of step.changes(dialect)) {
      tables.set(table, [...(tables.get(table) ?? []), ...adds]);
    }
  }
  return tables;
}

/**
 * The version that the tables themselves tell, for a catalogue that lost `mirror_meta`: the newest whose tables have just
 * the columns that they have here. Undefined where there are none, or where no version that is known here has them.
 */
export function versionOfTables(dialect: SqlDialect, present: CatalogueTables): number | undefined {
  if (present.size === 0) return undefined;
  const fits = (version: number): boolean => {
    const expected = tablesOfVersion(dialect, version);
    return [...present].every(([table, columns]) => sameNames(expected.get(table), columns));
  };
  return MIGRATIONS.map(({ version }) => version).findLast(fits);
}

function sameNames(expected: readonly string[] | undefined, present: readonly string[]): boolean {
  if (expected?.length !== present.length) return false;
  const names = new Set(expected);
  return present.every((name) => names.has(name));
}

/** Writes the catalogue's version. */
export async function saveVersion(
  tx: SqlSession,
  dialect: SqlDialect,
  version: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO ${dialect.relation('mirror_meta')} ("key", value) VALUES ('catalogue_version', $1)
     ON CONFLICT ("key") DO UPDATE SET value = excluded.value`,
    [String(version)],
  );
}
