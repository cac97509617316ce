import { Document } from 'yaml';
import { MirrorError } from '../base/errors.ts';
import { printable } from '../base/printable.ts';
import type { Relation, RelationColumn, TargetRelations } from '../mirror/port.ts';
import type { Target } from '../sync/target.ts';
import type { CommandCall } from './command-spec.ts';
import { emptyTarget, onlyOne } from './export.ts';
import { openApp } from './open-app.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** The other contents of a {@link dbtSources} file. */
export interface DbtOptions {
  /** Name of the source in dbt. */
  readonly name: string;
  /** Where the tables are, for people. */
  readonly address: string;
  /** Within what time every row is compared with the source. */
  readonly comparedEveryMs: number;
}

/** A `sources.yml` for dbt 1.10 and later: older ones know no `loaded_at_query`. */
export function dbtSources(
  { database, schema, relations }: TargetRelations,
  { name, address, comparedEveryMs }: DbtOptions,
): string {
  const freshness = {
    warn_after: periodOf(2 * comparedEveryMs),
    error_after: periodOf(4 * comparedEveryMs),
  };
  const source = {
    name,
    description: plain(`Form submissions, mirrored into ${address} by forms-mirror.`),
    ...(database === null ? {} : { database }),
    schema,
    loader: 'forms-mirror',
    tables: relations.map((relation) => tableOf(relation, freshness)),
  };
  const document = new Document({ version: 2, sources: [source] });
  document.commentBefore = HEAD;
  return document.toString({ lineWidth: 0 });
}

const HEAD =
  ' Made by `forms-mirror export --dbt`. Run it again when forms or fields change.\n' +
  ' For dbt 1.10 or later. A table is as fresh as the last comparison of all its rows with the source.';

function tableOf({ name, description, columns, comparedAt }: Relation, freshness: unknown) {
  return {
    name,
    description: plain(description),
    ...(comparedAt === null ? {} : { config: { freshness, loaded_at_query: comparedAt } }),
    ...(columns.length === 0 ? {} : { columns: columns.map(columnOf) }),
  };
}

function columnOf({ name, description, isUnique, isRequired }: RelationColumn) {
  const tests = [...(isUnique ? ['unique'] : []), ...(isRequired ? ['not_null'] : [])];
  return {
    name,
    ...(description === '' ? {} : { description: plain(description) }),
    ...(tests.length === 0 ? {} : { data_tests: tests }),
  };
}

/** dbt takes descriptions for templates: a label must not be run as one. */
const plain = (text: string): string => printable(text).replaceAll(/\{(?=[{%#])/g, '{ ');

const MINUTE = 60_000;

/** Whole minutes or hours, rounded up. */
function periodOf(ms: number): { readonly count: number; readonly period: string } {
  const minutes = Math.max(1, Math.ceil(ms / MINUTE));
  return minutes % 60 === 0
    ? { count: minutes / 60, period: 'hour' }
    : { count: minutes, period: 'minute' };
}

/** `export --dbt`: a `sources.yml` with the tables of a SQL target. Asks the source nothing. */
export async function printDbtSources({ host, text }: CommandCall): Promise<ExitCode> {
  await using app = await openApp(host);
  const sql: { readonly target: Target; readonly found: TargetRelations }[] = [];
  for (const name of app.namesOf(text('target'))) {
    const target = await app.target(name);
    const found = await target.store.relations();
    if (found !== null) sql.push({ target, found });
  }
  if (sql.length === 0) {
    throw new MirrorError(
      'USAGE',
      'dbt reads tables of a database, and no target here is a database. Set TARGET_URL, or name another target with --target.',
    );
  }
  const { target, found } = onlyOne(sql);
  if (found.relations.length === 0) throw emptyTarget(target);
  const options = {
    name: text('name') ?? 'forms',
    address: target.address,
    comparedEveryMs: app.config.compareEveryMs,
  };
  host.terminal.printText(dbtSources(found, options).trimEnd());
  return EXIT_CODES.DONE.code;
}
