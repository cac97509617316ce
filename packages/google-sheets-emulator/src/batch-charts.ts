import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import { boundsOf } from './document.ts';
import { guard, storedRange, type Edit } from './edit.ts';
import { withRanges } from './charts.ts';
import type { Sheet } from './sheet.ts';

type Response = sheets_v4.Schema$Response;
type Chart = sheets_v4.Schema$EmbeddedChart;
type Overlay = sheets_v4.Schema$OverlayPosition;
type Spec = sheets_v4.Schema$ChartSpec;

/** Kinds of chart that are kept and drawn. */
const KINDS: ReadonlySet<string> = new Set(['COLUMN', 'BAR']);
/** Size of a chart in pixels unless a request says otherwise (discovery document, "OverlayPosition"). */
const WIDTH = 600;
const HEIGHT = 371;

function chartOf(edit: Edit, id: number): { sheet: Sheet; chart: Chart } {
  for (const sheet of edit.document.sheets) {
    const chart = sheet.charts.find(({ chartId }) => chartId === id);
    if (chart !== undefined) return { sheet, chart };
  }
  throw invalid(`No chart with ID: ${id}`);
}

/** The tab and place that a position means, closed by Google's defaults. */
function placed(edit: Edit, overlay: Overlay): { sheet: Sheet; overlay: Overlay } {
  const { sheetId, rowIndex = 0, columnIndex = 0 } = overlay.anchorCell ?? {};
  const sheet = edit.document.grid(sheetId);
  const area = { top: rowIndex ?? 0, left: columnIndex ?? 0 };
  sheet.areaOf({
    startRowIndex: area.top,
    endRowIndex: area.top + 1,
    startColumnIndex: area.left,
    endColumnIndex: area.left + 1,
  });
  guard(edit, sheet, { ...area, bottom: area.top + 1, right: area.left + 1 });
  const anchorCell = {
    ...(sheet.id !== 0 && { sheetId: sheet.id }),
    ...(area.top > 0 && { rowIndex: area.top }),
    ...(area.left > 0 && { columnIndex: area.left }),
  };
  const { offsetXPixels, offsetYPixels, widthPixels, heightPixels } = overlay;
  return {
    sheet,
    overlay: {
      anchorCell,
      ...(offsetXPixels && { offsetXPixels }),
      ...(offsetYPixels && { offsetYPixels }),
      widthPixels: widthPixels ?? WIDTH,
      heightPixels: heightPixels ?? HEIGHT,
    },
  };
}

function overlayOf(position: sheets_v4.Schema$EmbeddedObjectPosition | undefined): Overlay {
  if (position?.overlayPosition) return position.overlayPosition;
  throw new ApiError(
    'UNIMPLEMENTED',
    'The Google Sheets emulator only does charts that lie on a tab of cells.',
  );
}

/** A spec in its stored form. Throws for other kinds of chart, and for data that lies in no row or column of the grid. */
function storedSpec(edit: Edit, given: Spec | undefined): Spec {
  const kinds = Object.keys(given ?? {}).filter((key) => key.endsWith('Chart'));
  const { basicChart } = given ?? {};
  if (kinds.length === 0) throw invalid('ChartSpec must have a chart set.');
  if (basicChart === undefined || !KINDS.has(basicChart.chartType ?? '')) {
    const kind = basicChart?.chartType ?? kinds.join(', ');
    throw new ApiError('UNIMPLEMENTED', `The Google Sheets emulator does not do charts: ${kind}.`);
  }
  const { domains = [], series = [] } = basicChart;
  if (domains.length > 1) throw invalid('Only a single domain is supported.');
  if (series.length === 0) throw invalid('At least one series must be set.');
  const all = [...domains.map((one) => one.domain), ...series.map((one) => one.series)];
  const counts = new Set(all.map((data) => data?.sourceRange?.sources?.length ?? 0));
  if (counts.size !== 1 || counts.has(0)) {
    throw invalid('The domain and all series must have the same number of source ranges.');
  }
  const spec = {
    ...given,
    hiddenDimensionStrategy: given?.hiddenDimensionStrategy ?? 'SKIP_HIDDEN_ROWS_AND_COLUMNS',
  };
  const { spec: stored } = withRanges({ spec }, (range) => {
    const kept = storedRange(edit, range);
    const { top, bottom, left, right } = edit.document.grid(kept.sheetId).areaOf(boundsOf(kept));
    if (bottom - top > 1 && right - left > 1) {
      throw invalid('A source range must have exactly one row or one column.');
    }
    return kept;
  });
  return stored ?? spec;
}

/** addChart. */
export function addChart(edit: Edit, request: sheets_v4.Schema$AddChartRequest): Response {
  const given = request.chart ?? {};
  const { sheet, overlay } = placed(edit, overlayOf(given.position));
  const chartId = given.chartId ?? edit.nextId();
  const isTaken = edit.document.sheets.some(({ charts }) =>
    charts.some((chart) => chart.chartId === chartId),
  );
  if (isTaken) throw invalid(`An embedded object with ID ${chartId} already exists.`);
  const spec = storedSpec(edit, given.spec);
  const { border } = given;
  const position = { overlayPosition: overlay };
  const chart = { chartId, spec, position, ...(border !== undefined && { border }) };
  sheet.charts = [...sheet.charts, chart];
  return { addChart: { chart } };
}

/** deleteEmbeddedObject. */
export function deleteObject(
  edit: Edit,
  request: sheets_v4.Schema$DeleteEmbeddedObjectRequest,
): undefined {
  const { sheet, chart } = chartOf(edit, request.objectId ?? 0);
  sheet.charts = sheet.charts.filter((one) => one !== chart);
  return undefined;
}
