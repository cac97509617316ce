import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from './support/client.ts';

type Spec = sheets_v4.Schema$ChartSpec;

const column = (startColumnIndex: number, sheetId = 0): sheets_v4.Schema$ChartData => ({
  sourceRange: {
    sources: [
      {
        sheetId,
        startRowIndex: 0,
        endRowIndex: 4,
        startColumnIndex,
        endColumnIndex: startColumnIndex + 1,
      },
    ],
  },
});

const spec = (rest: Spec = {}, data = 0): Spec => ({
  title: 'Weeks <b>',
  basicChart: {
    chartType: 'COLUMN',
    headerCount: 1,
    domains: [{ domain: column(0, data) }],
    series: [{ series: column(1, data) }],
  },
  ...rest,
});

const at = (rowIndex: number, columnIndex: number): sheets_v4.Schema$EmbeddedObjectPosition => ({
  overlayPosition: { anchorCell: { sheetId: 0, rowIndex, columnIndex } },
});

describe('charts', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.start();
    bench.put('A1', [
      ['week', 'count'],
      ['first', 3],
      ['second', 8],
      ['third', 5],
    ]);
  });
  afterEach(() => bench.emulator.stop());

  const charts = async (): Promise<sheets_v4.Schema$EmbeddedChart[]> => {
    const fields = 'sheets(charts)';
    const { data } = await bench.api.spreadsheets.get({ spreadsheetId: bench.id, fields });
    return (data.sheets ?? []).flatMap((sheet) => sheet.charts ?? []);
  };
  const add = (chartId = 7, chart: sheets_v4.Schema$EmbeddedChart = {}) =>
    bench.batch({ addChart: { chart: { chartId, spec: spec(), position: at(5, 2), ...chart } } });
  const source = async (): Promise<sheets_v4.Schema$GridRange | undefined> => {
    const [chart] = await charts();
    return chart?.spec?.basicChart?.series?.[0]?.series?.sourceRange?.sources?.[0];
  };

  it('follow rows and columns with their place and their data', async () => {
    await add();
    const person = bench.emulator.people.at(bench.id, 0);
    person.insertRows(2, 3);
    person.insertColumns(0, 1);
    expect(await source()).toMatchObject({
      startRowIndex: 0,
      endRowIndex: 7,
      startColumnIndex: 2,
      endColumnIndex: 3,
    });
    const anchor = async (): Promise<unknown> =>
      (await charts())[0]?.position?.overlayPosition?.anchorCell;
    expect(await anchor()).toMatchObject({ rowIndex: 8, columnIndex: 3 });
    // The cell that it hung on is gone: it hangs on what took its place.
    person.deleteRows(7, 3);
    expect(await anchor()).toMatchObject({ rowIndex: 7 });
    person.deleteColumns(2);
    expect(await charts()).toMatchObject([
      { spec: { basicChart: { series: [{ series: { sourceRange: { sources: [] } } }] } } },
    ]);
  });

  it('are drawn on the page, each value with its label, and escaped', async () => {
    await add();
    const page = await (await fetch(`${bench.emulator.url}view/${bench.id}`)).text();
    const [svg = ''] = /<svg class="chart"[\s\S]*?<\/svg>/.exec(page) ?? [];
    expect(svg).toContain('Weeks &lt;b&gt;');
    const bars = [...svg.matchAll(/height="([\d.]+)"[^>]*><title>([^<]*)</g)];
    expect(bars.map(([, , label]) => label)).toEqual(['first: 3', 'second: 8', 'third: 5']);
    const heights = bars.map(([, height]) => Number(height));
    expect(heights[1]).toBeGreaterThan(heights[2] ?? 0);
    expect(heights[0]).toBeCloseTo((3 / 8) * (heights[1] ?? 0), 0);
  });
});
