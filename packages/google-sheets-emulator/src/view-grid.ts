import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { columnLetters } from './a1.ts';
import type { Calculator } from './calculator.ts';
import { filledWidth } from './cell.ts';
import { conditionalFormat } from './conditional-formats.ts';
import { boundsOf } from './document.ts';
import { CellError, type Value } from './formula-values.ts';
import type { Sheet } from './sheet.ts';
import { chartSvg } from './view-chart.ts';
import { cssOf, escapeHtml } from './view-style.ts';

/** Pixels of a column and of a row, unless a request says otherwise. */
const DEFAULT_COLUMN_WIDTH = 100;
const DEFAULT_ROW_HEIGHT = 21;
/** Pixels of the column of row numbers. */
const GUTTER = 46;
/** The part of the empty grid that is shown beside the used cells, so that it looks like a sheet. */
const SPARE_COLUMNS = 4;
const LEAST_COLUMNS = 12;

/** A column of a view. */
interface ViewColumn {
  readonly index: number;
  readonly width: number;
}

function viewColumns(sheet: Sheet): ViewColumn[] {
  let used = 0;
  for (let row = 0; row < sheet.usedRows; row++) {
    const { cells = [] } = sheet.row(row) ?? {};
    const colored = cells.findLastIndex((cell) => cell?.format?.backgroundColorStyle);
    used = Math.max(used, filledWidth(cells), colored + 1);
  }
  const count = Math.min(sheet.columnCount, Math.max(used + SPARE_COLUMNS, LEAST_COLUMNS));
  return Array.from({ length: count }, (_, index) => {
    const width = sheet.columnProperties(index)?.pixelSize ?? DEFAULT_COLUMN_WIDTH;
    return { index, width };
  });
}

function kindOf(value: Value): string {
  if (value instanceof CellError) return 'error';
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
}

/** A text overflows into the empty cells on its right, unless its format disables it; numbers never do. */
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

/** One tab as an HTML table: letters and frozen rows are its head, which stays visible, and below the rows from `top` to `bottom`. */
export function gridHtml(
  calculator: Calculator,
  sheet: Sheet,
  top: number,
  bottom: number,
): string {
  const columns = viewColumns(sheet);
  const frozen = sheet.properties.frozenRowCount ?? 0;
  const width = columns.reduce((sum, column) => sum + column.width, GUTTER);
  const cols = columns.map((column) => `<col style="width:${column.width}px">`).join('');
  const rows = (start: number, end: number): string => {
    const shown: string[] = [];
    for (let row = start; row < end; row++) {
      const properties = sheet.row(row)?.properties;
      if (properties?.hiddenByFilter === true || properties?.hiddenByUser === true) continue;
      const look = heightAttributes(properties?.pixelSize);
      const cells = columns.map((_, at) => cellHtml(calculator, sheet, row, columns.slice(at)));
      shown.push(`<tr${look}><th>${row + 1}</th>${cells.join('')}</tr>`);
    }
    return shown.join('');
  };
  return [
    `<table style="width:${width}px"><colgroup><col style="width:${GUTTER}px">${cols}</colgroup>`,
    `<thead>${lettersHtml(sheet, columns)}${rows(0, frozen)}</thead>`,
    `<tbody>${rows(top, bottom)}</tbody></table>`,
  ].join('');
}

function lettersHtml({ overlays }: Sheet, columns: readonly ViewColumn[]): string {
  const { startColumnIndex = 0, endColumnIndex = 0 } = boundsOf(overlays.basicFilter?.range);
  const cells = columns.map(({ index }) => {
    const isFiltered = index >= startColumnIndex && index < endColumnIndex;
    const mark = isFiltered ? '<span class="funnel" title="Filter"></span>' : '';
    return `<th class="letter">${columnLetters(index)}${mark}</th>`;
  });
  return `<tr><th class="corner"></th>${cells.join('')}</tr>`;
}

/** The first of some columns in a row, with the charts that are anchored to it: they cover its neighbors. */
function cellHtml(
  calculator: Calculator,
  sheet: Sheet,
  row: number,
  [column, ...others]: readonly ViewColumn[],
): string {
  const { index, width } = column as ViewColumn;
  const charts = sheet.charts.filter(({ position }) => {
    const { anchorCell } = position?.overlayPosition ?? {};
    return (anchorCell?.rowIndex ?? 0) === row && (anchorCell?.columnIndex ?? 0) === index;
  });
  const drawn = charts.map((chart) => chartSvg(calculator, chart)).join('');
  const { format: own, note } = sheet.cell(row, index);
  const added = conditionalFormat(calculator, sheet, row, index);
  const value = calculator.value(sheet, row, index);
  if (value === null && own === undefined && note === undefined && added === undefined)
    return `<td>${drawn}</td>`;
  const format = {
    ...own,
    ...added,
    textFormat: { ...own?.textFormat, ...added?.textFormat },
  };
  // Pixels of empty cells on its right: the space into which a long text may overflow.
  const taken = others.findIndex((one) => calculator.value(sheet, row, one.index) !== null);
  const empty = taken < 0 ? others : others.slice(0, taken);
  const room = empty.reduce((sum, one) => sum + one.width, 0);
  const wrap = wrapClass(format, value, room);
  const classes = [kindOf(value), wrap, ...(note === undefined ? [] : ['noted'])].join(' ');
  const style = cssOf(format);
  const hint = value instanceof CellError ? value.message : note;
  const title = hint === undefined ? '' : ` title="${escapeHtml(hint)}"`;
  const body = escapeHtml(calculator.show(value, sheet, row, index));
  const reach = wrap === 'over' ? ` style="max-width:${width + room - 1}px"` : '';
  const styled = style === '' ? '' : ` style="${style}"`;
  return `<td class="${classes}"${styled}${title}><div${reach}>${body}</div>${drawn}</td>`;
}
