/** A formula's failure as a cell shows it. */
export class CellError {
  readonly type: keyof typeof ERROR_TEXTS;
  readonly message: string;

  constructor(type: keyof typeof ERROR_TEXTS, message: string) {
    this.type = type;
    this.message = message;
  }

  /** `#NAME?` and similar. */
  get text(): string {
    return ERROR_TEXTS[this.type];
  }
}

const ERROR_TEXTS = {
  ERROR: '#ERROR!',
  DIVIDE_BY_ZERO: '#DIV/0!',
  VALUE: '#VALUE!',
  REF: '#REF!',
  NAME: '#NAME?',
  NUM: '#NUM!',
  N_A: '#N/A',
} as const;

/** The content that a cell shows: a literal, the result of its formula, or an error. */
export type Value = string | number | boolean | null | CellError;

/** A value as a number for Sheets' operators; a text that is not a number is #VALUE!. */
export function toNumber(value: Value): number | CellError {
  if (value instanceof CellError) return value;
  if (value === null || value === '') return 0;
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const number = Number(value.trim() === '' ? Number.NaN : value);
  if (Number.isFinite(number)) return number;
  return new CellError('VALUE', 'A text cannot be used as a number here.');
}

/** A value as text, without a cell's number format. */
export function toText(value: Value): string | CellError {
  if (value instanceof CellError) return value;
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  return String(value);
}

/** A value as a condition. */
export function toBoolean(value: Value): boolean | CellError {
  if (value instanceof CellError) return value;
  if (typeof value === 'string') {
    if (/^true$/i.test(value)) return true;
    if (/^false$/i.test(value) || value === '') return false;
    return new CellError('VALUE', 'A text cannot be used as a condition.');
  }
  return value !== null && Boolean(value);
}

const collator = new Intl.Collator('en', { sensitivity: 'accent' });

const rank = (value: Value): number =>
  typeof value === 'number'
    ? 0
    : typeof value === 'string'
      ? 1
      : typeof value === 'boolean'
        ? 2
        : 3;

/** Orders two values as `<` does: numbers before text before booleans before errors; ignores letter case; empty equals 0 and "". */
export function compareValues(a: Value, b: Value): number {
  const empty = (other: Value): Value =>
    typeof other === 'string' ? '' : typeof other === 'boolean' ? false : 0;
  const left = a ?? empty(b);
  const right = b ?? empty(a);
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  if (typeof left === 'string' && typeof right === 'string') {
    return collator.compare(left, right);
  }
  if (left instanceof CellError) return 0;
  return Number(left) - Number(right);
}

/** The result of a binary operator. */
export function operate(operator: string, a: Value, b: Value): Value {
  if (a instanceof CellError) return a;
  if (b instanceof CellError) return b;
  if (operator === '&') {
    const [left, right] = [toText(a), toText(b)];
    if (left instanceof CellError) return left;
    return right instanceof CellError ? right : left + right;
  }
  if (operator in COMPARISONS) return COMPARISONS[operator]?.(compareValues(a, b)) ?? false;
  const [left, right] = [toNumber(a), toNumber(b)];
  if (left instanceof CellError) return left;
  if (right instanceof CellError) return right;
  return arithmetic(operator, left, right);
}

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '>=': (order) => order >= 0,
};

function arithmetic(operator: string, a: number, b: number): Value {
  if (operator === '/' && b === 0) {
    return new CellError('DIVIDE_BY_ZERO', 'Function DIVIDE parameter 2 cannot be zero.');
  }
  const results: Record<string, number> = {
    '+': a + b,
    '-': a - b,
    '*': a * b,
    '/': a / b,
  };
  const result = results[operator] ?? Number.NaN;
  return Number.isFinite(result) ? result : new CellError('NUM', 'The result is not a number.');
}
