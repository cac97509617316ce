import { stringify } from 'csv-stringify/sync';
import { decimalText } from '../mirror/json.ts';
import { type Cell, ExactNumber, JsonText } from '../mirror/types.ts';

/** Turns rows into text, piece by piece. */
export interface ExportFormat {
  /** The text before the first row. */
  readonly head: string;
  rows(rows: readonly (readonly Cell[])[]): string;
}

/** Spaces of any width, and invisible characters. Programs remove or skip them. */
const BLANK = String.raw`[\p{Z}\p{Cf}]`;
const SIGN = '[+\\-＋－]';

/** The beginnings of a formula. OWASP's list (CSV Injection): `=`, `+`, `-`, `@`, their full-width forms, tab, line breaks. And `|`. */
const FORMULA = new RegExp(`^${BLANK}*[\\p{Cc}=@|＝＠｜+\\-＋－]`, 'u');

/**
 * Signs with nothing after them, with which no program can calculate; or one sign and digits in groups: a number or a phone number.
 * Excel calculates `+1-202-555` and `-9:2`, and shows `-none` as `#NAME?`, so everything else gets an apostrophe.
 */
const HARMLESS = new RegExp(
  `^${BLANK}*(?:${SIGN}+|${SIGN}${BLANK}*[.,]?\\d(?:[.,]?${BLANK}*\\d)*[.,]?(?:e[+-]?\\d+)?(?:${BLANK}*%)?)${BLANK}*$`,
  'iu',
);

/** Whether Excel, LibreOffice or Google Sheets may take a text in a CSV file for a formula. Pure. */
export const mayBeFormula = (text: string): boolean =>
  FORMULA.test(text) && !HARMLESS.test(text.trimEnd());

const guarded = (text: string): string => (mayBeFormula(text) ? `'${text}` : text);

/** The parts of a text that begin a cell where semicolons or tabs separate cells: quotes after a comma do not count there. */
const LATER_PARTS = /(?<=[;\t\n\r])[^;\t\n\r]+/g;
/** An item of a list, which is common in answers: it calls nothing and names no cell. */
const ITEM = /^[+-] +[\p{L} ,.?']+$/u;

/** There, quotes at the beginning of a part count. */
const guardedPart = (part: string): string =>
  mayBeFormula(part.replace(/^["\p{Z}\p{Cf}]+/u, '')) && !ITEM.test(part) ? `'${part}` : part;

/**
 * CSV (RFC 4180) after a byte order mark, without which Excel assumes its own code page. Numbers have all their digits. No answer
 * is nothing between the commas. A text that {@link mayBeFormula}, and such a part of one, begins with an apostrophe.
 */
export function csvFormat(names: readonly string[]): ExportFormat {
  const asText = (text: string): string => guarded(text).replaceAll(LATER_PARTS, guardedPart);
  const write = (rows: readonly (readonly Cell[])[]): string =>
    stringify(
      rows.map((row) => [...row]),
      {
        record_delimiter: 'windows',
        // A line break of any kind would begin a new row; a semicolon or a tab would begin a new cell in locales where these
        // separate cells.
        quoted_match: /[\n\r;\t]/,
        cast: {
          string: asText,
          number: decimalText,
          // The library recognizes numbers only by their type.
          object: (value) =>
            value instanceof ExactNumber
              ? value.digits
              : value instanceof JsonText
                ? asText(value.text)
                : '',
        },
      },
    );
  return { head: `\uFEFF${write([names])}`, rows: write };
}

/** One JSON object per line. Numbers have all their digits; arrays and objects stay unchanged; no answer is null. */
export function jsonLinesFormat(names: readonly string[]): ExportFormat {
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  // Written without an object, which would put names that are numbers first.
  const line = (row: readonly Cell[]): string =>
    `{${row.map((cell, at) => `${keys[at] ?? ''}${jsonCell(cell)}`).join(',')}}\n`;
  return { head: '', rows: (rows) => rows.map(line).join('') };
}

const jsonCell = (cell: Cell): string => {
  if (cell === null || typeof cell === 'string') return JSON.stringify(cell);
  return cell instanceof JsonText ? cell.text : decimalText(cell);
};
