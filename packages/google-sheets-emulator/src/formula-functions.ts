import type { Locale } from './locale.ts';
import { CellError, compareValues, toBoolean, toText, type Value } from './formula-values.ts';

/** An argument of a function; evaluated only when read, so that IF leaves the other branch alone. */
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

/**
 * The functions that are calculated: those of a status cell, of counts over a column, and the few that tests let people
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
