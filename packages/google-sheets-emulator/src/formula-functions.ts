import { criterion } from './formula-criteria.ts';
import { CellError, toBoolean, toNumber, toText, type Value } from './formula-values.ts';

/** An argument of a function. It is evaluated only when read, so that IF evaluates one branch. */
export interface Argument {
  /** One value; the first of a range. */
  value(): Value;
  /** All values, row by row. */
  values(): Value[];
}

/** `now`: the moment of calculation as a serial number in the spreadsheet's time zone. */
type FormulaFunction = (args: readonly Argument[], now: number) => Value;

const wrongCount = (): CellError => new CellError('N_A', 'Wrong number of arguments.');

const allValues = (args: readonly Argument[]): Value[] => args.flatMap((arg) => arg.values());

/** The supported functions: those of the Mirror and Summary tabs. Any other gives `#NAME?`. Add new functions here. */
export const FUNCTIONS: ReadonlyMap<string, FormulaFunction> = new Map(
  Object.entries<FormulaFunction>({
    IF: ([condition, then, otherwise]) => {
      if (condition === undefined || then === undefined) return wrongCount();
      const truth = toBoolean(condition.value());
      if (truth instanceof CellError) return truth;
      return truth ? then.value() : otherwise === undefined ? false : otherwise.value();
    },
    ISNUMBER: ([argument]) => typeof argument?.value() === 'number',
    SUM: (args) => {
      const values = allValues(args);
      const error = values.find((value) => value instanceof CellError);
      return (
        error ?? values.reduce<number>((sum, one) => sum + (typeof one === 'number' ? one : 0), 0)
      );
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
      if (type?.value() !== 2)
        return new CellError('NUM', 'The emulator counts days from Monday only.');
      // 30 December 1899, day 0, was a Saturday.
      return ((Math.floor(day) + 5) % 7) + 1;
    },
    REPT: ([argument, times]) => {
      const text = toText(argument?.value() ?? null);
      const count = toNumber(times?.value() ?? null);
      if (text instanceof CellError) return text;
      return count instanceof CellError ? count : text.repeat(count);
    },
    NOW: (_, now) => now,
    TODAY: (_, now) => Math.floor(now),
  }),
);
