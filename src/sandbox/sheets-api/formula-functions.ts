import { civilOf, serialOf } from './serial-date.ts';
import { formatNumber, isDatePattern } from './number-format.ts';
import type { Locale } from './locale.ts';
import {
  CellError,
  compareValues,
  toBoolean,
  toNumber,
  toText,
  type Value,
} from './formula-values.ts';

/** An argument of a function: worked out only when it is asked for, so that IF leaves the other branch alone. */
export interface Argument {
  /** One value; the first of a range. */
  value(): Value;
  /** All values, row by row. */
  values(): Value[];
  /** By rows: for look-ups. */
  rows(): Value[][];
}

/** What functions know of the world. */
export interface FunctionWorld {
  readonly locale: Locale;
  /** The moment of calculation as a serial number in the spreadsheet's time zone. */
  readonly now: number;
  /** Zero-based place of the formula. */
  readonly row: number;
  readonly column: number;
}

type Fn = (args: readonly Argument[], world: FunctionWorld) => Value;

const wrongCount = (): CellError => new CellError('N_A', 'Wrong number of arguments.');
const blank = (value: Value): boolean => value === null || value === '';

/** A function of one number. */
const ofNumber =
  (compute: (value: number) => number): Fn =>
  ([argument]) => {
    if (argument === undefined) return wrongCount();
    const number = toNumber(argument.value());
    return number instanceof CellError ? number : compute(number);
  };

/** A function of one text. */
const ofText =
  (compute: (text: string) => Value): Fn =>
  ([argument], { locale }) => {
    if (argument === undefined) return wrongCount();
    const text = toText(argument.value(), locale);
    return text instanceof CellError ? text : compute(text);
  };

/** A function of all numbers in its arguments; an error among them is the result. */
const ofNumbers =
  (compute: (numbers: readonly number[]) => Value): Fn =>
  (args) => {
    const values = args.flatMap((argument) => argument.values());
    const error = values.find((value) => value instanceof CellError);
    if (error instanceof CellError) return error;
    return compute(values.filter((value) => typeof value === 'number'));
  };

const ofAll =
  (compute: (values: readonly Value[]) => Value): Fn =>
  (args) =>
    compute(args.flatMap((argument) => argument.values()));

const sum = (numbers: readonly number[]): number => numbers.reduce((all, value) => all + value, 0);
const most = (numbers: readonly number[], pick: (a: number, b: number) => number): number =>
  numbers.length === 0 ? 0 : numbers.reduce((best, value) => pick(best, value));

function logical(args: readonly Argument[], all: boolean): Value {
  let result = all;
  for (const value of args.flatMap((argument) => argument.values())) {
    if (value === null) continue;
    const truth = toBoolean(value);
    if (truth instanceof CellError) return truth;
    result = all ? result && truth : result || truth;
  }
  return result;
}

/** COUNTIF's criterion: `>5`, `<>x`, or what must be equal; `*` and `?` stand for any text. */
function criterion(value: Value): (candidate: Value) => boolean {
  const match = /^(<>|<=|>=|<|>|=)?([\s\S]*)$/.exec(
    String(value instanceof CellError ? '' : (value ?? '')),
  );
  const [operator, text] = [match?.[1] ?? '=', match?.[2] ?? ''];
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const operand: Value = Number.isNaN(number) ? text : number;
  if (typeof operand === 'string' && (operator === '=' || operator === '<>')) {
    const source = operand
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*/g, '[\\s\\S]*')
      .replace(/\?/g, '[\\s\\S]');
    const pattern = new RegExp(`^${source}$`, 'i');
    return (candidate) =>
      pattern.test(String(candidate instanceof CellError ? '' : (candidate ?? ''))) ===
      (operator === '=');
  }
  return (candidate) => {
    if (typeof candidate !== typeof operand) return operator === '<>';
    const order = compareValues(candidate, operand);
    if (operator === '=') return order === 0;
    if (operator === '<>') return order !== 0;
    return operator.startsWith('<')
      ? order < 0 || (operator === '<=' && order === 0)
      : order > 0 || (operator === '>=' && order === 0);
  };
}

const conditional: Record<string, Fn> = {
  IF: ([condition, then, otherwise]) => {
    if (condition === undefined || then === undefined) return wrongCount();
    const truth = toBoolean(condition.value());
    if (truth instanceof CellError) return truth;
    return truth ? then.value() : otherwise === undefined ? false : otherwise.value();
  },
  IFS: (args) => {
    for (let at = 0; at + 1 < args.length; at += 2) {
      const truth = toBoolean(args[at]?.value() ?? null);
      if (truth instanceof CellError) return truth;
      if (truth) return args[at + 1]?.value() ?? null;
    }
    return new CellError('N_A', 'No match.');
  },
  IFERROR: ([tried, otherwise]) => {
    const value = tried?.value() ?? null;
    return value instanceof CellError ? (otherwise?.value() ?? null) : value;
  },
  AND: (args) => logical(args, true),
  OR: (args) => logical(args, false),
  NOT: ([argument]) => {
    const truth = toBoolean(argument?.value() ?? null);
    return truth instanceof CellError ? truth : !truth;
  },
  ISBLANK: ([argument]) => (argument?.value() ?? null) === null,
  ISERROR: ([argument]) => argument?.value() instanceof CellError,
  ISNUMBER: ([argument]) => typeof argument?.value() === 'number',
};

const counting: Record<string, Fn> = {
  SUM: ofNumbers(sum),
  AVERAGE: ofNumbers((numbers) =>
    numbers.length === 0
      ? new CellError(
          'DIVIDE_BY_ZERO',
          'Evaluation of function AVERAGE caused a divide by zero error.',
        )
      : sum(numbers) / numbers.length,
  ),
  MIN: ofNumbers((numbers) => most(numbers, Math.min)),
  MAX: ofNumbers((numbers) => most(numbers, Math.max)),
  COUNT: ofAll((values) => values.filter((value) => typeof value === 'number').length),
  COUNTA: ofAll((values) => values.filter((value) => value !== null).length),
  COUNTBLANK: ofAll((values) => values.filter(blank).length),
  COUNTUNIQUE: ofAll((values) => new Set(values.filter((value) => !blank(value))).size),
  COUNTIF: ([range, condition]) => {
    if (range === undefined || condition === undefined) return wrongCount();
    return range.values().filter(criterion(condition.value())).length;
  },
  VLOOKUP: ([key, table, index]) => {
    if (key === undefined || table === undefined || index === undefined) return wrongCount();
    const [wanted, column] = [key.value(), toNumber(index.value())];
    if (column instanceof CellError) return column;
    const hit = table.rows().find(([first]) => compareValues(first ?? null, wanted) === 0);
    if (hit === undefined)
      return new CellError('N_A', 'Did not find the value in VLOOKUP evaluation.');
    return hit[column - 1] ?? null;
  },
};

const numeric: Record<string, Fn> = {
  ABS: ofNumber(Math.abs),
  INT: ofNumber(Math.floor),
  ROUND: ([argument, places]) => {
    const number = toNumber(argument?.value() ?? null);
    const digits = toNumber(places?.value() ?? 0);
    if (number instanceof CellError) return number;
    if (digits instanceof CellError) return digits;
    const scale = 10 ** digits;
    return (Math.sign(number) * Math.round(Math.abs(number) * scale)) / scale;
  },
  MOD: ([a, b]) => {
    const [left, right] = [toNumber(a?.value() ?? null), toNumber(b?.value() ?? null)];
    if (left instanceof CellError) return left;
    if (right instanceof CellError) return right;
    if (right === 0)
      return new CellError('DIVIDE_BY_ZERO', 'Function MOD parameter 2 cannot be zero.');
    return left - right * Math.floor(left / right);
  },
};

const time: Record<string, Fn> = {
  NOW: (_, { now }) => now,
  TODAY: (_, { now }) => Math.floor(now),
  DATE: (args) => {
    const parts = args.map((argument) => toNumber(argument.value()));
    const [year, month, day] = parts;
    if (typeof year !== 'number' || typeof month !== 'number' || typeof day !== 'number') {
      return wrongCount();
    }
    return serialOf(year, month, day) ?? new CellError('NUM', 'Not a date.');
  },
  YEAR: ofNumber((serial) => civilOf(serial).year),
  MONTH: ofNumber((serial) => civilOf(serial).month),
  DAY: ofNumber((serial) => civilOf(serial).day),
  HOUR: ofNumber((serial) => civilOf(serial).hour),
  MINUTE: ofNumber((serial) => civilOf(serial).minute),
};

const textual: Record<string, Fn> = {
  LEN: ofText((text) => text.length),
  UPPER: ofText((text) => text.toUpperCase()),
  LOWER: ofText((text) => text.toLowerCase()),
  TRIM: ofText((text) => text.trim().replace(/ +/g, ' ')),
  CONCATENATE: (args, { locale }) => {
    const texts = args
      .flatMap((argument) => argument.values())
      .map((value) => toText(value, locale));
    const error = texts.find((text) => text instanceof CellError);
    return error ?? texts.filter((text) => typeof text === 'string').join('');
  },
  LEFT: ([argument, count], { locale }) => {
    const text = toText(argument?.value() ?? null, locale);
    const length = toNumber(count?.value() ?? 1);
    if (text instanceof CellError) return text;
    return length instanceof CellError ? length : text.slice(0, length);
  },
  TEXT: ([argument, format], { locale }) => {
    if (argument === undefined || format === undefined) return wrongCount();
    const value = argument.value();
    const pattern = toText(format.value(), locale);
    if (typeof value !== 'number') return value;
    if (pattern instanceof CellError) return pattern;
    return formatNumber(
      value,
      { type: isDatePattern(pattern) ? 'DATE_TIME' : 'NUMBER', pattern },
      locale,
    );
  },
  HYPERLINK: ([address, label]) => (label ?? address)?.value() ?? wrongCount(),
};

const placing: Record<string, Fn> = {
  ROW: (args, { row }) =>
    args.length === 0 ? row + 1 : new CellError('NAME', 'Not supported here.'),
  COLUMN: (args, { column }) =>
    args.length === 0 ? column + 1 : new CellError('NAME', 'Not supported here.'),
};

/**
 * The functions that the stand-in calculates: enough for a health cell and for the notes people keep. Everything else,
 * IMPORTXML above all, is `#NAME?`.
 */
export const FUNCTIONS: ReadonlyMap<string, Fn> = new Map(
  Object.entries({ ...conditional, ...counting, ...numeric, ...time, ...textual, ...placing }),
);
