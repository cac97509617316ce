import { notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { duckType, sameType, sqlName, type BqType, type ScalarKind } from './types.ts';

/** The texts that BigQuery takes for a value of a type. */
const SHAPES: Readonly<Partial<Record<ScalarKind, string>>> = {
  INT64: String.raw`\s*[+-]?(\d+|0[xX][0-9a-fA-F]+)\s*`,
  FLOAT64: String.raw`\s*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf|infinity)|(?i:nan))\s*`,
  NUMERIC: String.raw`\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*`,
  BOOL: '(?i:true|false)',
  DATE: String.raw`\s*\d{4,5}-\d{1,2}-\d{1,2}\s*`,
  DATETIME: String.raw`\s*\d{4}-\d{1,2}-\d{1,2}([ Tt]\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?)?\s*`,
  TIME: String.raw`\s*\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?\s*`,
  TIMESTAMP: String.raw`\s*\d{4}-\d{1,2}-\d{1,2}([ Tt]\d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,6})?)?\s*([Zz]|(?i:UTC)|[+-]\d{1,2}(:\d{2})?)?\s*`,
};

/** The words of BigQuery for a text that is no such value, before the text itself. */
const COMPLAINTS: Readonly<Partial<Record<ScalarKind, string>>> = {
  INT64: 'Bad int64 value: ',
  FLOAT64: 'Bad double value: ',
  NUMERIC: 'Invalid NUMERIC value: ',
  BOOL: 'Bad bool value: ',
  DATE: 'Invalid date: ',
  DATETIME: 'Invalid datetime: ',
  TIME: 'Invalid time: ',
  TIMESTAMP: 'Invalid timestamp: ',
};

/** CAST and SAFE_CAST. What cannot be cast is an error, or NULL when `isSafe`. */
export function castSql(sql: string, from: BqType, to: BqType, isSafe: boolean): string {
  if (sameType(from, to)) return sql;
  if (from.kind === 'ARRAY' && to.kind === 'ARRAY') {
    const element = castSql('e', from.element, to.element, isSafe);
    return element === 'e' ? sql : `list_transform(${sql}, lambda e: ${element})`;
  }
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT') {
    const fields = to.fields.map((field, index) => {
      const inner = from.fields[index]?.type ?? field.type;
      const part = `struct_extract(${sql}, 'f${index + 1}')`;
      return `f${index + 1} := ${castSql(part, inner, field.type, isSafe)}`;
    });
    return `CASE WHEN ${sql} IS NOT NULL THEN struct_pack(${fields.join(', ')}) END`;
  }
  if (isNested(from) || isNested(to)) throw notDone(`casts of ${sqlName(from)} to ${sqlName(to)}`);
  if (from.kind === 'STRING') return fromText(sql, to.kind, isSafe);
  if (from.kind === 'JSON') throw notDone('casts of JSON');
  if (to.kind === 'STRING') return asText(sql, from.kind);
  return between(sql, from.kind, to.kind, isSafe);
}

const isNested = (type: BqType): type is Extract<BqType, { readonly kind: 'ARRAY' | 'STRUCT' }> =>
  type.kind === 'ARRAY' || type.kind === 'STRUCT';

function fromText(sql: string, to: ScalarKind, isSafe: boolean): string {
  if (to === 'BYTES') return `encode(${sql})`;
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
  if (to === 'INT64') {
    const hex = `(CASE WHEN starts_with(trim(x), '-') THEN -1 ELSE 1 END * TRY_CAST(regexp_replace(trim(x), '^[+-]', '') AS BIGINT))`;
    return `CASE WHEN contains(lower(x), 'x') THEN ${hex} ELSE TRY_CAST(trim(x) AS BIGINT) END`;
  }
  return `TRY_CAST(trim(x) AS ${duckType({ kind: to })})`;
}

/**
 * `body` with `x` standing for the value, which is worked out once: a value that a text says in full is put in its
 * place instead, where the planner can see through it.
 */
export function once(sql: string, body: string): string {
  if (/^(c\d+|CAST\(\$\w+ AS \w+\)|'(?:[^']|'')*')$/.test(sql)) {
    return `(${body.replaceAll(/(?<![\w'$\\])x(?![\w'(])/g, () => sql)})`;
  }
  return `list_transform([${sql}], lambda x: ${body})[1]`;
}

/** A value as BigQuery writes it for people. */
export function asText(sql: string, from: ScalarKind): string {
  switch (from) {
    case 'TIMESTAMP':
      return `(${timeText(sql, "'%Y-%m-%d %H:%M:%S'")} || '+00')`;
    case 'DATETIME':
      return timeText(sql, "'%Y-%m-%d %H:%M:%S'");
    case 'NUMERIC':
      return numericText(sql);
    case 'BYTES':
      return `decode(${sql})`;
    case 'FLOAT64':
      return `regexp_replace(CAST(${sql} AS VARCHAR), '\\.0$', '')`;
    case 'BOOL':
    case 'INT64':
    case 'DATE':
    case 'TIME':
      return `CAST(${sql} AS VARCHAR)`;
    case 'STRING':
    case 'JSON':
      return sql;
    case 'INTERVAL':
      throw notDone(`casts of ${from} to STRING`);
    default:
      return from satisfies never;
  }
}

/** NUMERIC without the zeroes at its end. */
export const numericText = (sql: string): string =>
  `regexp_replace(regexp_replace(CAST(${sql} AS VARCHAR), '0+$', ''), '\\.$', '')`;

/** A moment as text with three or six digits of a second, as many as needed. */
function timeText(sql: string, format: string): string {
  const body = `strftime(x, ${format}) || CASE WHEN epoch_us(x) % 1000000 = 0 THEN '' WHEN epoch_us(x) % 1000 = 0 THEN '.' || lpad(CAST((epoch_us(x) % 1000000 + 1000000) % 1000000 // 1000 AS VARCHAR), 3, '0') ELSE '.' || lpad(CAST((epoch_us(x) % 1000000 + 1000000) % 1000000 AS VARCHAR), 6, '0') END`;
  return once(sql, body);
}

const NUMBERS: ReadonlySet<ScalarKind> = new Set(['INT64', 'FLOAT64', 'NUMERIC', 'BOOL']);
const TIMES: ReadonlySet<ScalarKind> = new Set(['TIMESTAMP', 'DATETIME', 'DATE', 'TIME']);

function between(sql: string, from: ScalarKind, to: ScalarKind, isSafe: boolean): string {
  const cast = isSafe ? 'TRY_CAST' : 'CAST';
  const target = duckType({ kind: to });
  if (NUMBERS.has(from) && NUMBERS.has(to)) {
    // Halves go away from zero, as BigQuery rounds them.
    if (to === 'INT64' && from !== 'BOOL') return `${cast}(round(${sql}) AS ${target})`;
    return `${cast}(${sql} AS ${target})`;
  }
  if (TIMES.has(from) && TIMES.has(to) && from !== 'TIME') return `CAST(${sql} AS ${target})`;
  if (from === 'BYTES' || to === 'BYTES' || to === 'JSON' || from === 'JSON') {
    throw notDone(`casts of ${from} to ${to}`);
  }
  throw notDone(`casts of ${from} to ${to}`);
}
