import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { MirrorError } from '../../../base/errors.ts';
import { endsAtColumn, insertInside, type LaidRange, withColumnsAt } from './laid-ranges.ts';
import type { NewColumn } from './column-plan.ts';
import {
  BODY_FORMAT,
  columnWidth,
  DATE_FORMAT,
  FAINT_FORMAT,
  HEADER_FORMAT,
  formatCells,
} from '../api/formatting.ts';
import {
  type ColumnKey,
  compactKey,
  createMetadata,
  METADATA_KEYS,
  updateMetadata,
} from '../api/metadata.ts';
import {
  keepsFromHeader,
  keepsFromInsertingColumn,
  type Obstacle,
  type RowStretch,
} from '../api/obstacles.ts';
import type { Layout, MarkedColumn, MarkedTab, PlacedColumn } from './layout.ts';

type Request = sheets_v4.Schema$Request;

/** Characters that the marks of a tab's columns may take of the 30,000. */
const MAX_MARK_CHARACTERS = 18_000;
/** The same when marks are as short as can be. */
const MAX_COMPACT_CHARACTERS = 23_000;

/** Requests that make columns, and the columns as they leave them. */
export interface MadeColumns {
  readonly requests: Request[];
  readonly columns: ReadonlyMap<ColumnKey, PlacedColumn>;
  readonly columnCount: number;
  readonly marks: readonly MarkedColumn[];
  readonly ranges: readonly LaidRange[];
  /** New columns whose header cannot be written. */
  readonly waiting: ReadonlyMap<ColumnKey, WaitingHeader>;
}

/** A header that cannot be written: what is in the way, and what it shows meanwhile. */
export interface WaitingHeader {
  readonly obstacles: readonly Obstacle[];
  readonly shown: string;
}

/** The header row, and what people laid over it. */
export interface HeaderPlace {
  readonly headerRow: number;
  readonly ranges: readonly LaidRange[];
  /** True when what ends with a column is to take in those that come behind it. */
  readonly grows: boolean;
}

/**
 * Requests that insert columns, each right behind its neighbour, so that nothing of people's is ever overwritten; none of
 * them {@link keptFromPlace}. New columns get our format and inherit none; the rest of the tab keeps its own. Where a header cannot be written, its column comes without one.
 */
export function insertColumns(
  layout: Layout,
  made: readonly NewColumn[],
  { headerRow, ranges: laid, grows: mayGrow }: HeaderPlace,
  mark: ColumnMarker,
  obstacles: readonly Obstacle[],
): MadeColumns {
  const requests: Request[] = [];
  const columns = new Map(layout.columns);
  const marks: MarkedColumn[] = [];
  const waiting = new Map<ColumnKey, WaitingHeader>();
  let { columnCount } = layout;
  let ranges = laid;
  for (const run of runsOf(made)) {
    const after = run[0]?.after;
    const at = after === undefined ? 0 : (columns.get(after)?.index ?? -1) + 1;
    const count = run.length;
    const grows = mayGrow && endsAtColumn(ranges, at, headerRow);
    if (grows) requests.push(...insertInside(layout.sheetId, 'COLUMNS', at, count));
    else {
      if (at >= columnCount) {
        requests.push({
          appendDimension: { sheetId: layout.sheetId, dimension: 'COLUMNS', length: 1 },
        });
        columnCount += 1;
      }
      requests.push({
        insertDimension: {
          range: {
            sheetId: layout.sheetId,
            dimension: 'COLUMNS',
            startIndex: at,
            endIndex: at + count,
          },
          inheritFromBefore: false,
        },
      });
    }
    columnCount += count;
    ranges = withColumnsAt(ranges, at, count, grows);
    for (const [key, column] of columns) {
      if (column.index >= at) columns.set(key, { ...column, index: column.index + count });
    }
    for (const [offset, { key }] of run.entries()) {
      const placed = mark.place(key, at + offset);
      columns.set(key, { index: at + offset, metadataId: placed.metadataId });
      marks.push(placed);
    }
    const over = obstacles.filter((one) => isOver(one, headerRow, at));
    if (over.length > 0)
      for (const { key } of run) waiting.set(key, { obstacles: over, shown: '' });
    const row = over.length > 0 ? undefined : headerRow;
    const rows = [{ startRow: headerRow + 1 }];
    requests.push(...formatColumns(layout.sheetId, at, run, row, rows));
    requests.push(...marks.slice(-count).map((placed) => mark.request(placed)));
  }
  const places = new Map([...columns.values()].map((column) => [column.metadataId, column.index]));
  return {
    requests,
    columns,
    columnCount,
    ranges,
    waiting,
    marks: marks.map(({ metadataId, mark: text, compact, index }) => ({
      metadataId,
      mark: text,
      compact,
      index: places.get(metadataId) ?? index,
    })),
  };
}

/** New columns that a protection keeps from their place, as a row of it lies across. */
export function keptFromPlace(
  { columns }: Layout,
  made: readonly NewColumn[],
  obstacles: readonly Obstacle[],
): NewColumn[] {
  const kept = new Set<ColumnKey>();
  return runsOf(made).flatMap((run) => {
    const after = run[0]?.after;
    const at = after === undefined ? 0 : (columns.get(after)?.index ?? -1) + 1;
    const isKept =
      (after !== undefined && kept.has(after)) ||
      obstacles.some((one) => keepsFromInsertingColumn(one, at));
    if (isKept) for (const { key } of run) kept.add(key);
    return isKept ? run : [];
  });
}

/** True when something is in the way of a new column's header. What only begins where a column is inserted moves on. */
function isOver(one: Obstacle, headerRow: number, at: number): boolean {
  const { startColumn, endColumn } = one.area;
  const movesOn = at === startColumn && endColumn !== undefined;
  return !movesOn && keepsFromHeader(one, headerRow, at);
}

/** New columns that come behind each other go in together. */
function runsOf(made: readonly NewColumn[]): NewColumn[][] {
  const runs: NewColumn[][] = [];
  for (const column of made) {
    const last = runs.at(-1);
    if (last !== undefined && last.at(-1)?.key === column.after) last.push(column);
    else runs.push([column]);
  }
  return runs;
}

/**
 * Headers, formats and widths of new columns that lie side by side; `headerRow`: undefined where it cannot be written;
 * `rows`: those below it that may be formatted.
 */
export function formatColumns(
  sheetId: number,
  at: number,
  columns: readonly Pick<NewColumn, 'key' | 'header'>[],
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
  /** Characters that all marks of the tab take in the end. */
  readonly characters: number;
  readonly #recoded: readonly MarkedColumn[];

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
    this.#recoded = this.#compact ? old.filter(({ compact }) => !compact) : [];
    this.characters = this.#compact ? (old.length + added.length) * COMPACT_SIZE : plain;
    if (this.characters > MAX_COMPACT_CHARACTERS) {
      const most = Math.floor(MAX_COMPACT_CHARACTERS / COMPACT_SIZE);
      throw new MirrorError(
        'TARGET_FULL',
        `The form "${formName}" has ${old.length + added.length} columns; a Google Sheet can keep track of ${most}. Pick fewer fields with TARGET_FIELDS, or mirror this form into a database.`,
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

  /** Requests that shorten the marks that are there, when they no longer fit. */
  recode(): Request[] {
    return this.#recoded.map(({ metadataId, mark }) =>
      updateMetadata(metadataId, compactKey(mark as ColumnKey), METADATA_KEYS.compactColumn),
    );
  }

  /** Marks that are there, as {@link recode} leaves them. */
  recoded(old: readonly MarkedColumn[]): MarkedColumn[] {
    if (!this.#compact) return [...old];
    return old.map((column) =>
      column.compact
        ? column
        : { ...column, mark: compactKey(column.mark as ColumnKey), compact: true },
    );
  }
}

const COMPACT_SIZE = METADATA_KEYS.compactColumn.length + 7;

const markSize = (mark: string, compact: boolean): number =>
  compact ? COMPACT_SIZE : METADATA_KEYS.column.length + mark.length;

const sum = <T>(items: readonly T[], size: (item: T) => number): number =>
  items.reduce((total, item) => total + size(item), 0);

/** The tab as it is once columns are made. */
export const withColumns = <T extends MarkedTab>(
  tab: T,
  made: MadeColumns,
  marker: ColumnMarker,
): T => ({
  ...tab,
  columnCount: made.columnCount,
  otherCharacters: marker.characters + FORM_MARK_CHARACTERS,
  columns: [...marker.recoded(tab.columns), ...made.marks],
});

/** About what the mark of the form itself takes. */
export const FORM_MARK_CHARACTERS = 150;
