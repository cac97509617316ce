import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Calculator } from './calculator.ts';
import { CellError, type Value } from './formula-values.ts';
import { Formula } from './cell.ts';
import { copyFormula } from './formula-moves.ts';
import type { Sheet } from './sheet.ts';
import { typeIn } from './typed-input.ts';

/** The cell that a condition is asked about. */
export interface Subject {
  readonly calculator: Calculator;
  readonly sheet: Sheet;
  readonly row: number;
  readonly column: number;
}

/** Where the condition's own formula is written: relative references count from there. */
export interface Origin {
  readonly row: number;
  readonly column: number;
}

type Test = (value: Value, text: string, operands: readonly Value[]) => boolean;

const num = (value: Value | undefined): number => (typeof value === 'number' ? value : Number.NaN);
const str = (value: Value | undefined): string =>
  (value instanceof CellError ? value.text : String(value ?? '')).toLowerCase();

const NUMBER_TESTS: Record<string, (value: number, a: number, b: number) => boolean> = {
  NUMBER_GREATER: (value, a) => value > a,
  NUMBER_GREATER_THAN_EQ: (value, a) => value >= a,
  NUMBER_LESS: (value, a) => value < a,
  NUMBER_LESS_THAN_EQ: (value, a) => value <= a,
  NUMBER_EQ: (value, a) => value === a,
  NUMBER_NOT_EQ: (value, a) => value !== a,
  NUMBER_BETWEEN: (value, a, b) => value >= a && value <= b,
  NUMBER_NOT_BETWEEN: (value, a, b) => value < a || value > b,
  DATE_EQ: (value, a) => Math.floor(value) === Math.floor(a),
  DATE_BEFORE: (value, a) => value < Math.floor(a),
  DATE_AFTER: (value, a) => value >= Math.floor(a) + 1,
  DATE_ON_OR_BEFORE: (value, a) => value < Math.floor(a) + 1,
  DATE_ON_OR_AFTER: (value, a) => value >= Math.floor(a),
  DATE_BETWEEN: (value, a, b) => value >= Math.floor(a) && value < Math.floor(b) + 1,
};

const TEXT_TESTS: Record<string, Test> = {
  TEXT_CONTAINS: (_, text, [a]) => text.toLowerCase().includes(str(a)),
  TEXT_NOT_CONTAINS: (_, text, [a]) => !text.toLowerCase().includes(str(a)),
  TEXT_STARTS_WITH: (_, text, [a]) => text.toLowerCase().startsWith(str(a)),
  TEXT_ENDS_WITH: (_, text, [a]) => text.toLowerCase().endsWith(str(a)),
  TEXT_EQ: (_, text, [a]) => text.toLowerCase() === str(a),
  TEXT_NOT_EQ: (_, text, [a]) => text.toLowerCase() !== str(a),
  BLANK: (_, text) => text === '',
  NOT_BLANK: (_, text) => text !== '',
  BOOLEAN: (value) => typeof value === 'boolean',
  ONE_OF_LIST: (_, text, list) => list.some((item) => str(item) === text.toLowerCase()),
};

function operand(subject: Subject, entered: string | null | undefined, origin: Origin): Value {
  const { calculator, sheet, row, column } = subject;
  const { content } = typeIn(entered ?? '', calculator.locale, calculator.year);
  if (!(content instanceof Formula)) return content;
  const moved = copyFormula(content, row - origin.row, column - origin.column);
  return calculator.evaluate(moved, sheet, row, column);
}

/** True when the cell meets the condition. A kind that the emulator does not know is met by nothing. */
export function meets(
  condition: sheets_v4.Schema$BooleanCondition,
  subject: Subject,
  origin: Origin,
): boolean {
  const { calculator, sheet, row, column } = subject;
  const type = condition.type ?? '';
  const operands = (condition.values ?? []).map((value) =>
    operand(subject, value.userEnteredValue, origin),
  );
  if (type === 'CUSTOM_FORMULA') return operands[0] === true || num(operands[0]) > 0;
  const value = calculator.value(sheet, row, column);
  if (value instanceof CellError) return false;
  const numeric = NUMBER_TESTS[type];
  if (numeric !== undefined) {
    return typeof value === 'number' && numeric(value, num(operands[0]), num(operands[1]));
  }
  return TEXT_TESTS[type]?.(value, calculator.text(sheet, row, column), operands) ?? false;
}
