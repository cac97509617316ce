import { notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { constantText, type Call, type Writer } from './function-call.ts';
import { JSON_FUNCTIONS } from './functions-json.ts';
import { TEXT_FUNCTIONS } from './functions-text.ts';
import { duckType } from './types.ts';

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
  $is_distinct_from: infix('IS DISTINCT FROM'),
  $in: ({ args }) => `(${args[0]} IN (${args.slice(1).join(', ')}))`,
  $in_array: ({ args }) =>
    `CASE WHEN ${args[1]} IS NULL OR len(${args[1]}) = 0 THEN FALSE ELSE ${args[0]} = ANY(${args[1]}) END`,
  $like: ({ args }) => `(${args[0]} LIKE ${args[1]} ESCAPE '\\')`,
  if: ({ args }) => `CASE WHEN ${args[0]} THEN ${args[1]} ELSE ${args[2]} END`,
  coalesce: ({ args }) => `coalesce(${args.join(', ')})`,
  $case_no_value: ({ args }) => `CASE ${branches(args)} END`,
  $case_with_value: ({ args }) => `CASE ${args[0]} ${branches(args.slice(1))} END`,
};

/** The result has the analyzer's type: DuckDB widens and narrows by its own rules. */
const NUMBERS: Readonly<Record<string, Writer>> = {
  $add: typed((args) => `${args[0]} + ${args[1]}`),
  $multiply: typed((args) => `${args[0]} * ${args[1]}`),
  $make_array: typed((args) => `[${args.join(', ')}]`),
};

const TIMES: Readonly<Record<string, Writer>> = {
  timestamp_millis: ({ args }) => `make_timestamp(${args[0]} * 1000)`,
  format_timestamp: (call) => {
    if (call.args.length > 2) throw notDone('time zones');
    return `strftime(${call.args[1]}, ${textLiteral(timePattern(call))})`;
  },
};

const WRITERS: ReadonlyMap<string, Writer> = new Map(
  Object.entries({ ...LOGIC, ...NUMBERS, ...TIMES, ...TEXT_FUNCTIONS, ...JSON_FUNCTIONS }),
);

/** The call of a function; a function that is not in the tables is refused. */
export function callSql(call: Call): string {
  const writer = WRITERS.get(call.name);
  if (writer === undefined)
    throw notDone(`the function ${call.name.replace(/^\$/, '').toUpperCase()}`);
  return writer(call);
}

function infix(operator: string): Writer {
  return ({ args }) => `(${args[0]} ${operator} ${args[1]})`;
}

function typed(write: (args: readonly string[]) => string): Writer {
  return ({ args, result }) => `CAST(${write(args)} AS ${duckType(result)})`;
}

function branches(args: readonly string[]): string {
  const parts: string[] = [];
  for (let index = 0; index + 1 < args.length; index += 2) {
    parts.push(`WHEN ${args[index]} THEN ${args[index + 1]}`);
  }
  if (args.length % 2 === 1) parts.push(`ELSE ${args.at(-1)}`);
  return parts.join(' ');
}

/** Elements of a format in DuckDB's notation. */
const ELEMENTS: Readonly<Record<string, string>> = {
  '%Y': '%Y',
  '%m': '%m',
  '%d': '%d',
  '%H': '%H',
  '%M': '%M',
  '%E6S': '%S.%f',
};

const timePattern = (call: Call): string =>
  constantText(call, 0)
    .split(/(%(?:E\d[SY]|Ez|.))/)
    .map((piece) => {
      if (!piece.startsWith('%')) return piece;
      const known = ELEMENTS[piece];
      if (known === undefined) throw notDone(`the element ${piece} of a time format`);
      return known;
    })
    .join('');
