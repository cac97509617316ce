import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { columnLetters } from './a1.ts';
import type { Calculator } from './calculator.ts';
import { conditionalFormat } from './conditional-formats.ts';
import { boundsOf } from './document.ts';
import { CellError, type Value } from './formula-values.ts';
import { DEFAULT_COLUMN_WIDTH, DEFAULT_ROW_HEIGHT } from './grid-resource.ts';
import type { Sheet } from './sheet.ts';
import { bandColor } from './banding.ts';
import { chartSvg } from './view-chart.ts';
import { cssOf, escapeHtml } from './view-style.ts';

/** Pixels of the column of row numbers. */
const GUTTER = 46;
/** The part of the empty grid that is shown below and beside the used cells, so that it looks like a sheet. */
const SPARE_ROWS = 20;
const SPARE_COLUMNS = 4;
const LEAST_COLUMNS = 12;
const LEAST_ROWS = 40;

/** The columns of a view, left to right: those that people can see. */
interface ViewColumn {
  readonly index: number;
  readonly width: number;
  /** Pixels from the left edge for a frozen column; undefined for a scrolling one. */
  readonly left: number | undefined;
  readonly afterHidden: boolean;
}

function usedColumns(sheet: Sheet, top: number, bottom: number): number {
  let used = 0;
  for (let row = top; row < bottom; row++) {
    const stored = sheet.row(row);
    if (stored === undefined) continue;
    const coloured = stored.style.cellStyles.findLastIndex(
      (cellStyle) => cellStyle?.format?.backgroundColor,
    );
    used = Math.max(used, stored.cells.length, coloured + 1);
  }
  return used;
}

function viewColumns(sheet: Sheet, used: number): ViewColumn[] {
  const count = Math.min(sheet.columnCount, Math.max(used + SPARE_COLUMNS, LEAST_COLUMNS));
  const frozen = sheet.properties.frozenColumnCount ?? 0;
  const columns: ViewColumn[] = [];
  let left = GUTTER;
  let afterHidden = false;
  for (let index = 0; index < count; index++) {
    const properties = sheet.columnProperties(index);
    if (properties?.hiddenByUser === true) {
      afterHidden = true;
      continue;
    }
    const width = properties?.pixelSize ?? DEFAULT_COLUMN_WIDTH;
    columns.push({ index, width, left: index < frozen ? left : undefined, afterHidden });
    left += width;
    afterHidden = false;
  }
  return columns;
}

/** Cells that a merge hides, and how far the merged ones reach. */
class Merges {
  readonly #spans = new Map<string, { rows: number; columns: number }>();
  readonly #hidden = new Set<string>();

  constructor(sheet: Sheet, columns: readonly ViewColumn[]) {
    const shown = new Set(columns.map(({ index }) => index));
    for (const merge of sheet.overlays.merges) {
      const { startRowIndex = 0, endRowIndex = 0 } = boundsOf(merge);
      const { startColumnIndex = 0, endColumnIndex = 0 } = boundsOf(merge);
      for (let row = startRowIndex; row < endRowIndex; row++) {
        for (let column = startColumnIndex; column < endColumnIndex; column++) {
          this.#hidden.add(`${row} ${column}`);
        }
      }
      const width = Array.from(
        { length: endColumnIndex - startColumnIndex },
        (_, offset) => startColumnIndex + offset,
      ).filter((column) => shown.has(column)).length;
      const key = `${startRowIndex} ${startColumnIndex}`;
      this.#spans.set(key, { rows: endRowIndex - startRowIndex, columns: width });
      this.#hidden.delete(key);
    }
  }

  isHidden(row: number, column: number): boolean {
    return this.#hidden.has(`${row} ${column}`);
  }

  attributes(row: number, column: number): string {
    const span = this.#spans.get(`${row} ${column}`);
    if (span === undefined) return '';
    return ` rowspan="${span.rows}" colspan="${span.columns}"`;
  }
}

function kindOf(value: Value): string {
  if (value instanceof CellError) return 'error';
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
}

/** A text flows over the empty cells on its right, unless its format says otherwise; numbers never do. */
function wrapClass(format: sheets_v4.Schema$CellFormat, value: Value, room: number): string {
  if (format.wrapStrategy === 'WRAP') return 'wrap';
  const flows = typeof value === 'string' && format.wrapStrategy !== 'CLIP' && room > 0;
  return flows ? 'over' : 'clip';
}

/** A row grows with its text, including line breaks of clipped texts, until someone sets its height. */
const heightAttributes = (pixelSize: number | undefined): string =>
  pixelSize === undefined
    ? ` style="height:${DEFAULT_ROW_HEIGHT}px"`
    : ` class="set" style="height:${pixelSize}px;--height:${pixelSize - 1}px"`;

/** Draws one tab as an HTML table. */
export class GridView {
  readonly #calculator: Calculator;
  readonly #sheet: Sheet;
  readonly #columns: readonly ViewColumn[];
  readonly #merges: Merges;
  readonly #top: number;
  readonly #bottom: number;

  /** Shows at most `limit` rows from `top` on, besides the frozen ones. */
  constructor(calculator: Calculator, sheet: Sheet, top: number, limit: number) {
    const frozen = sheet.properties.frozenRowCount ?? 0;
    const end = Math.max(sheet.contentEnd + SPARE_ROWS, LEAST_ROWS);
    this.#calculator = calculator;
    this.#sheet = sheet;
    this.#top = Math.max(top, frozen);
    this.#bottom = Math.min(sheet.rowCount, end, this.#top + limit);
    const used = Math.max(
      usedColumns(sheet, 0, frozen),
      usedColumns(sheet, this.#top, this.#bottom),
    );
    this.#columns = viewColumns(sheet, used);
    this.#merges = new Merges(sheet, this.#columns);
  }

  /** The first and the last row shown, counted as people do. */
  get shownRows(): { first: number; last: number } {
    return { first: this.#top + 1, last: this.#bottom };
  }

  /** The table. Letters and frozen rows are its head, which stays in view. */
  html(): string {
    const frozen = this.#sheet.properties.frozenRowCount ?? 0;
    const width = this.#columns.reduce((sum, column) => sum + column.width, GUTTER);
    const cols = this.#columns.map((column) => `<col style="width:${column.width}px">`).join('');
    return [
      `<table style="width:${width}px"><colgroup><col style="width:${GUTTER}px">${cols}</colgroup>`,
      `<thead>${this.#letters()}${this.#rows(0, frozen)}</thead>`,
      `<tbody>${this.#rows(this.#top, this.#bottom)}</tbody></table>`,
    ].join('');
  }

  #letters(): string {
    const filter = boundsOf(this.#sheet.overlays.basicFilter?.range);
    const cells = this.#columns.map(({ index, left, afterHidden }) => {
      const pinned = left === undefined ? '' : ` style="left:${left}px"`;
      const classes = ['letter', ...this.#edge(left, afterHidden)].join(' ');
      const filtered =
        this.#sheet.overlays.basicFilter !== undefined &&
        index >= (filter.startColumnIndex ?? 0) &&
        index < (filter.endColumnIndex ?? Infinity);
      const mark = filtered ? '<span class="funnel" title="Filter"></span>' : '';
      return `<th class="${classes}"${pinned}>${columnLetters(index)}${mark}</th>`;
    });
    return `<tr><th class="corner"></th>${cells.join('')}</tr>`;
  }

  #edge(left: number | undefined, afterHidden: boolean): string[] {
    return [...(left === undefined ? [] : ['pin']), ...(afterHidden ? ['gap'] : [])];
  }

  #rows(start: number, end: number): string {
    const rows: string[] = [];
    let afterHidden = false;
    for (let row = start; row < end; row++) {
      const properties = this.#sheet.row(row)?.properties;
      if (properties?.hiddenByUser === true || properties?.hiddenByFilter === true) {
        afterHidden = true;
        continue;
      }
      const gap = afterHidden ? ' class="gap"' : '';
      const look = heightAttributes(properties?.pixelSize);
      rows.push(`<tr${look}><th${gap}>${row + 1}</th>${this.#cells(row)}</tr>`);
      afterHidden = false;
    }
    return rows.join('');
  }

  #cells(row: number): string {
    const isBlank = row >= this.#calculator.filledRows(this.#sheet);
    const { charts, overlays } = this.#sheet;
    if (isBlank && overlays.merges.length + charts.length === 0) {
      return this.#columns.map((column) => this.#emptyCell(row, column)).join('');
    }
    return this.#columns
      .map((column, at) => {
        if (this.#merges.isHidden(row, column.index)) return '';
        return this.#withCharts(row, column, this.#cell(row, column, this.#room(row, at)));
      })
      .join('');
  }

  /** A cell with the charts that are anchored to it: they lie over its neighbors. */
  #withCharts(row: number, { index }: ViewColumn, cell: string): string {
    const here = this.#sheet.charts.filter(({ position }) => {
      const { anchorCell } = position?.overlayPosition ?? {};
      return (anchorCell?.rowIndex ?? 0) === row && (anchorCell?.columnIndex ?? 0) === index;
    });
    if (here.length === 0) return cell;
    const drawn = here.map((chart) => chartSvg(this.#calculator, chart));
    return `${cell.slice(0, -'</td>'.length)}${drawn.join('')}</td>`;
  }

  /** Pixels of empty cells right of a column: as far as a long text may flow. */
  #room(row: number, at: number): number {
    let room = 0;
    for (const { index, width, left } of this.#columns.slice(at + 1)) {
      if (left !== undefined || this.#calculator.value(this.#sheet, row, index) !== null) break;
      room += width;
    }
    return room;
  }

  #emptyCell(row: number, { index, left }: ViewColumn): string {
    const band = bandColor(this.#sheet, row, index);
    const style = [
      ...(left === undefined ? [] : [`left:${left}px`]),
      ...(band === undefined ? [] : [cssOf({ backgroundColorStyle: band })]),
    ].join(';');
    const pinned = left === undefined ? '' : ' class="pin"';
    return `<td${pinned}${style === '' ? '' : ` style="${style}"`}></td>`;
  }

  #cell(row: number, column: ViewColumn, room: number): string {
    const { index, left, width } = column;
    const { cellStyle, note } = this.#sheet.cell(row, index);
    const calculator = this.#calculator;
    const added = conditionalFormat(calculator, this.#sheet, row, index);
    const span = this.#merges.attributes(row, index);
    const value = calculator.value(this.#sheet, row, index);
    if (value === null && cellStyle === undefined && note === undefined && added === undefined) {
      return span === '' ? this.#emptyCell(row, column) : `<td${span}></td>`;
    }
    const text = calculator.show(value, this.#sheet, row, index);
    const band = bandColor(this.#sheet, row, index);
    const format = {
      ...(band !== undefined && { backgroundColorStyle: band }),
      ...cellStyle?.format,
      ...added,
      textFormat: { ...cellStyle?.format?.textFormat, ...added?.textFormat },
    };
    const wrap = wrapClass(format, value, room);
    const classes = [
      kindOf(value),
      wrap,
      ...(left === undefined ? [] : ['pin']),
      ...(note === undefined ? [] : ['noted']),
    ];
    const style = [...(left === undefined ? [] : [`left:${left}px`]), cssOf(format)]
      .filter((part) => part !== '')
      .join(';');
    const hint = value instanceof CellError ? value.message : note;
    const title = hint === undefined ? '' : ` title="${escapeHtml(hint)}"`;
    const body =
      cellStyle?.validation?.condition?.type === 'BOOLEAN' && typeof value === 'boolean'
        ? `<span class="box">${value ? '☑' : '☐'}</span>`
        : escapeHtml(text);
    const reach = wrap === 'over' ? ` style="max-width:${width + room - 1}px"` : '';
    const styled = style === '' ? '' : ` style="${style}"`;
    return `<td class="${classes.join(' ')}"${span}${styled}${title}><div${reach}>${body}</div></td>`;
  }
}
