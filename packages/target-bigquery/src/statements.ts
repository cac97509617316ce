import type { Param } from '../../../src/targets/sql/dialect.ts';
import type { NamedParam } from './api.ts';

/*
 * Translates the store's statements for BigQuery. The store quotes names with ", numbers its parameters, declares keys and ends an
 * INSERT with ON CONFLICT; BigQuery quotes with `, names its parameters, enforces no key, and has MERGE.
 */

/** Statements that the session answers from the API's lists, which cost nothing. */
export const COLUMNS_OF = 'columns of each of $1';
export const RELATIONS = 'tables and views';

/** Placeholders for the staged rows, and for the condition on the months that contain their stored rows. */
export const MONTHS = '_mirror_months';

/** A statement with named parameters. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly NamedParam[];
}

/** What a statement refers to. */
export interface Surroundings {
  /** Makes parameter names that no other statement of the transaction has. */
  readonly nextName: () => string;
  /** The text for {@link STAGE}. */
  readonly stage?: string | undefined;
  /** The text for {@link MONTHS}. */
  readonly months?: string | undefined;
}

const TOKENS = /r?'(?:[^'\\]|\\.)*'|"((?:[^"]|"")*)"|`[^`]*`|\$(\d+)|\b_mirror_(?:stage|months)\b/g;

/** A valid BigQuery name: letters, digits and `_`. */
export const nameOf = (name: string): string =>
  name.replaceAll(/\W+/g, '_').replace(/(?<=.)_+$/, '') || '_';

/** A statement of the store in GoogleSQL. NULL is written into the text, because a parameter needs a type. */
export function translated(
  sql: string,
  values: readonly Param[],
  { nextName, stage, months }: Surroundings,
): Statement {
  const params = new Map<number, NamedParam | null>();
  const placeOf = (at: number): string => {
    let param = params.get(at);
    if (param === undefined) {
      const value = values[at - 1] ?? null;
      param = value === null ? null : [nextName(), value];
      params.set(at, param);
    }
    return param === null ? 'NULL' : `@${param[0]}`;
  };
  const rows = /^\s*INSERT\b/i.test(sql) ? asMerge(sql, values, nextName) : undefined;
  if (rows !== undefined) return rows;
  const text = (
    /^\s*CREATE TABLE/i.test(sql) ? withLayout(sql) : sql.replace(IF_THERE, '')
  ).replaceAll(TOKENS, (found: string, name: string | undefined, at: string | undefined) => {
    if (name !== undefined) return `\`${nameOf(name.replaceAll('""', '"'))}\``;
    if (at !== undefined) return placeOf(Number(at));
    if (found === '_mirror_stage') return stage ?? found;
    return found === MONTHS ? (months ?? found) : found;
  });
  return { sql: text, params: [...params.values()].filter((param) => param !== null) };
}

/** BigQuery enforces no key. Tables of forms are partitioned by month, and all are clustered by the column that finds a row. */
function withLayout(sql: string): string {
  const table = sql
    .replaceAll(/,\s*PRIMARY KEY\s*\(([^)]*)\)/g, '')
    .replaceAll(/\s+PRIMARY KEY/g, '');
  const key = /PRIMARY KEY\s*\(([^)]*)\)/.exec(sql)?.[1] ?? /\(\s*(\w+)/.exec(sql)?.[1] ?? '';
  const partition = /\b_first_seen_at\b/.test(sql)
    ? ' PARTITION BY TIMESTAMP_TRUNC(created_at, MONTH)'
    : '';
  return `${table}${partition} CLUSTER BY ${key}`;
}

/** The end of an INSERT of selected rows whose keys do not exist yet, because only one transaction has the name of a commit. */
const IF_THERE = /\sON CONFLICT \([^)]*\) DO NOTHING\s*$/;

const INSERT =
  /^\s*INSERT INTO (\S+) \(([^)]*)\) VALUES .*\sON CONFLICT \(([^)]*)\) DO (?:NOTHING|UPDATE SET (.*))$/s;

/** An INSERT that skips or changes rows whose key exists. All rows are one parameter; undefined for another INSERT. */
function asMerge(
  sql: string,
  values: readonly Param[],
  nextName: () => string,
): Statement | undefined {
  const [, table, names = '', keys = '', set] = INSERT.exec(sql) ?? [];
  if (table === undefined) return undefined;
  const columns = names.split(', ');
  const typeOf = (name: string, at: number): string => {
    if (name.endsWith('_at')) return 'TIMESTAMP';
    return typeof values[at] === 'number' ? 'INT64' : 'STRING';
  };
  const param = nextName();
  const source = rowsOf(
    columns.map((name, at) => ({ name, type: typeOf(name, at) })),
    param,
  );
  const rows = Array.from({ length: values.length / columns.length }, (_, at) =>
    values.slice(at * columns.length, (at + 1) * columns.length),
  );
  const on = keys.split(', ').map((name) => `t.${name} = s.${name}`);
  const update = set?.replaceAll('excluded.', 's.');
  return {
    sql: `MERGE ${table} AS t USING (${source}) AS s ON ${on.join(' AND ')}
 ${update === undefined ? '' : `WHEN MATCHED THEN UPDATE SET ${update} `}WHEN NOT MATCHED THEN INSERT (${names}) VALUES (${columns.map((name) => `s.${name}`).join(', ')})`,
    params: [[param, jsonOf(rows)]],
  };
}

/** A column of the rows in a parameter. */
export interface StageColumn {
  readonly name: string;
  readonly type: string;
}

/** A query of the rows in a parameter, which has JSON: a list per row, with a value for each of these columns. */
export const rowsOf = (columns: readonly StageColumn[], param: string): string =>
  `SELECT ${columns
    .map(({ name, type }, at) => {
      const value = `JSON_VALUE(r, '$[${at}]')`;
      return `${type === 'STRING' ? value : `CAST(${value} AS ${type})`} AS \`${name}\``;
    })
    .join(', ')} FROM UNNEST(JSON_QUERY_ARRAY(@${param})) AS r`;

/** JSON, in which each text is well-formed. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'string' ? each.toWellFormed() : each,
  );

const RELATION = /r?'(?:[^'\\]|\\.)*'|`[^`]*`|\b((?:FROM|JOIN)\s+)(`\w+`|_mirror_\w+)/g;

/** The query of a view, with the dataset (`project.dataset`) before each table, because a view has no default dataset. */
export const qualified = (sql: string, dataset: string): string =>
  sql.replaceAll(RELATION, (found, before: string | undefined, table: string | undefined) =>
    before === undefined || table === undefined
      ? found
      : `${before}\`${dataset}.${table.replaceAll('`', '')}\``,
  );

/** A text as GoogleSQL writes it. */
export const literal = (text: string): string =>
  `'${text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')}'`;

/** A transaction of some statements. `ends`: COMMIT, or a query whose result is the script's; the script then changes nothing. */
export function scriptOf(
  statements: readonly (Statement & { readonly asserts?: boolean })[],
  ends: Statement | 'COMMIT',
): Statement {
  const parts = statements.map(({ sql, asserts = false }, at) =>
    asserts ? `${sql};\nASSERT @@row_count = 1 AS 'statement ${at}'` : sql,
  );
  const last = ends === 'COMMIT' ? 'COMMIT TRANSACTION' : ends.sql;
  const params = [...statements, ...(ends === 'COMMIT' ? [] : [ends])].flatMap(
    ({ params: some }) => some,
  );
  // Several statements read the rows that were staged.
  const once = new Map(params.map((param) => [param[0], param] as const));
  return {
    sql: `${['BEGIN TRANSACTION', ...parts, last].join(';\n')};`,
    params: [...once.values()],
  };
}
