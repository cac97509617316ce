import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../../base/errors.ts';
import {
  BODY_FORMAT,
  columnWidth,
  DATE_FORMAT,
  FAINT_FORMAT,
  HEADER_FORMAT,
  formatCells,
} from '../api/formatting.ts';
import { type ColumnKey, compactKey, createMetadata, METADATA_KEYS } from '../api/metadata.ts';
import { type RowStretch } from '../api/obstacles.ts';

type Request = sheets_v4.Schema$Request;

/** A column to be made. */
export interface NewColumn {
  readonly key: ColumnKey;
  readonly header: string;
}

/** A column that carries our metadata. */
export interface MarkedColumn {
  readonly index: number;
  readonly metadataId: number;
  /** A {@link ColumnKey}, or its {@link compactKey}. */
  readonly mark: string;
  readonly compact: boolean;
}

/** Characters that the marks of a tab's columns may take of the 30,000. */
const MAX_MARK_CHARACTERS = 18_000;
/** The same when marks are as short as can be. */
const MAX_COMPACT_CHARACTERS = 23_000;

/**
 * Headers, formats and widths of new columns that lie side by side; `headerRow`: undefined where it cannot be written;
 * `rows`: those below it that may be formatted.
 */
export function formatColumns(
  sheetId: number,
  at: number,
  columns: readonly NewColumn[],
  headerRow: number | undefined,
  rows: readonly RowStretch[] = [{ startRow: (headerRow ?? 0) + 1 }],
): Request[] {
  const area = { sheetId, startColumn: at, endColumn: at + columns.length };
  return [
    ...rows.map((body) =>
      formatCells({ ...area, ...body }, BODY_FORMAT, [
        ...Object.keys(BODY_FORMAT),
        'numberFormat',
        'textFormat',
        'backgroundColorStyle',
      ]),
    ),
    ...(headerRow === undefined ? [] : formatHeaders(area, columns, headerRow)),
    ...columns.flatMap(({ key, header }, offset) => {
      const column = { sheetId, startColumn: at + offset, endColumn: at + offset + 1 };
      const width = columnWidth(sheetId, at + offset, WIDTHS[key] ?? fieldWidth(header));
      const format = FORMATS[key];
      if (format === undefined) return [width];
      return [width, ...rows.map((body) => formatCells({ ...column, ...body }, format))];
    }),
  ];
}

/** Header cells of columns that lie side by side. */
export function formatHeaders(
  area: { sheetId: number; startColumn: number; endColumn: number },
  columns: readonly Pick<NewColumn, 'header'>[],
  headerRow: number,
): Request[] {
  const { sheetId, startColumn } = area;
  const values = columns.map(({ header }) => ({ userEnteredValue: { stringValue: header } }));
  return [
    formatCells({ ...area, startRow: headerRow, endRow: headerRow + 1 }, HEADER_FORMAT),
    {
      updateCells: {
        start: { sheetId, rowIndex: headerRow, columnIndex: startColumn },
        rows: [{ values }],
        fields: 'userEnteredValue',
      },
    },
  ];
}

const WIDTHS: Partial<Record<ColumnKey, number>> = {
  's:at': 150,
  's:status': 110,
  's:removed': 150,
  's:id': 110,
};

const FORMATS: Partial<Record<ColumnKey, sheets_v4.Schema$CellFormat>> = {
  's:at': { numberFormat: DATE_FORMAT },
  's:removed': { numberFormat: DATE_FORMAT },
  's:id': FAINT_FORMAT,
};

/** About what a letter takes, in pixels, and what a cell needs besides. */
const [LETTER, MARGIN] = [7.5, 16];
/** An answer of some words; an e-mail address; a question that asks for sentences. */
const [LEAST_WIDTH, ADDRESS_WIDTH, MOST_WIDTH] = [150, 260, 320];

/**
 * The width of a field's column. The source does not say what kind of answer a field takes, so its label does: one that
 * speaks of mail gets room for an address, and the longer the question, the longer the answer.
 */
function fieldWidth(label: string): number {
  const least = /mail|@/i.test(label) ? ADDRESS_WIDTH : LEAST_WIDTH;
  const wanted = Math.round(label.length * LETTER + MARGIN);
  return Math.min(MOST_WIDTH, Math.max(least, wanted));
}

/** Puts our marks on columns: readable ones while they fit, very short ones for very wide forms. */
export class ColumnMarker {
  readonly #sheetId: number;
  readonly #newId: () => number;
  readonly #compact: boolean;

  /** `old`: marks that are there. Throws when there are more columns than Google's metadata can bind. */
  constructor(
    sheetId: number,
    old: readonly MarkedColumn[],
    added: readonly ColumnKey[],
    formName: string,
    newId: () => number,
  ) {
    this.#sheetId = sheetId;
    this.#newId = newId;
    const plain =
      sum(old, ({ mark, compact }) => markSize(mark, compact)) +
      sum(added, (key) => markSize(key, false));
    this.#compact = plain > MAX_MARK_CHARACTERS;
    const characters = this.#compact ? (old.length + added.length) * COMPACT_SIZE : plain;
    if (characters > MAX_COMPACT_CHARACTERS) {
      const most = Math.floor(MAX_COMPACT_CHARACTERS / COMPACT_SIZE);
      throw new MirrorError(
        'TARGET_FULL',
        `The form "${formName}" has ${old.length + added.length} columns; a Google Sheet can keep track of ${most}. Select fewer fields with TARGET_FIELDS, or mirror this form into a database.`,
      );
    }
  }

  /** The mark of a new column. */
  place(key: ColumnKey, index: number): MarkedColumn {
    const mark = this.#compact ? compactKey(key) : key;
    return { index, metadataId: this.#newId(), mark, compact: this.#compact };
  }

  /** A request that puts the mark of a placed column on. */
  request({ index, mark, compact, metadataId }: MarkedColumn): Request {
    const name = compact ? METADATA_KEYS.compactColumn : METADATA_KEYS.column;
    return createMetadata({ sheetId: this.#sheetId, column: index }, name, mark, metadataId);
  }
}

const COMPACT_SIZE = METADATA_KEYS.compactColumn.length + 7;

const markSize = (mark: string, compact: boolean): number =>
  compact ? COMPACT_SIZE : METADATA_KEYS.column.length + mark.length;

const sum = <T>(items: readonly T[], size: (item: T) => number): number =>
  items.reduce((total, item) => total + size(item), 0);
