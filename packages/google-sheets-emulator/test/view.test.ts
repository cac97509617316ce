import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from './support/people.ts';
import { Bench } from './support/client.ts';

let bench: Bench;
let person: Person;
let now = Date.UTC(2026, 4, 4, 10);
beforeEach(async () => {
  now = Date.UTC(2026, 4, 4, 10);
  bench = await Bench.start(
    { clock: { now: () => now } },
    { title: '<b>Leads</b>', timeZone: 'Europe/Prague' },
  );
  person = bench.emulator.people.at(bench.id, 0);
});
afterEach(() => bench.emulator.stop());

async function page(): Promise<string> {
  const answer = await fetch(`${bench.emulator.url}view/${bench.id}`);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** The cells of one row of the grid, as texts. */
const rowOf = (html: string, row: number): string[] => {
  const found = new RegExp(`<tr[^>]*><th[^>]*>${row}</th>(.*?)</tr>`).exec(html)?.[1] ?? '';
  const cells = [...found.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map((match) =>
    (match[1] ?? '').replace(/<[^>]*>/g, ''),
  );
  while (cells.at(-1) === '') cells.pop();
  return cells;
};

describe('the page of a spreadsheet', () => {
  it('shows values as the sheet does, and escapes all of them', async () => {
    person.pasteValues(0, 0, [
      ['id', 'when', 'text'],
      ['<script>alert(1)</script>', 46146.5, `"&'`],
    ]);
    person.format({ top: 1, left: 1, right: 2 }, { numberFormat: { type: 'DATE_TIME' } });
    person.note(1, 2, '"><img src=x onerror=alert(1)>');
    person.renameTab('<i>tab</i>');
    const html = await page();
    expect(rowOf(html, 2)).toEqual([
      '&lt;script&gt;alert(1)&lt;/script&gt;',
      '2026-05-04 12:00',
      '&quot;&amp;&#39;',
    ]);
    expect(html).not.toMatch(/<script>alert|<img|<b>Leads|<i>tab/);
    expect(html).toContain('&lt;b&gt;Leads&lt;/b&gt;');
    expect(html).toContain('&lt;i&gt;tab&lt;/i&gt;');
  });

  it('runs no script', async () => {
    const answer = await fetch(`${bench.emulator.url}view/${bench.id}`);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src/);
    expect(await answer.text()).not.toContain('<script');
  });

  it('turns a health cell red without a write when time passes: conditional formats and NOW()', async () => {
    person.type(0, 1, '46146.5');
    person.type(0, 0, '=IF((NOW()-B1)*24>2;"silent";"ok")');
    const range = { startRowIndex: 0, endRowIndex: 1, startColumnIndex: 0, endColumnIndex: 1 };
    await bench.batch({
      addConditionalFormatRule: {
        rule: {
          ranges: [range],
          booleanRule: {
            condition: { type: 'CUSTOM_FORMULA', values: [{ userEnteredValue: '=A1="silent"' }] },
            format: { backgroundColorStyle: { rgbColor: { red: 0.9 } } },
          },
        },
      },
    });
    const before = await page();
    expect(rowOf(before, 1)[0]).toBe('ok');
    expect(before).not.toContain('background:rgb(230,0,0)');
    now += 3 * 3_600_000;
    const after = await page();
    expect(rowOf(after, 1)[0]).toBe('silent');
    expect(after).toContain('background:rgb(230,0,0)');
  });

  it('draws charts, each value with its label, and escapes them', async () => {
    bench.put('A1', [
      ['week', 'count'],
      ['first', 3],
      ['second', 8],
    ]);
    const column = (startColumnIndex: number) => {
      const rows = { sheetId: 0, startRowIndex: 0, endRowIndex: 3 };
      const columns = { startColumnIndex, endColumnIndex: startColumnIndex + 1 };
      return { sourceRange: { sources: [{ ...rows, ...columns }] } };
    };
    const basicChart = {
      chartType: 'COLUMN',
      headerCount: 1,
      domains: [{ domain: column(0) }],
      series: [{ series: column(1) }],
    };
    const anchorCell = { sheetId: 0, rowIndex: 5, columnIndex: 2 };
    const position = { overlayPosition: { anchorCell, widthPixels: 600, heightPixels: 371 } };
    const chart = { chartId: 7, spec: { title: 'Weeks <b>', basicChart }, position };
    await bench.batch({ addChart: { chart } });
    const [svg = ''] = /<svg class="chart"[\s\S]*?<\/svg>/.exec(await page()) ?? [];
    expect(svg).toContain('Weeks &lt;b&gt;');
    const bars = [...svg.matchAll(/height="([\d.]+)"[^>]*><title>([^<]*)</g)];
    expect(bars.map(([, , label]) => label)).toEqual(['first: 3', 'second: 8']);
    const [first, second] = bars.map(([, height]) => Number(height));
    expect(first).toBeCloseTo((3 / 8) * (second ?? 0), 0);
    await bench.batch({ deleteEmbeddedObject: { objectId: 7 } });
    expect(await page()).not.toContain('<svg class="chart"');
  });
});
