import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { remapGridRange } from './overlays.ts';
import type { Remap } from './remap.ts';

type Chart = sheets_v4.Schema$EmbeddedChart;
type ChartData = sheets_v4.Schema$ChartData;
type GridRange = sheets_v4.Schema$GridRange;

/** A chart with every range of its data put through `change`; what becomes undefined goes. */
export function withRanges(
  chart: Chart,
  change: (range: GridRange) => GridRange | undefined,
): Chart {
  const basicChart = chart.spec?.basicChart;
  if (basicChart === undefined) return chart;
  const data = (given: ChartData = {}): ChartData => {
    const sources = given.sourceRange?.sources ?? [];
    return { ...given, sourceRange: { sources: sources.flatMap((range) => change(range) ?? []) } };
  };
  const { domains, series } = basicChart;
  return {
    ...chart,
    spec: {
      ...chart.spec,
      basicChart: {
        ...basicChart,
        ...(domains && {
          domains: domains.map((one) => Object.assign({}, one, { domain: data(one.domain) })),
        }),
        ...(series && {
          series: series.map((one) => Object.assign({}, one, { series: data(one.series) })),
        }),
      },
    },
  };
}

/** Charts of a tab after rows or columns of the tab `movedId` moved: their place and their data follow. */
export function remapCharts(
  charts: readonly Chart[],
  movedId: number,
  dimension: 'ROWS' | 'COLUMNS',
  remap: Remap,
): readonly Chart[] {
  return charts.map((chart) => {
    const moved = withRanges(chart, (range) =>
      (range.sheetId ?? 0) === movedId ? remapGridRange(range, dimension, remap) : range,
    );
    const overlay = chart.position?.overlayPosition;
    const anchor = overlay?.anchorCell;
    if ((anchor?.sheetId ?? 0) !== movedId) return moved;
    const name = dimension === 'ROWS' ? 'rowIndex' : 'columnIndex';
    // A chart whose cell is deleted stays, at the cell that takes its place.
    const index = anchor?.[name] ?? 0;
    const anchorCell = { ...anchor, [name]: remap.index(index) ?? nearest(remap, index) };
    return { ...moved, position: { overlayPosition: { ...overlay, anchorCell } } };
  });
}

/** The former place of a deleted row or column: after the remaining ones before it. */
function nearest(remap: Remap, index: number): number {
  for (let before = index - 1; before >= 0; before--) {
    const place = remap.index(before);
    if (place !== undefined) return place + 1;
  }
  return 0;
}

/** Charts without the data of a tab that was deleted. */
export const withoutSheet = (charts: readonly Chart[], sheetId: number): readonly Chart[] =>
  charts.map((chart) =>
    withRanges(chart, (range) => ((range.sheetId ?? 0) === sheetId ? undefined : range)),
  );
