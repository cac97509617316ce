import type { Locale } from './locale.ts';
import { criterion } from './formula-criteria.ts';
import { CellError, toBoolean, toNumber, toText, type Value } from './formula-values.ts';

/** An argument of a function. It is evaluated only when read, so that IF evaluates one branch. */
export interface Argument {
  /** One value; the first of a range. */
  value(): Value;
  /** All values, row by row. */
  values(): Value[];
}

/** Where and when a formula is evaluated. */
export interface FunctionContext {
  readonly locale: Locale;
  /** The moment of calculation as a serial number in the spreadsheet's time zone. */
  readonly now: number;
  /** Zero-based row of the formula. */
  readonly row: number;
}

type FormulaFunction = (args: readonly Argument[], context: FunctionContext) => Value;

const wrongCount = (): CellError => new CellError('N_A', 'Wrong number of arguments.');

const allValues = (args: readonly Argument[]): Value[] => args.flatMap((arg) => arg.values());

/** A function of all numbers in its arguments; an error among them is the result. */
const ofNumbers =
  (compute: (numbers: readonly number[]) => number): FormulaFunction =>
  (args) => {
    const values = allValues(args);
    const error = values.find((value) => value instanceof CellError);
    return error ?? compute(values.filter((value) => typeof value === 'number'));
  };

function logical(args: readonly Argument[], all: boolean): Value {
  let result = all;
  for (const value of allValues(args)) {
    if (value === null) continue;
    const truth = toBoolean(value);
    if (truth instanceof CellError) return truth;
    result = all ? result && truth : result || truth;
  }
  return result;
}

/**
 * The functions that are calculated: those of a status cell, of counts over columns, and the few that tests let people
 * type. Any other, IMPORTXML above all, gives `#NAME?`. A new one is an entry here.
 */
export const FUNCTIONS: ReadonlyMap<string, FormulaFunction> = new Map(
  Object.entries<FormulaFunction>({
    IF: ([condition, then, otherwise]) => {
      if (condition === undefined || then === undefined) return wrongCount();
      const truth = toBoolean(condition.value());
      if (truth instanceof CellError) return truth;
      return truth ? then.value() : otherwise === undefined ? false : otherwise.value();
    },
    IFNA: ([tried, otherwise]) => {
      const value = tried?.value() ?? null;
      const isMissing = value instanceof CellError && value.type === 'N_A';
      return isMissing ? (otherwise?.value() ?? null) : value;
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
    ISNUMBER: ([argument]) => typeof argument?.value() === 'number',
    ISTEXT: ([argument]) => typeof argument?.value() === 'string',
    SUM: ofNumbers((numbers) => numbers.reduce((sum, value) => sum + value, 0)),
    // Math.max of many arguments would end the stack.
    MIN: ofNumbers((numbers) =>
      numbers.reduce((least, value) => Math.min(least, value), numbers[0] ?? 0),
    ),
    MAX: ofNumbers((numbers) =>
      numbers.reduce((most, value) => Math.max(most, value), numbers[0] ?? 0),
    ),
    COUNT: (args) => allValues(args).filter((value) => typeof value === 'number').length,
    COUNTA: (args) => allValues(args).filter((value) => value !== null).length,
    COUNTIF: ([range, condition]) => {
      if (range === undefined || condition === undefined) return wrongCount();
      return range.values().filter(criterion(condition.value())).length;
    },
    COUNTIFS: (args) => {
      if (args.length === 0 || args.length % 2 === 1) return wrongCount();
      const tests = args.flatMap((range, at) =>
        at % 2 === 1
          ? []
          : [{ cells: range.values(), meets: criterion(args[at + 1]?.value() ?? null) }],
      );
      const [first, ...others] = tests;
      if (others.some(({ cells }) => cells.length !== first?.cells.length)) {
        return new CellError('VALUE', 'Array arguments to COUNTIFS are of different size.');
      }
      const all = first?.cells ?? [];
      return all.filter((_, at) => tests.every(({ cells, meets }) => meets(cells[at] ?? null)))
        .length;
    },
    COUNTUNIQUE: (args) => {
      const filled = allValues(args).filter((value) => value !== null && value !== '');
      return new Set(filled.map((value) => (value instanceof CellError ? value.text : value))).size;
    },
    ROUND: ([argument, places]) => {
      const value = toNumber(argument?.value() ?? null);
      const digits = toNumber(places?.value() ?? null);
      if (value instanceof CellError) return value;
      if (digits instanceof CellError) return digits;
      return (Math.sign(value) * Math.round(Math.abs(value) * 10 ** digits)) / 10 ** digits;
    },
    WEEKDAY: ([argument, type]) => {
      const day = toNumber(argument?.value() ?? null);
      if (day instanceof CellError) return day;
      // 30 December 1899, day 0, was a Saturday.
      const fromSunday = (((Math.floor(day) + 6) % 7) + 7) % 7;
      const kind = type === undefined ? 1 : type.value();
      if (kind === 1) return fromSunday + 1;
      if (kind === 2) return ((fromSunday + 6) % 7) + 1;
      return kind === 3
        ? (fromSunday + 6) % 7
        : new CellError('NUM', 'Function WEEKDAY parameter 2 is out of range.');
    },
    REPT: ([argument, times], { locale }) => {
      const text = toText(argument?.value() ?? null, locale);
      const count = toNumber(times?.value() ?? null);
      if (text instanceof CellError) return text;
      if (count instanceof CellError) return count;
      return count < 0
        ? new CellError('VALUE', 'Function REPT parameter 2 is negative.')
        : text.repeat(Math.floor(count));
    },
    SUBSTITUTE: ([argument, searched, replacement, ...others], { locale }) => {
      if (replacement === undefined || others.length > 0) return wrongCount();
      const texts = [argument, searched, replacement].map((one) =>
        toText(one?.value() ?? null, locale),
      );
      const error = texts.find((one) => one instanceof CellError);
      if (error !== undefined) return error;
      const [text = '', from = '', to = ''] = texts.map(String);
      return from === '' ? text : text.replaceAll(from, () => to);
    },
    MID: ([argument, from, length], { locale }) => {
      const text = toText(argument?.value() ?? null, locale);
      const [start, count] = [from, length].map((one) => toNumber(one?.value() ?? null));
      if (text instanceof CellError) return text;
      if (start instanceof CellError) return start;
      if (count instanceof CellError) return count;
      if (start === undefined || count === undefined) return wrongCount();
      return text.slice(start - 1, start - 1 + count);
    },
    LEN: ([argument], { locale }) => {
      if (argument === undefined) return wrongCount();
      const text = toText(argument.value(), locale);
      return text instanceof CellError ? text : text.length;
    },
    NOW: (_, { now }) => now,
    TODAY: (_, { now }) => Math.floor(now),
    ROW: (args, { row }) =>
      args.length === 0 ? row + 1 : new CellError('NAME', 'Not supported here.'),
  }),
);
