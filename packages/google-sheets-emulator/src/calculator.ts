import { Formula } from './cell.ts';
import type { Document } from './document.ts';
import { FUNCTIONS, type Argument, type FunctionContext } from './formula-functions.ts';
import { FormulaSyntaxError, parseFormula, type Node } from './formula-parser.ts';
import type { Reference } from './formula-tokens.ts';
import { CellError, operate, toNumber, type Value } from './formula-values.ts';
import { localeOf, type Locale } from './locale.ts';
import { formatNumber, isDateFormat } from './number-format.ts';
import { civilOf, serialOfInstant } from './serial-date.ts';
import type { Area, Sheet } from './sheet.ts';

/** The cell that a formula stands in. */
interface Place {
  readonly sheet: Sheet;
  readonly row: number;
  readonly column: number;
}

/** Deeper chains of formulas than this are taken for circular, before the stack ends. */
const MAX_DEPTH = 500;

/** Reads cells of one document as of one instant; results of formulas are kept for as long as it lives. */
export class Calculator {
  readonly document: Document;
  readonly locale: Locale;
  readonly #now: number;
  readonly #results = new Map<Sheet, Map<number, Value>>();
  readonly #trees = new Map<string, Node | CellError>();
  readonly #open = new Set<string>();

  constructor(document: Document, nowMs: number) {
    this.document = document;
    this.locale = localeOf(document.properties.locale);
    this.#now = serialOfInstant(nowMs, document.properties.timeZone);
  }

  /** The year that a typed date without one means. */
  get year(): number {
    return civilOf(this.#now).year;
  }

  /** The effective value of a cell. */
  value(sheet: Sheet, row: number, column: number): Value {
    const content = sheet.row(row)?.cells[column] ?? null;
    if (!(content instanceof Formula)) return content;
    const results = this.#results.get(sheet) ?? new Map<number, Value>();
    this.#results.set(sheet, results);
    const key = row * 20_000 + column;
    const known = results.get(key);
    if (known !== undefined) return known;
    const value = this.#guarded(content, { sheet, row, column });
    results.set(key, value);
    return value;
  }

  /** The result of a formula as if it stood in the given cell. */
  evaluate(formula: Formula, sheet: Sheet, row: number, column: number): Value {
    return this.#result(formula, { sheet, row, column });
  }

  /** The text that a cell shows, `''` when it is empty. */
  text(sheet: Sheet, row: number, column: number): string {
    return this.show(this.value(sheet, row, column), sheet, row, column);
  }

  /** A value of a cell as text, through the cell's number format. */
  show(value: Value, sheet: Sheet, row: number, column: number): string {
    if (value === null) return '';
    if (value instanceof CellError) return value.text;
    if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
    if (typeof value === 'string') return value;
    const format = sheet.row(row)?.style.cellStyles[column]?.format?.numberFormat;
    return formatNumber(value, format ?? this.#formulaFormat(sheet, row, column), this.locale);
  }

  /** True when a cell's format shows numbers as dates. */
  isDate(sheet: Sheet, row: number, column: number): boolean {
    return isDateFormat(sheet.row(row)?.style.cellStyles[column]?.format?.numberFormat);
  }

  /** `=NOW()` shows a date in a cell without a format. */
  #formulaFormat(sheet: Sheet, row: number, column: number): { type: string } | undefined {
    const content = sheet.row(row)?.cells[column];
    if (!(content instanceof Formula)) return undefined;
    const match = /^=\s*(NOW|TODAY)\s*\([^()]*\)\s*$/i.exec(content.text);
    if (match === null) return undefined;
    return { type: match[1]?.toUpperCase() === 'NOW' ? 'DATE_TIME' : 'DATE' };
  }

  #guarded(formula: Formula, place: Place): Value {
    const key = `${place.sheet.id} ${place.row} ${place.column}`;
    if (this.#open.has(key) || this.#open.size > MAX_DEPTH) {
      return new CellError('REF', 'Circular dependency detected.');
    }
    this.#open.add(key);
    try {
      return this.#result(formula, place);
    } finally {
      this.#open.delete(key);
    }
  }

  #result(formula: Formula, place: Place): Value {
    const known = this.#trees.get(formula.text);
    const tree = known ?? this.#parse(formula.text);
    if (known === undefined) this.#trees.set(formula.text, tree);
    return tree instanceof CellError ? tree : (this.#node(tree, place) ?? 0);
  }

  #parse(text: string): Node | CellError {
    try {
      return parseFormula(text, this.locale);
    } catch (error) {
      if (error instanceof FormulaSyntaxError) return new CellError('ERROR', error.message);
      throw error;
    }
  }

  #node(node: Node, place: Place): Value {
    switch (node.kind) {
      case 'literal':
        return node.value;
      case 'broken':
        return new CellError('REF', 'Reference does not exist.');
      case 'name':
        return this.#named(node.name);
      case 'reference':
        return this.#referenced(node.reference, place);
      case 'unary': {
        const number = toNumber(this.#node(node.operand, place));
        if (number instanceof CellError) return number;
        return node.operator === '-' ? -number : node.operator === '%' ? number / 100 : number;
      }
      case 'binary': {
        const left = this.#node(node.left, place);
        return operate(node.operator, left, this.#node(node.right, place), this.locale);
      }
      case 'call': {
        const run = FUNCTIONS.get(node.name);
        if (run === undefined) return new CellError('NAME', `Unknown function: '${node.name}'.`);
        const context: FunctionContext = { locale: this.locale, now: this.#now, row: place.row };
        return run(
          node.args.map((argument) => this.#argument(argument, place)),
          context,
        );
      }
    }
  }

  #argument(node: Node, place: Place): Argument {
    const target = node.kind === 'reference' ? this.#target(node.reference, place) : undefined;
    if (target === undefined || target instanceof CellError) {
      const value = (): Value => target ?? this.#node(node, place);
      return { value, values: () => [value()] };
    }
    return {
      value: () => this.value(target.sheet, target.area.top, target.area.left),
      values: () => this.#cells(target.sheet, target.area),
    };
  }

  #cells(sheet: Sheet, { top, bottom, left, right }: Area): Value[] {
    const values: Value[] = [];
    const end = Math.min(bottom, Math.max(sheet.usedRows, top + 1));
    for (let row = top; row < end; row++) {
      for (let column = left; column < right; column++) values.push(this.value(sheet, row, column));
    }
    return values;
  }

  #target(reference: Reference, place: Place): { sheet: Sheet; area: Area } | CellError {
    const missing = new CellError('REF', 'Reference does not exist.');
    const { title, start, end } = reference;
    const sheet = title === undefined ? place.sheet : this.document.byTitle(title);
    if (sheet === undefined) return missing;
    const last = end ?? start;
    const area: Area = {
      top: start.row ?? 0,
      bottom: last.row === undefined ? sheet.rowCount : last.row + 1,
      left: start.column ?? 0,
      right: last.column === undefined ? sheet.columnCount : last.column + 1,
    };
    const inside = area.top < sheet.rowCount && area.left < sheet.columnCount;
    if (!inside) return missing;
    return {
      sheet,
      area: {
        ...area,
        bottom: Math.min(area.bottom, sheet.rowCount),
        right: Math.min(area.right, sheet.columnCount),
      },
    };
  }

  /** A range where one value is wanted gives the one in the formula's own row or column, if there is one. */
  #referenced(reference: Reference, place: Place): Value {
    const target = this.#target(reference, place);
    if (target instanceof CellError) return target;
    const { sheet, area } = target;
    if (reference.end === undefined) return this.value(sheet, area.top, area.left);
    if (area.right - area.left === 1 && place.row >= area.top && place.row < area.bottom) {
      return this.value(sheet, place.row, area.left);
    }
    if (area.bottom - area.top === 1 && place.column >= area.left && place.column < area.right) {
      return this.value(sheet, area.top, place.column);
    }
    return new CellError('VALUE', 'An array value could not be found.');
  }

  #named(name: string): Value {
    const named = this.document.namedRanges.find(
      (item) => item.name?.toLowerCase() === name.toLowerCase(),
    );
    if (named === undefined) return new CellError('NAME', `Unknown range name: '${name}'.`);
    const sheet = this.document.grid(named.range?.sheetId);
    return this.value(sheet, named.range?.startRowIndex ?? 0, named.range?.startColumnIndex ?? 0);
  }
}
