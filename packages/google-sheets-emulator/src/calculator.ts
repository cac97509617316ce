import { columnLetters } from './a1.ts';
import { Formula } from './cell.ts';
import type { Document } from './document.ts';
import {
  broadcast,
  filterRows,
  givesArray,
  type Grid,
  isFailure,
  MAPPED_FUNCTIONS,
  single,
} from './formula-arrays.ts';
import { query } from './formula-query.ts';
import { FUNCTIONS, type Argument } from './formula-functions.ts';
import { FormulaSyntaxError, parseFormula, type Node } from './formula-parser.ts';
import type { Reference } from './formula-tokens.ts';
import { CellError, operate, type Value } from './formula-values.ts';
import { formatNumber } from './number-format.ts';
import { serialOfInstant } from './serial-date.ts';
import type { Area, Sheet } from './sheet.ts';

/** The cell of a formula. */
interface Place {
  readonly sheet: Sheet;
  readonly row: number;
  readonly column: number;
}

/** More than the maximum number of columns of a tab. */
const COLUMN_SPAN = 20_000;
/** A cell of a tab as one number. */
const keyOf = (row: number, column: number): number => row * COLUMN_SPAN + column;

/** Deeper chains of formulas than this are treated as circular, before the stack overflows. */
const MAX_DEPTH = 500;

/** Reads cells of one document at one instant, and caches the results of formulas. */
export class Calculator {
  readonly document: Document;
  readonly #now: number;
  readonly #results = new Map<Sheet, Map<number, Value>>();
  readonly #trees = new Map<string, Node | CellError>();
  readonly #open = new Set<string>();
  readonly #spilled = new Map<Sheet, Map<number, Value>>();

  constructor(document: Document, nowMs: number) {
    this.document = document;
    this.#now = serialOfInstant(nowMs, document.properties.timeZone);
  }

  /** The effective value of a cell. */
  value(sheet: Sheet, row: number, column: number): Value {
    const { content } = sheet.cell(row, column);
    if (content === null) return this.#spillsOf(sheet)?.get(keyOf(row, column)) ?? null;
    if (!(content instanceof Formula)) return content;
    const results = this.#results.get(sheet) ?? new Map<number, Value>();
    this.#results.set(sheet, results);
    const key = keyOf(row, column);
    const known = results.get(key);
    if (known !== undefined) return known;
    const value = this.#guarded(content, { sheet, row, column });
    results.set(key, value);
    return value;
  }

  /** How many rows from the top have content, including results of array formulas. */
  filledRows(sheet: Sheet): number {
    const last = Math.max(-1, ...(this.#spillsOf(sheet)?.keys() ?? []));
    return Math.max(sheet.usedRows, Math.floor(last / COLUMN_SPAN) + 1);
  }

  /** The result of a formula as if it were in the given cell. */
  evaluate(formula: Formula, sheet: Sheet, row: number, column: number): Value {
    return this.#result(formula, { sheet, row, column });
  }

  /** The text that a cell shows, `''` when it is empty. */
  text(sheet: Sheet, row: number, column: number): string {
    return this.show(this.value(sheet, row, column), sheet, row, column);
  }

  /** A value of a cell as text, in the cell's number format. */
  show(value: Value, sheet: Sheet, row: number, column: number): string {
    if (value === null) return '';
    if (value instanceof CellError) return value.text;
    if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
    if (typeof value === 'string') return value;
    return formatNumber(value, sheet.cell(row, column).format?.numberFormat);
  }

  /** The cells of a tab that array formulas fill besides their own. */
  #spillsOf(sheet: Sheet): ReadonlyMap<number, Value> | undefined {
    if (!sheet.mayHoldFormulas) return undefined;
    const known = this.#spilled.get(sheet);
    if (known !== undefined) return known;
    const spills = new Map<number, Value>();
    // Known before it is complete: a formula that reads an empty cell of its own tab comes back here.
    this.#spilled.set(sheet, spills);
    for (let row = 0; row < sheet.usedRows; row++) {
      for (const [column, cell] of (sheet.row(row)?.cells ?? []).entries())
        if (cell?.content instanceof Formula && this.#isArray(cell.content))
          this.value(sheet, row, column);
    }
    return spills;
  }

  #isArray(formula: Formula): boolean {
    const tree = this.#tree(formula);
    return !(tree instanceof CellError) && givesArray(tree);
  }

  /**
   * The result of an array formula: its own cell shows the first value, and the rest goes into the empty cells beside
   * and below.
   */
  #spill(grid: Grid, { sheet, row, column }: Place): Value {
    const spills = this.#spilled.get(sheet) ?? new Map<number, Value>();
    this.#spilled.set(sheet, spills);
    const others = grid.flatMap((values, down) =>
      values.flatMap((value, across) =>
        down === 0 && across === 0 ? [] : [{ row: row + down, column: column + across, value }],
      ),
    );
    const blocked = others.find((cell) => {
      const { content } = sheet.cell(cell.row, cell.column);
      const isOutside = cell.row >= sheet.rowCount || cell.column >= sheet.columnCount;
      return isOutside || content !== null || spills.has(keyOf(cell.row, cell.column));
    });
    if (blocked !== undefined) {
      const where = `${columnLetters(blocked.column)}${blocked.row + 1}`;
      const message = `Array result was not expanded because it would overwrite data in ${where}.`;
      return new CellError('REF', message);
    }
    for (const cell of others) spills.set(keyOf(cell.row, cell.column), cell.value);
    return grid[0]?.[0] ?? null;
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
    const tree = this.#tree(formula);
    if (tree instanceof CellError) return tree;
    const grid = this.#grid(tree, place, false);
    return givesArray(tree) ? this.#spill(grid, place) : (grid[0]?.[0] ?? 0);
  }

  #tree(formula: Formula): Node | CellError {
    const known = this.#trees.get(formula.text);
    const tree = known ?? this.#parse(formula.text);
    if (known === undefined) this.#trees.set(formula.text, tree);
    return tree;
  }

  #parse(text: string): Node | CellError {
    try {
      return parseFormula(text);
    } catch (error) {
      if (error instanceof FormulaSyntaxError) return new CellError('ERROR', error.message);
      throw error;
    }
  }

  /** The result of a part of a formula. `isArray`: a range is all of its cells, and operators work cell by cell. */
  #grid(node: Node, place: Place, isArray: boolean): Grid {
    switch (node.kind) {
      case 'literal':
        return single(node.value);
      case 'broken':
        return single(new CellError('REF', 'Reference does not exist.'));
      case 'name':
        return single(new CellError('NAME', `Unknown range name: '${node.name}'.`));
      case 'reference': {
        if (!isArray) return single(this.#referenced(node.reference, place));
        const target = this.#target(node.reference, place);
        return target instanceof CellError
          ? single(target)
          : this.#lines(target.sheet, target.area);
      }
      case 'binary': {
        const sides = [node.left, node.right].map((side) => this.#grid(side, place, isArray));
        return broadcast(sides, ([a = null, b = null]) => operate(node.operator, a, b));
      }
      case 'call':
        return this.#call(node, place, isArray);
    }
  }

  #call({ name, args }: Node & { kind: 'call' }, place: Place, isArray: boolean): Grid {
    const [first, second] = args;
    const whole = (node: Node | undefined): Grid =>
      node === undefined ? single(null) : this.#grid(node, place, true);
    switch (name) {
      case 'ARRAYFORMULA':
        return whole(first);
      case 'FILTER':
        return filterRows(whole(first), args.slice(1).map(whole));
      case 'QUERY':
        return query(whole(first), whole(second)[0]?.[0] ?? null);
      case 'IFNA':
      case 'IFERROR': {
        const [tried, otherwise] = [first, second].map((node) =>
          node === undefined ? single(null) : this.#grid(node, place, isArray),
        );
        return broadcast([tried ?? [], otherwise ?? []], ([value = null, other = null]) =>
          isFailure(value, name === 'IFERROR') ? other : value,
        );
      }
    }
    const run = FUNCTIONS.get(name);
    if (run === undefined) return single(new CellError('NAME', `Unknown function: '${name}'.`));
    if (isArray && MAPPED_FUNCTIONS.has(name))
      return broadcast(args.map(whole), (values) =>
        run(
          values.map((value) => ({ value: () => value, values: () => [value] })),
          this.#now,
        ),
      );
    const given = args.map((argument): Argument => {
      const value = (): Value => this.#grid(argument, place, false)[0]?.[0] ?? null;
      return {
        value,
        values: () => (argument.kind === 'reference' ? whole(argument).flat() : [value()]),
      };
    });
    return single(run(given, this.#now));
  }

  #lines(sheet: Sheet, { top, bottom, left, right }: Area): Grid {
    // An open end reaches as far as there is content.
    const isOpen = bottom === sheet.rowCount;
    const end = isOpen ? Math.min(bottom, Math.max(sheet.usedRows, top + 1)) : bottom;
    return Array.from({ length: end - top }, (_, down) =>
      Array.from({ length: right - left }, (_, across) =>
        this.value(sheet, top + down, left + across),
      ),
    );
  }

  #target(reference: Reference, place: Place): { sheet: Sheet; area: Area } | CellError {
    const { title, start, end = start } = reference;
    const missing = new CellError('REF', 'Reference does not exist.');
    const sheet = title === undefined ? place.sheet : this.document.byTitle(title);
    if (sheet === undefined) return missing;
    const area: Area = {
      top: start.row ?? 0,
      bottom: end.row === undefined ? sheet.rowCount : end.row + 1,
      left: start.column ?? 0,
      right: end.column === undefined ? sheet.columnCount : end.column + 1,
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

  /** If one value is expected, a range gives the one in the formula's own row or column, if there is one. */
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
}
