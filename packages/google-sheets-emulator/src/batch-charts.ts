import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import { boundsOf } from './document.ts';
import type { Edit } from './edit.ts';

/** addChart: a column chart, on a tab. Its place and its data stay where they are, even if people move cells. */
export function addChart(
  edit: Edit,
  { chart = {} }: sheets_v4.Schema$AddChartRequest,
): sheets_v4.Schema$Response {
  const { basicChart } = chart.spec ?? {};
  const overlay = chart.position?.overlayPosition;
  if (basicChart?.chartType !== 'COLUMN' || !overlay)
    throw new ApiError('UNIMPLEMENTED', 'The Google Sheets emulator only does charts of columns.');
  const { domains = [], series = [] } = basicChart;
  if (domains.length > 1) throw invalid('Only a single domain is supported.');
  if (series.length === 0) throw invalid('At least one series must be set.');
  for (const data of [...domains.map((one) => one.domain), ...series.map((one) => one.series)])
    for (const range of data?.sourceRange?.sources ?? []) {
      const { top, bottom, left, right } = edit.document
        .grid(range.sheetId)
        .areaOf(boundsOf(range));
      if (bottom - top > 1 && right - left > 1)
        throw invalid('A source range must have exactly one row or one column.');
    }
  const chartId = chart.chartId ?? edit.nextId();
  const isTaken = edit.document.sheets.some(({ charts }) =>
    charts.some((one) => one.chartId === chartId),
  );
  if (isTaken) throw invalid(`An embedded object with ID ${chartId} already exists.`);
  const sheet = edit.document.grid(overlay.anchorCell?.sheetId);
  const stored = { ...chart, chartId };
  sheet.charts = [...sheet.charts, stored];
  return { addChart: { chart: stored } };
}

/** deleteEmbeddedObject. */
export function deleteObject(
  { document }: Edit,
  { objectId }: sheets_v4.Schema$DeleteEmbeddedObjectRequest,
): undefined {
  const isIt = ({ chartId }: sheets_v4.Schema$EmbeddedChart): boolean => chartId === objectId;
  const sheet = document.sheets.find(({ charts }) => charts.some(isIt));
  if (sheet === undefined) throw invalid(`No chart with ID: ${objectId}`);
  sheet.charts = sheet.charts.filter((chart) => !isIt(chart));
  return undefined;
}
