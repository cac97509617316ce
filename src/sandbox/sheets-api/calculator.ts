import { Formula, type Content } from './cell.ts';
import type { Document } from './document.ts';
import { localeOf, type Locale } from './locale.ts';
import { isDateFormat, formatNumber } from './number-format.ts';
import { civilOf, serialOfInstant } from './serial-date.ts';
import type { Sheet } from './sheet.ts';

/** A formula's failure as a cell shows it. */
export class CellError {
  readonly type: 'ERROR' | 'DIVIDE_BY_ZERO' | 'VALUE' | 'REF' | 'NAME' | 'NUM' | 'N_A';
  readonly message: string;

  constructor(type: CellError['type'], message: string) {
    this.type = type;
    this.message = message;
  }

  /** `#NAME?` and its like. */
  get text(): string {
    const texts = {
      ERROR: '#ERROR!',
      DIVIDE_BY_ZERO: '#DIV/0!',
      VALUE: '#VALUE!',
      REF: '#REF!',
      NAME: '#NAME?',
      NUM: '#NUM!',
      N_A: '#N/A',
    };
    return texts[this.type];
  }
}

/** What a cell shows: a literal, the result of its formula, or an error. */
export type Value = string | number | boolean | null | CellError;

/** Reads cells of one document as of one instant; results of formulas are kept for as long as it lives. */
export class Calculator {
  readonly document: Document;
  readonly locale: Locale;
  readonly nowMs: number;

  constructor(document: Document, nowMs: number) {
    this.document = document;
    this.locale = localeOf(document.properties.locale);
    this.nowMs = nowMs;
  }

  /** The year that a typed date without one means. */
  get year(): number {
    return civilOf(serialOfInstant(this.nowMs, this.document.properties.timeZone)).year;
  }

  /** The result of a formula as if it stood in the given cell. */
  evaluate(_formula: Formula, _sheet: Sheet, _row: number, _column: number): Value {
    return new CellError('NAME', 'Unknown function.');
  }

  /** The effective value of a cell. */
  value(sheet: Sheet, row: number, column: number): Value {
    const content: Content = sheet.row(row)?.cells[column] ?? null;
    return content instanceof Formula ? new CellError('NAME', 'Unknown function.') : content;
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
    const format = sheet.row(row)?.style.dresses[column]?.format?.numberFormat;
    return formatNumber(value, format, this.locale);
  }

  /** True when a cell's format shows numbers as dates. */
  isDate(sheet: Sheet, row: number, column: number): boolean {
    return isDateFormat(sheet.row(row)?.style.dresses[column]?.format?.numberFormat);
  }
}
