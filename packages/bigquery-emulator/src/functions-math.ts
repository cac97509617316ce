import { failure, type Call, type Writer } from './function-call.ts';
import { castSql } from './sql-cast.ts';
import { duckType } from './types.ts';

/** Arithmetic and functions of numbers. */
export const MATH_FUNCTIONS: Readonly<Record<string, Writer>> = {
  $add: operator('+'),
  $subtract: operator('-'),
  $multiply: operator('*'),
  $divide: (call) => divided(call, '/'),
  div: (call) => divided(call, '//'),
  mod: (call) => divided(call, '%'),
  $unary_minus: typed((args) => `-${args[0]}`),
  safe_divide: ({ args, result }) =>
    `CASE WHEN ${args[1]} = 0 THEN NULL ELSE CAST(${args[0]} / ${args[1]} AS ${duckType(result)}) END`,
  safe_add: (call) => `TRY(${typed((args) => `${args[0]} + ${args[1]}`)(call)})`,
  safe_subtract: (call) => `TRY(${typed((args) => `${args[0]} - ${args[1]}`)(call)})`,
  safe_multiply: (call) => `TRY(${typed((args) => `${args[0]} * ${args[1]}`)(call)})`,
  abs: typed((args) => `abs(${args[0]})`),
  sign: typed((args) => `sign(${args[0]})`),
  round: typed((args) => `round(${args[0]}${places(args)})`),
  trunc: typed((args) => `trunc(${args[0]}${places(args)})`),
  ceil: typed((args) => `ceil(${args[0]})`),
  ceiling: typed((args) => `ceil(${args[0]})`),
  floor: typed((args) => `floor(${args[0]})`),
  sqrt: typed((args) => `sqrt(${args[0]})`),
  pow: typed((args) => `pow(${args[0]}, ${args[1]})`),
  greatest: nullsWin('greatest'),
  least: nullsWin('least'),
  parse_numeric: ({ args, isSafe }) =>
    castSql(
      `regexp_replace(${args[0]}, '^\\s*([+-])\\s+', '\\1')`,
      { kind: 'STRING' },
      { kind: 'NUMERIC' },
      isSafe,
    ),
  is_nan: ({ args }) => `isnan(${args[0]})`,
  is_inf: ({ args }) => `isinf(${args[0]})`,
  rand: () => 'random()',
  // Floored, in BIGINT: bits of integers.
  $bitwise_and: typed((args) => `(${args[0]} & ${args[1]})`),
  $bitwise_or: typed((args) => `(${args[0]} | ${args[1]})`),
};

const places = (args: readonly string[]): string =>
  args[1] === undefined ? '' : `, CAST(${args[1]} AS INTEGER)`;

/** The result in the type that the analyzer says: DuckDB widens and narrows by rules of its own. */
function typed(write: (args: readonly string[]) => string): Writer {
  return ({ args, result }) => `CAST(${write(args)} AS ${duckType(result)})`;
}

function operator(sign: string): Writer {
  const plain = typed((args) => `(${args[0]} ${sign} ${args[1]})`);
  return (call) => {
    if (call.result.kind !== 'DATE') return plain(call);
    // Days are whole numbers of another width in DuckDB.
    const parts = call.args.map((arg, index) =>
      call.types[index]?.kind === 'INT64' ? `CAST(${arg} AS INTEGER)` : arg,
    );
    return `(${parts.join(` ${sign} `)})`;
  };
}

function divided(call: Call, sign: string): string {
  const [value, by] = call.args;
  const numbers =
    call.result.kind === 'FLOAT64'
      ? [`CAST(${value} AS DOUBLE)`, `CAST(${by} AS DOUBLE)`]
      : [value, by];
  const zero = failure(call, 'division by zero');
  const sql = `CAST(${numbers[0]} ${sign} ${numbers[1]} AS ${duckType(call.result)})`;
  return `CASE WHEN ${by} = 0 THEN ${zero} ELSE ${sql} END`;
}

/** GREATEST and LEAST are NULL when one argument is. */
function nullsWin(name: string): Writer {
  return ({ args }) =>
    `CASE WHEN ${args.map((arg) => `${arg} IS NULL`).join(' OR ')} THEN NULL ELSE ${name}(${args.join(', ')}) END`;
}
