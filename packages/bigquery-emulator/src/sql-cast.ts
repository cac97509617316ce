import { notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { duckType, type BqType, type ScalarKind } from './types.ts';

/** The texts that BigQuery takes for a value of a type. */
const SHAPES: Readonly<Partial<Record<ScalarKind, string>>> = {
  INT64: String.raw`\s*[+-]?\d+\s*`,
  FLOAT64: String.raw`\s*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf|infinity)|(?i:nan))\s*`,
  BOOL: '(?i:true|false)',
  TIMESTAMP: String.raw`\s*\d{4}-\d{1,2}-\d{1,2}([ Tt]\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?)?\s*([Zz]|(?i:UTC)|[+-]\d{1,2}(:\d{2})?)?\s*`,
};

/** BigQuery's words for a text that is not such a value, before the text itself. */
const COMPLAINTS: Readonly<Partial<Record<ScalarKind, string>>> = {
  INT64: 'Bad int64 value: ',
  FLOAT64: 'Bad double value: ',
  BOOL: 'Bad bool value: ',
  TIMESTAMP: 'Invalid timestamp: ',
};

/** CAST and SAFE_CAST. A value that cannot be cast is an error, or NULL if `isSafe`. */
export function castSql(sql: string, from: BqType, to: BqType, isSafe: boolean): string {
  if (from.kind === to.kind && !isNested(from)) return sql;
  if (isNested(from) || isNested(to)) throw notDone(`casts of ${from.kind} to ${to.kind}`);
  if (from.kind === 'STRING') return fromText(sql, to.kind, isSafe);
  if (to.kind === 'STRING') return asText(sql, from.kind);
  throw notDone(`casts of ${from.kind} to ${to.kind}`);
}

const isNested = (type: BqType): type is Extract<BqType, { readonly kind: 'ARRAY' | 'STRUCT' }> =>
  type.kind === 'ARRAY' || type.kind === 'STRUCT';

function fromText(sql: string, to: ScalarKind, isSafe: boolean): string {
  const shape = SHAPES[to];
  if (shape === undefined) throw notDone(`casts of STRING to ${to}`);
  const complaint = COMPLAINTS[to] ?? 'Bad value: ';
  const otherwise = isSafe ? 'NULL' : `error(${textLiteral(complaint)} || x)`;
  const value = tried(to);
  const fits = `regexp_full_match(x, ${textLiteral(shape)}) AND ${value} IS NOT NULL`;
  return once(
    sql,
    `CASE WHEN x IS NULL THEN NULL WHEN ${fits} THEN ${value} ELSE ${otherwise} END`,
  );
}

function tried(to: ScalarKind): string {
  if (to === 'TIMESTAMP') return `timezone('UTC', TRY_CAST(trim(x) AS TIMESTAMPTZ))`;
  return `TRY_CAST(trim(x) AS ${duckType({ kind: to })})`;
}

/**
 * `body` with `x` for the value, which is computed once. A literal value is inserted instead, so that the planner can
 * use it.
 */
function once(sql: string, body: string): string {
  if (/^(c\d+|CAST\(\$\w+ AS \w+\)|'(?:[^']|'')*')$/.test(sql)) {
    return `(${body.replaceAll(/(?<![\w'$\\])x(?![\w'(])/g, () => sql)})`;
  }
  return `list_transform([${sql}], lambda x: ${body})[1]`;
}

/** A value in BigQuery's format for people. */
export function asText(sql: string, from: ScalarKind): string {
  if (from === 'TIMESTAMP') throw notDone('casts of TIMESTAMP to STRING');
  const text = `CAST(${sql} AS VARCHAR)`;
  return from === 'FLOAT64' ? `regexp_replace(${text}, '\\.0$', '')` : text;
}
