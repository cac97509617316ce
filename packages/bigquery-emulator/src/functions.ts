import { notDone } from './api-error.ts';
import type { Call, Writer } from './function-call.ts';
import { JSON_FUNCTIONS } from './functions-json.ts';
import { MATH_FUNCTIONS } from './functions-math.ts';
import { TEXT_FUNCTIONS } from './functions-text.ts';
import { TIME_FUNCTIONS } from './functions-time.ts';
import { ARRAY_FUNCTIONS } from './functions-array.ts';

const LOGIC: Readonly<Record<string, Writer>> = {
  $and: ({ args }) => `(${args.join(' AND ')})`,
  $or: ({ args }) => `(${args.join(' OR ')})`,
  $not: ({ args }) => `(NOT ${args[0]})`,
  $equal: infix('='),
  $not_equal: infix('<>'),
  $less: infix('<'),
  $less_or_equal: infix('<='),
  $greater: infix('>'),
  $greater_or_equal: infix('>='),
  $is_null: ({ args }) => `(${args[0]} IS NULL)`,
  $is_true: ({ args }) => `(${args[0]} IS TRUE)`,
  $is_false: ({ args }) => `(${args[0]} IS FALSE)`,
  $is_distinct_from: infix('IS DISTINCT FROM'),
  $is_not_distinct_from: infix('IS NOT DISTINCT FROM'),
  $between: ({ args }) => `(${args[0]} BETWEEN ${args[1]} AND ${args[2]})`,
  $in: ({ args }) => `(${args[0]} IN (${args.slice(1).join(', ')}))`,
  $in_array: ({ args }) =>
    `CASE WHEN ${args[1]} IS NULL OR len(${args[1]}) = 0 THEN FALSE ELSE ${args[0]} = ANY(${args[1]}) END`,
  $like: ({ args }) => `(${args[0]} LIKE ${args[1]} ESCAPE '\\')`,
  if: ({ args }) => `CASE WHEN ${args[0]} THEN ${args[1]} ELSE ${args[2]} END`,
  ifnull: ({ args }) => `coalesce(${args.join(', ')})`,
  coalesce: ({ args }) => `coalesce(${args.join(', ')})`,
  nullif: ({ args }) => `nullif(${args.join(', ')})`,
  $case_no_value: ({ args }) => `CASE ${branches(args)} END`,
  $case_with_value: ({ args }) => `CASE ${args[0]} ${branches(args.slice(1))} END`,
  error: (call) => (call.isSafe ? 'NULL' : `error(${call.args[0]})`),
  generate_uuid: () => 'CAST(uuid() AS VARCHAR)',
  session_user: () => "'emulator@example.com'",
};

const WRITERS: ReadonlyMap<string, Writer> = new Map(
  Object.entries({
    ...LOGIC,
    ...TEXT_FUNCTIONS,
    ...MATH_FUNCTIONS,
    ...TIME_FUNCTIONS,
    ...JSON_FUNCTIONS,
    ...ARRAY_FUNCTIONS,
  }),
);

/** The call of a function; one that is not in the tables is refused. */
export function callSql(call: Call): string {
  const writer = WRITERS.get(call.name);
  if (writer === undefined)
    throw notDone(`the function ${call.name.replace(/^\$/, '').toUpperCase()}`);
  const sql = writer(call);
  // An error that a writer raises itself became NULL already; TRY refuses those functions.
  return call.isSafe && !sql.includes('error(') ? `TRY(${sql})` : sql;
}

function infix(operator: string): Writer {
  return ({ args }) => `(${args[0]} ${operator} ${args[1]})`;
}

function branches(args: readonly string[]): string {
  const parts: string[] = [];
  for (let index = 0; index + 1 < args.length; index += 2) {
    parts.push(`WHEN ${args[index]} THEN ${args[index + 1]}`);
  }
  if (args.length % 2 === 1) parts.push(`ELSE ${args.at(-1)}`);
  return parts.join(' ');
}
