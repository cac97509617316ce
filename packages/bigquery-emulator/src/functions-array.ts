import { failure, type Call, type Writer } from './function-call.ts';
import { duckType } from './types.ts';

/** Functions of arrays and structures. */
export const ARRAY_FUNCTIONS: Readonly<Record<string, Writer>> = {
  $make_array: ({ args, result }) => `CAST([${args.join(', ')}] AS ${duckType(result)})`,
  array_length: ({ args }) => `CAST(len(${args[0]}) AS BIGINT)`,
  array_to_string: ({ args }) =>
    args[2] === undefined
      ? `array_to_string(list_filter(${args[0]}, lambda e: e IS NOT NULL), ${args[1]})`
      : `array_to_string(list_transform(${args[0]}, lambda e: coalesce(e, ${args[2]})), ${args[1]})`,
  array_concat: ({ args }) =>
    `CASE WHEN ${args.map((arg) => `${arg} IS NULL`).join(' OR ')} THEN NULL ELSE ${args.reduce((all, next) => `list_concat(${all}, ${next})`)} END`,
  array_reverse: ({ args }) => `list_reverse(${args[0]})`,
  generate_array: ({ args, result }) =>
    `CAST(generate_series(${args.join(', ')}) AS ${duckType(result)})`,
  $array_at_offset: (call) => element(call, 0, false),
  $array_at_ordinal: (call) => element(call, 1, false),
  $safe_array_at_offset: (call) => element(call, 0, true),
  $safe_array_at_ordinal: (call) => element(call, 1, true),
  // DuckDB's own operator with a whole number is OFFSET in BigQuery.
  $subscript: (call) => element(call, 0, false),
};

function element(call: Call, first: number, isSafe: boolean): string {
  const [array, place] = call.args;
  if (call.types[0]?.kind === 'JSON') return jsonElement(call);
  const inside = `${place} >= ${first} AND ${place} < len(${array}) + ${first}`;
  const at = `${array}[${place} + ${1 - first}]`;
  const otherwise = isSafe
    ? 'NULL'
    : failure(call, `Array index ${first === 0 ? 'offset' : 'ordinal'} is out of bounds`);
  return `CASE WHEN ${array} IS NULL OR ${place} IS NULL THEN NULL WHEN ${inside} THEN ${at} ELSE ${otherwise} END`;
}

/** A member of JSON by its number or name. */
function jsonElement(call: Call): string {
  const [json, place] = call.args;
  const path =
    call.types[1]?.kind === 'INT64'
      ? `'$[' || CAST(${place} AS VARCHAR) || ']'`
      : `'$."' || replace(${place}, '"', '\\"') || '"'`;
  return `CAST(json_extract(${json}, ${path}) AS VARCHAR)`;
}
