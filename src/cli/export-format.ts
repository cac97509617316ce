import { stringify } from 'csv-stringify/sync';
import { decimalText } from '../mirror/numbers.ts';
import type { SnapshotColumn } from '../mirror/snapshot.ts';
import { type Cell, ExactNumber, JsonText } from '../mirror/types.ts';

/** How rows become text, piece by piece. */
export interface ExportFormat {
  /** What comes before the first row. */
  readonly head: string;
  rows(rows: readonly (readonly Cell[])[]): string;
}

/** How CSV is written. */
export interface CsvOptions {
  /** A byte order mark: without one Excel takes a file for its own code page. */
  readonly bom: boolean;
  /** Texts that a spreadsheet would run as a formula stay as they are; otherwise an apostrophe comes before them. */
  readonly raw: boolean;
}

/** CSV as RFC 4180 has it. Numbers have all their digits, and negative ones are no formula; no answer is nothing between the commas. */
export function csvFormat(names: readonly string[], { bom, raw }: CsvOptions): ExportFormat {
  const write = (rows: readonly (readonly Cell[])[]): string =>
    stringify(
      rows.map((row) => [...row]),
      {
        record_delimiter: 'windows',
        // A line break of any kind would begin a new row; a semicolon or a tab a new cell where these separate cells.
        quoted_match: /[\n\r;\t]/,
        escape_formulas: !raw,
        cast: {
          // The library takes no line feed for the beginning of a formula.
          string: (value) => (!raw && value.startsWith('\n') ? `'${value}` : value),
          number: decimalText,
          // The library knows numbers by their type alone.
          object: (value) =>
            value instanceof ExactNumber
              ? { value: value.digits, escape_formulas: false }
              : value instanceof JsonText
                ? value.text
                : '',
        },
      },
    );
  return { head: (bom ? '\uFEFF' : '') + write([names]), rows: write };
}

/** One JSON object a line. Numbers have all their digits; arrays and objects are what they are; no answer is null. */
export function jsonLinesFormat(names: readonly string[]): ExportFormat {
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  // By hand: an object would put names that are numbers first.
  const line = (row: readonly Cell[]): string =>
    `{${row.map((cell, at) => `${keys[at] ?? ''}${jsonCell(cell)}`).join(',')}}\n`;
  return { head: '', rows: (rows) => rows.map(line).join('') };
}

const jsonCell = (cell: Cell): string => {
  if (cell === null || typeof cell === 'string') return JSON.stringify(cell);
  return cell instanceof JsonText ? cell.text : decimalText(cell);
};

/** The names of columns. */
export const columnNames = (columns: readonly SnapshotColumn[], byLabel: boolean): string[] =>
  columns.map(({ name, label }) => (byLabel ? label : name));
