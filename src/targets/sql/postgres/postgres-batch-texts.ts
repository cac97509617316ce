import { randomUUID } from 'node:crypto';
import type { StorableRow } from '../dialect.ts';
import type { BatchColumn } from './postgres-batch.ts';

/**
 * A batch as a few texts that the server takes apart: far cheaper for both than an array for each column, whose literals
 * are quoted and escaped value by value.
 */
export interface BatchTexts {
  readonly ids: string;
  /** An empty one is none. */
  readonly dates: string;
  /** Of each row the values of {@link cellColumns}. */
  readonly cells: string;
  /** The values of each of {@link jsonColumns}; an empty one is none. */
  readonly json: readonly string[];
  /** What stands between rows, between cells, and for a cell without a value. */
  readonly marks: Marks;
}

interface Marks {
  readonly row: string;
  readonly cell: string;
  readonly none: string;
}

/** The columns whose values are in {@link BatchTexts.cells}: all but the key, the date and {@link jsonColumns}. */
export const cellColumns = (columns: readonly BatchColumn[]): BatchColumn[] =>
  columns.filter(({ name, type }) => name !== 'id' && type !== 'timestamptz' && type !== 'jsonb');

/** The columns of JSON, the overflow column among them: the server writes JSON otherwise, so that no texts can be compared. */
export const jsonColumns = (columns: readonly BatchColumn[]): BatchColumn[] =>
  columns.filter(({ type }) => type === 'jsonb');

/** Characters that hardly an answer has: between rows, and between cells. */
const [ROW, CELL] = ['\u0001', '\u0002'];
const ROW_OR_CELL = new RegExp(`[${ROW}${CELL}]`);

/**
 * The batch as texts. No value has in it what stands between values, so that the same texts are of the same values; and
 * what stands for no value is made up anew each time, so that no answer that is stored can be taken for it.
 */
export function batchTexts(
  columns: readonly BatchColumn[],
  rows: readonly StorableRow[],
): BatchTexts {
  const none = randomUUID();
  const [row, cell] = [ROW + none, CELL + none];
  const texts =
    textsWith({ row: ROW, cell: CELL, none }, columns, rows, ROW_OR_CELL) ??
    textsWith({ row, cell, none }, columns, rows);
  if (texts === undefined) throw new Error('an answer holds what was drawn to stand between two');
  return texts;
}

/** Undefined where a value matches `unfit`. */
function textsWith(
  marks: Marks,
  columns: readonly BatchColumn[],
  rows: readonly StorableRow[],
  unfit?: RegExp,
): BatchTexts | undefined {
  const inCells = cellColumns(columns);
  const lines: string[] = [];
  for (const row of rows) {
    if (unfit?.test(row.id) === true) return undefined;
    const values: string[] = [];
    for (const { type, valueOf } of inCells) {
      const value = valueOf(row);
      if (value !== null && type === 'text' && unfit?.test(value) === true) return undefined;
      values.push(value ?? marks.none);
    }
    lines.push(values.join(marks.cell));
  }
  return {
    ids: rows.map(({ id }) => id).join(marks.row),
    dates: rows.map(({ createdAt }) => createdAt ?? '').join(marks.row),
    cells: lines.join(marks.row),
    // JSON writes control characters as escapes.
    json: jsonColumns(columns).map(({ valueOf }) =>
      rows.map((row) => valueOf(row) ?? '').join(marks.row),
    ),
    marks,
  };
}
