import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Calculator } from './calculator.ts';
import { boundsOf } from './document.ts';
import { escapeHtml } from './view-style.ts';

type Chart = sheets_v4.Schema$EmbeddedChart;
type ChartData = sheets_v4.Schema$ChartData;

/** Google's first color of a theme. */
const BLUE = 'rgb(66,133,244)';
/** Pixels around the bars: for the title, the labels of values and those of the domain. */
const MARGIN = { top: 40, right: 16, bottom: 34, left: 46 };
/** Pixels that a label of the domain needs. */
const LABEL_WIDTH = 74;

/** One value of a chart: its label, as its cell shows it, and its number; null for a cell without a number. */
interface Point {
  readonly label: string;
  readonly value: number | null;
}

/** A chart as inline SVG, placed at the cell to which it is anchored: its first series as columns. */
export function chartSvg(calculator: Calculator, chart: Chart): string {
  const { widthPixels = 0, heightPixels = 0 } = chart.position?.overlayPosition ?? {};
  const [width, height] = [widthPixels ?? 0, heightPixels ?? 0];
  const { title, altText } = chart.spec ?? {};
  const drawn = columns(
    pointsOf(calculator, chart),
    width - MARGIN.left - MARGIN.right,
    height - MARGIN.top - MARGIN.bottom,
  );
  const said = escapeHtml(altText ?? title ?? 'Chart');
  return [
    `<svg class="chart" role="img" aria-label="${said}" width="${width}" height="${height}">`,
    `<text class="title" x="14" y="24">${escapeHtml(title ?? '')}</text>`,
    `<g transform="translate(${MARGIN.left},${MARGIN.top})">${drawn}</g></svg>`,
  ].join('');
}

const rounded = (pixels: number): number => Math.round(pixels * 10) / 10;

function columns(points: readonly Point[], width: number, height: number): string {
  const top = niceTop(Math.max(0, ...points.map(({ value }) => value ?? 0)));
  const step = width / Math.max(1, points.length);
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / step));
  const lines = ticks(top).map((value) => {
    const y = rounded(height - (value / top) * height);
    return `<line x1="0" x2="${width}" y1="${y}" y2="${y}"/><text x="-6" y="${y + 4}" text-anchor="end">${value}</text>`;
  });
  const drawn = points.map(({ label, value }, at) => {
    const tall = rounded((Math.max(0, value ?? 0) / top) * height);
    const x = rounded(at * step + step * 0.15);
    const bar = `<rect x="${x}" y="${rounded(height - tall)}" width="${rounded(step * 0.7)}" height="${tall}" fill="${BLUE}"><title>${escapeHtml(`${label}: ${value ?? ''}`)}</title></rect>`;
    const middle = rounded(at * step + step / 2);
    const name = `<text x="${middle}" y="${height + 18}" text-anchor="middle">${escapeHtml(label)}</text>`;
    return at % every === 0 ? bar + name : bar;
  });
  return lines.join('') + drawn.join('');
}

/** The smallest axis with four round steps that includes `most`. */
function niceTop(most: number): number {
  const step = Math.max(1, most / 4);
  const unit = 10 ** Math.floor(Math.log10(step));
  const round = [1, 2, 3, 5, 10].map((times) => times * unit).find((size) => size >= step);
  return 4 * (round ?? step);
}

const ticks = (top: number): number[] => [0, 1, 2, 3, 4].map((part) => (top * part) / 4);

function pointsOf(calculator: Calculator, chart: Chart): Point[] {
  const { domains, series, headerCount } = chart.spec?.basicChart ?? {};
  const labels = cellsOf(calculator, domains?.[0]?.domain);
  const values = cellsOf(calculator, series?.[0]?.series);
  return values.slice(headerCount ?? 0).map(({ value }, at) => ({
    label: labels[at + (headerCount ?? 0)]?.text ?? '',
    value: typeof value === 'number' ? value : null,
  }));
}

function cellsOf(
  calculator: Calculator,
  data: ChartData | undefined,
): { value: unknown; text: string }[] {
  return (data?.sourceRange?.sources ?? []).flatMap((range) => {
    const sheet = calculator.document.grid(range.sheetId);
    const { top, bottom, left, right } = sheet.areaOf(boundsOf(range));
    const cells: { value: unknown; text: string }[] = [];
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        const text = calculator.text(sheet, row, column);
        cells.push({ value: calculator.value(sheet, row, column), text });
      }
    }
    return cells;
  });
}
