import { Document } from 'yaml';
import { printable } from '../base/printable.ts';
import type { Relation, RelationColumn, TargetRelations } from '../mirror/port.ts';

/** What a {@link dbtSources} file says besides the tables. */
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
