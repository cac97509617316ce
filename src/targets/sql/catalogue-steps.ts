import type { SqlDialect, Stepwise } from './dialect.ts';
import { presentTables, saveVersion } from './catalogue-structure.ts';
import { type Migration, MIGRATIONS } from './migrations.ts';
import type { SqlSession } from './sql-session.ts';

/*
 * The catalogue where a change of tables can't be taken back: see {@link Stepwise}. `mirror_meta` comes last of the tables
 * that are made, and the version after all that it stands for; until then the tables themselves tell which there are.
 */

/** Makes tables of the catalogue as a version has them. Each appears whole, `mirror_meta` with the version in it. */
export async function makeTables(
  tx: SqlSession,
  dialect: SqlDialect,
  stepwise: Stepwise,
  { tables, version }: { readonly tables: ReadonlySet<string>; readonly version: number },
): Promise<void> {
  if (tables.size === 0) return;
  const making = stepwise.making(dialect);
  const ordered = [...tables].sort((one, other) => lastIsMeta(one) - lastIsMeta(other));
  const changes = MIGRATIONS.filter((step) => step.version <= version).flatMap((step) =>
    step.changes(making),
  );
  await stepwise.clear(tx, ordered);
  for (const table of ordered) {
    const own = changes.filter((change) => change.table === table);
    const definitions = own.map((change) => change.definitions).filter((one) => one !== '');
    await tx.exec(`CREATE TABLE ${making.relation(table)} (${definitions.join(', ')})`);
    for (const { sql } of own.filter((change) => change.definitions === '')) await tx.exec(sql);
  }
  if (tables.has('mirror_meta')) await saveVersion(tx, making, version);
  await stepwise.putInPlace(tx, ordered);
}

const lastIsMeta = (table: string): number => (table === 'mirror_meta' ? 1 : 0);

/** One step of the catalogue, of which a process that died may have done a part. */
export async function takeStep(
  tx: SqlSession,
  dialect: SqlDialect,
  stepwise: Stepwise,
  step: Migration,
): Promise<void> {
  const before = await presentTables(tx, dialect);
  const created = new Set(step.creates.filter((table) => !before.has(table)));
  await makeTables(tx, dialect, stepwise, { tables: created, version: step.version });
  for (const { table, adds, sql } of step.changes(dialect)) {
    const there = before.get(table);
    const isDone = adds.length > 0 && adds.every((column) => there?.includes(column));
    if (there === undefined || isDone) continue;
    await tx.exec(sql);
  }
}
