import { isBlank } from '../../mirror/cell.ts';
import { decimalText, parseNumber } from '../../mirror/numbers.ts';
import { type Cell, type ExactNumber, JsonText } from '../../mirror/types.ts';
import {
  type AnswerPart,
  type AnswerType,
  type ColumnType,
  type FieldColumn,
  MORE_COLUMN,
} from './field-column.ts';
import { decodeMore } from './more-column.ts';
import { quoted } from './sql-session.ts';

/*
 * Where the answers to a field stand. A column keeps the type that its first answer gave it: numbers, JSON or text. What a
 * column of numbers or JSON can't hold stands beside it, in a column of texts, so that the first one is what it is for
 * every query and view that anybody built on it. Of the two
 *
 * - the first alone is an answer of its type, the second alone any other;
 * - both are a number that the first can't hold with all its digits: it holds the nearest one, and the second all digits;
 * - neither is no answer. So is a blank (an empty text), as a column of numbers has no other place for it.
 */

/** What a database's columns of numbers and JSON take. */
export interface AnswerLimits {
  /** False when a number column can't hold it with all its digits. */
  fitsNumberColumn(number: number | ExactNumber): boolean;
  /** False when a JSON column refuses the text, or would give back another value. */
  fitsJsonColumn(json: string): boolean;
}

/** Where the answers to these fields stand: field by field, the own column first. */
export function partsOf(fields: readonly FieldColumn[]): AnswerPart[] {
  return fields.flatMap((field): AnswerPart[] => {
    const { column: name, storage, type, textColumn, textStorage } = field;
    const parts: AnswerPart[] = [{ field, kind: 'own', name, storage, type: type ?? 'text' }];
    if (textColumn !== null)
      parts.push({ field, kind: 'text', name: textColumn, storage: textStorage, type: 'text' });
    return parts;
  });
}

/** What a part holds of an answer to its field. */
export function partCell(
  { field, kind, storage, type }: AnswerPart,
  cell: Cell,
  limits: AnswerLimits,
): Cell {
  if (cell === null) return null;
  if (kind === 'text') return textBeside(field.type, cell, limits);
  // The overflow column tells numbers from texts by itself.
  if (type === 'text' || storage === 'more') return cell;
  if (type === 'json')
    return cell instanceof JsonText && limits.fitsJsonColumn(cell.text) ? cell : null;
  if (typeof cell === 'string' || cell instanceof JsonText) return null;
  return limits.fitsNumberColumn(cell) ? cell : nearest(cell);
}

/** What of an answer a column of this type can't hold; null when nothing. */
export function textBeside(type: ColumnType, cell: Cell, limits: AnswerLimits): string | null {
  if (type === null || type === 'text' || isBlank(cell) || cell === null) return null;
  if (typeof cell === 'string') return cell;
  if (cell instanceof JsonText)
    return type === 'json' && limits.fitsJsonColumn(cell.text) ? null : cell.text;
  return type === 'number' && limits.fitsNumberColumn(cell) ? null : decimalText(cell);
}

/** The type that a column without an answer takes from this one; null for a blank. */
export function typeOf(cell: Cell): ColumnType {
  if (cell === null || cell === '') return null;
  if (typeof cell === 'string') return 'text';
  return cell instanceof JsonText ? 'json' : 'number';
}

/** The answer that stands in a field's own column and beside it. */
function wholeCell({ type }: FieldColumn, own: Cell, beside: Cell): Cell {
  if (own === null || beside === null) return own ?? beside;
  return type === 'number' && typeof beside === 'string' ? (parseNumber(beside) ?? beside) : own;
}

/** The nearest double, for sums; none is infinite. */
export function nearest(number: number | ExactNumber): number {
  const near = Number(decimalText(number));
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, near));
}

/** How answers are read from a table. */
export interface AnswerReader {
  /** A SELECT list, and the names that stand in it. */
  readonly columns: readonly string[];
  readonly names: readonly string[];
  /** The answers to the fields in its values, in the order of the fields. */
  readonly decode: (values: readonly unknown[]) => Cell[];
}

/** Reads the answers to `fields` from what is `present` of their columns; what is not is empty. */
export function answerReader(
  fields: readonly FieldColumn[],
  present: ReadonlySet<string>,
  decoder: { decodeCell(value: unknown, type: AnswerType): Cell },
): AnswerReader {
  const parts = partsOf(fields);
  const columns = parts
    .filter(({ storage, name }) => storage === 'column' && present.has(name))
    .map(({ name }) => name);
  const hasMore = parts.some(({ storage }) => storage === 'more') && present.has(MORE_COLUMN);
  const places = new Map(columns.map((name, place) => [name, place]));
  const byField = Map.groupBy(parts, ({ field }) => field);
  return {
    columns: [...columns.map(quoted), ...(hasMore ? [MORE_COLUMN] : [])],
    names: [...columns, ...(hasMore ? [MORE_COLUMN] : [])],
    decode: (values) => {
      const more = decodeMore(hasMore ? values[columns.length] : null);
      const read = (part: AnswerPart | undefined): Cell => {
        if (part === undefined) return null;
        if (part.storage === 'more') return more.get(part.name) ?? null;
        const place = places.get(part.name);
        return place === undefined ? null : decoder.decodeCell(values[place], part.type);
      };
      return fields.map((field) => {
        const [own, beside] = byField.get(field) ?? [];
        return wholeCell(field, read(own), read(beside));
      });
    },
  };
}
