import { invalidQuery, notDone } from './api-error.ts';
import { textLiteral } from './emit.ts';
import { constantText, datePart, type Call, type Writer } from './function-call.ts';
import { castSql } from './sql-cast.ts';

/** Functions of moments, days and times. The only time zone is UTC. */
export const TIME_FUNCTIONS: Readonly<Record<string, Writer>> = {
  current_timestamp: (call) => now(call),
  current_datetime: (call) => now(call),
  current_date: (call) => `CAST(${now(call)} AS DATE)`,
  current_time: (call) => `CAST(${now(call)} AS TIME)`,
  timestamp: (call) => converted(call, 'TIMESTAMP'),
  datetime: (call) => converted(call, 'DATETIME'),
  date: (call) => converted(call, 'DATE'),
  time: (call) => converted(call, 'TIME'),
  timestamp_trunc: truncated,
  datetime_trunc: truncated,
  date_trunc: (call) => `CAST(${truncated(call)} AS DATE)`,
  timestamp_add: (call) => shifted(call, '+'),
  timestamp_sub: (call) => shifted(call, '-'),
  datetime_add: (call) => shifted(call, '+'),
  datetime_sub: (call) => shifted(call, '-'),
  date_add: (call) => `CAST(${shifted(call, '+')} AS DATE)`,
  date_sub: (call) => `CAST(${shifted(call, '-')} AS DATE)`,
  timestamp_diff: difference,
  datetime_diff: (call) => boundaries(call),
  date_diff: (call) => boundaries(call),
  $extract: extracted,
  $extract_date: ({ args }) => `CAST(${args[0]} AS DATE)`,
  $extract_datetime: ({ args }) => args[0] ?? 'NULL',
  $extract_time: ({ args }) => `CAST(${args[0]} AS TIME)`,
  unix_micros: ({ args }) => `epoch_us(${args[0]})`,
  unix_millis: ({ args }) => `CAST(floor(epoch_us(${args[0]}) / 1000) AS BIGINT)`,
  unix_seconds: ({ args }) => `CAST(floor(epoch_us(${args[0]}) / 1000000) AS BIGINT)`,
  unix_date: ({ args }) => `CAST(${args[0]} - DATE '1970-01-01' AS BIGINT)`,
  timestamp_micros: ({ args }) => `make_timestamp(${args[0]})`,
  timestamp_millis: ({ args }) => `make_timestamp(${args[0]} * 1000)`,
  timestamp_seconds: ({ args }) => `make_timestamp(${args[0]} * 1000000)`,
  timestamp_from_unix_micros: ({ args }) => `make_timestamp(${args[0]})`,
  date_from_unix_date: ({ args }) => `(DATE '1970-01-01' + CAST(${args[0]} AS INTEGER))`,
  format_timestamp: formatted,
  format_datetime: formatted,
  format_date: formatted,
  parse_timestamp: (call) => parsed(call, 'TIMESTAMP'),
  parse_datetime: (call) => parsed(call, 'TIMESTAMP'),
  parse_date: (call) => parsed(call, 'DATE'),
};

function now(call: Call): string {
  utcOnly(call, 0);
  return call.emit.placeholder({ from: 'now' }, { kind: 'TIMESTAMP' });
}

/** A time zone may be named when it is UTC. */
function utcOnly(call: Call, place: number): void {
  const node = call.nodes[place];
  if (node === undefined) return;
  const zone = constantText(node);
  if (zone === undefined || !/^(utc|etc\/utc|\+00(:00)?|)$/i.test(zone)) {
    throw notDone(`the time zone ${zone ?? 'that is no constant'}`);
  }
}

function converted(call: Call, to: 'TIMESTAMP' | 'DATETIME' | 'DATE' | 'TIME'): string {
  const [from] = call.types;
  if (from === undefined) throw notDone(`the function ${to} without arguments`);
  if (from.kind === 'INT64') return made(call, to);
  utcOnly(call, 1);
  return castSql(call.args[0] ?? 'NULL', from, { kind: to }, call.isSafe);
}

/** DATE(2026, 1, 2) and the like. */
function made(call: Call, to: string): string {
  const [a, b, c, d, e, f] = call.args;
  if (to === 'DATE') return `make_date(${a}, ${b}, ${c})`;
  if (to === 'DATETIME')
    return `make_timestamp(${a}, ${b}, ${c}, ${d}, ${e}, CAST(${f} AS DOUBLE))`;
  throw notDone(`the function ${to} of numbers`);
}

function truncated(call: Call): string {
  const part = datePart(call.nodes[1]);
  utcOnly(call, 2);
  const value = `CAST(${call.args[0]} AS TIMESTAMP)`;
  if (part === 'WEEK') return `(date_trunc('week', ${value} + INTERVAL 1 DAY) - INTERVAL 1 DAY)`;
  const name = part === 'ISOWEEK' || part === 'WEEK_MONDAY' ? 'week' : part.toLowerCase();
  if (part === 'ISOYEAR' || part === 'DATE' || part === 'TIME')
    throw notDone(`truncation to ${part}`);
  return `CAST(date_trunc('${name}', ${value}) AS TIMESTAMP)`;
}

function shifted(call: Call, sign: '+' | '-'): string {
  const [value, amount] = call.args;
  const part = datePart(call.nodes[2]);
  const unit = part === 'QUARTER' ? '3 * ' : '';
  const name = part === 'QUARTER' ? 'months' : `${part.toLowerCase()}s`;
  const known = 'years quarters months weeks days hours minutes seconds milliseconds microseconds';
  if (!known.split(' ').includes(name)) throw notDone(`addition of ${part}`);
  const made = {
    weeks: `to_weeks`,
    milliseconds: 'to_milliseconds',
    microseconds: 'to_microseconds',
  }[name];
  const count =
    name === 'microseconds' ||
    name === 'hours' ||
    name === 'minutes' ||
    name === 'milliseconds' ||
    name === 'seconds'
      ? `CAST(${amount} AS BIGINT)`
      : `CAST(${unit}${amount} AS INTEGER)`;
  return `(${value} ${sign} ${made ?? `to_${name}`}(${count}))`;
}

const MICROS: Readonly<Record<string, string>> = {
  MICROSECOND: '1',
  MILLISECOND: '1000',
  SECOND: '1000000',
  MINUTE: '60000000',
  HOUR: '3600000000',
  DAY: '86400000000',
};

/** Whole parts between two moments, cut off toward zero. */
function difference(call: Call): string {
  const size = MICROS[datePart(call.nodes[2])];
  if (size === undefined) throw notDone('TIMESTAMP_DIFF by such a part');
  return `CAST(trunc((epoch_us(${call.args[0]}) - epoch_us(${call.args[1]})) // ${size}) AS BIGINT)`;
}

/** Boundaries of the part that lie between two days. */
function boundaries(call: Call): string {
  const part = datePart(call.nodes[2]);
  if (!['DAY', 'MONTH', 'QUARTER', 'YEAR', 'HOUR', 'MINUTE', 'SECOND', 'ISOWEEK'].includes(part)) {
    throw notDone(`differences by ${part}`);
  }
  const name = part === 'ISOWEEK' ? 'week' : part.toLowerCase();
  return `date_diff('${name}', ${call.args[1]}, ${call.args[0]})`;
}

function extracted(call: Call): string {
  const part = datePart(call.nodes[1]);
  utcOnly(call, 2);
  const value = call.args[0];
  switch (part) {
    case 'DATE':
      return `CAST(${value} AS DATE)`;
    case 'TIME':
      return `CAST(${value} AS TIME)`;
    case 'DAYOFWEEK':
      return `CAST(dayofweek(${value}) + 1 AS BIGINT)`;
    case 'DAYOFYEAR':
      return `CAST(dayofyear(${value}) AS BIGINT)`;
    case 'WEEK':
      return `CAST(strftime(${value}, '%U') AS BIGINT)`;
    case 'ISOWEEK':
      return `CAST(weekofyear(${value}) AS BIGINT)`;
    case 'ISOYEAR':
      return `CAST(isoyear(${value}) AS BIGINT)`;
    case 'MICROSECOND':
      return `CAST(microsecond(${value}) % 1000000 AS BIGINT)`;
    case 'MILLISECOND':
      return `CAST(millisecond(${value}) % 1000 AS BIGINT)`;
    case 'YEAR':
    case 'QUARTER':
    case 'MONTH':
    case 'DAY':
    case 'HOUR':
    case 'MINUTE':
    case 'SECOND':
      return `CAST(${part.toLowerCase()}(${value}) AS BIGINT)`;
    default:
      throw notDone(`EXTRACT of ${part}`);
  }
}

/** Elements of format that mean the same in both, and BigQuery's own in DuckDB's words. */
const ELEMENTS: Readonly<Record<string, string>> = {
  '%Y': '%Y',
  '%m': '%m',
  '%d': '%d',
  '%H': '%H',
  '%M': '%M',
  '%S': '%S',
  '%y': '%y',
  '%j': '%j',
  '%b': '%b',
  '%B': '%B',
  '%a': '%a',
  '%A': '%A',
  '%p': '%p',
  '%I': '%I',
  '%F': '%Y-%m-%d',
  '%T': '%H:%M:%S',
  '%R': '%H:%M',
  '%D': '%m/%d/%y',
  '%E6S': '%S.%f',
  '%E3S': '%S.%g',
  '%E4Y': '%Y',
  '%G': '%G',
  '%V': '%V',
  '%u': '%u',
  '%%': '%%',
  '%Z': 'UTC',
  '%z': '+0000',
  '%Ez': '+00:00',
};

function pattern(call: Call): string {
  const text = constantText(call.nodes[0]);
  if (text === undefined) throw notDone('time formats that are no constant');
  return text
    .split(/(%(?:E\d[SY]|Ez|.))/)
    .map((piece) => {
      if (!piece.startsWith('%')) return piece;
      const known = ELEMENTS[piece];
      if (known === undefined) throw notDone(`the element ${piece} of a time format`);
      return known;
    })
    .join('');
}

function formatted(call: Call): string {
  utcOnly(call, 2);
  const value = call.args[1];
  // What is no element of DuckDB's, such as UTC, passes through.
  return `strftime(${value}, ${textLiteral(pattern(call))})`;
}

function parsed(call: Call, to: 'TIMESTAMP' | 'DATE'): string {
  utcOnly(call, 2);
  const format = constantText(call.nodes[0]) ?? '';
  if (/%(?:Z|z|Ez|E\d)/.test(format.replaceAll(/%E[46][SY]|%E\*S/g, ''))) {
    throw notDone(`PARSE_${to} with ${format}`);
  }
  if (format === '') throw invalidQuery(`Failed to parse input string`);
  const text = call.args[1];
  const shape = textLiteral(pattern(call).replaceAll('%S.%f', '%S.%f'));
  const value = `CAST(try_strptime(${text}, ${shape}) AS ${to})`;
  const bad = call.isSafe ? 'NULL' : `error('Failed to parse input string ' || to_json(${text}))`;
  return `CASE WHEN ${text} IS NULL THEN NULL WHEN try_strptime(${text}, ${shape}) IS NULL THEN ${bad} ELSE ${value} END`;
}
