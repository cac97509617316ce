import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
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
    { title: '<b>Leads</b>', locale: 'cs_CZ', timeZone: 'Europe/Prague' },
  );
  person = bench.emulator.people.at(bench.id, 0);
});
afterEach(() => bench.emulator.stop());

async function page(query = '', id = bench.id): Promise<string> {
  const answer = await fetch(`${bench.emulator.url}view/${id}${query}`);
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
  it('shows values as the sheet does, and escapes every one of them', async () => {
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
      '4.5.2026 12:00:00',
      '&quot;&amp;&#39;',
    ]);
    expect(html).not.toMatch(/<script>alert|<img|<b>Leads|<i>tab/);
    expect(html).toContain('&lt;b&gt;Leads&lt;/b&gt;');
    expect(html).toContain('&lt;i&gt;tab&lt;/i&gt;');
  });

  it('lets a row grow with its line breaks until somebody sets its height', async () => {
    person.pasteValues(0, 0, [['one\ntwo\nthree'], ['four\nfive']]);
    person.setHeight(1, 30);
    const html = await page();
    expect(html).toMatch(/<tr style="height:21px"><th>1<\/th>/);
    expect(html).toMatch(/<tr class="set" style="height:30px;--height:29px"><th>2<\/th>/);
    expect(html).toContain('tr.set td>div{max-height:var(--height)');
  });

  it.each(['', '/nosuch'])(
    'is shown to its own address only, with a policy on every answer: /view%s',
    async (path) => {
      const { port } = new URL(bench.emulator.url);
      const asked = async (host: string): Promise<IncomingMessage> => {
        const sent = get({ port, host: '127.0.0.1', path: `/view${path}`, headers: { host } });
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        answer.resume();
        return answer;
      };
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
        expect((await asked(host)).statusCode).not.toBe(403);
      }
      for (const host of [
        'evil.example',
        `evil.example:${port}`,
        '127.0.0.1.evil.example',
        'x/@localhost',
      ]) {
        const answer = await asked(host);
        expect([host, answer.statusCode]).toEqual([host, 403]);
        expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
      }
    },
  );

  it('answers no other name in its API either, nor where it gives tokens', async () => {
    const { port } = new URL(bench.emulator.url);
    for (const [method, path] of [
      ['GET', `/v4/spreadsheets/${bench.id}`],
      ['POST', '/token'],
    ]) {
      for (const [host, isOwn] of [
        [`127.0.0.1:${port}`, true],
        [`evil.example:${port}`, false],
      ] as const) {
        const sent = request({ port, host: '127.0.0.1', method, path, headers: { host } });
        sent.end();
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        answer.resume();
        // The API itself refuses who has no token, as Google does: in JSON.
        const isRefused =
          answer.statusCode === 403 && answer.headers['content-type']?.includes('html') === true;
        expect([path, host, isRefused]).toEqual([path, host, !isOwn]);
      }
    }
  });

  it('may run its own script only', async () => {
    const answer = await fetch(`${bench.emulator.url}view/${bench.id}`);
    const policy = answer.headers.get('content-security-policy') ?? '';
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1];
    expect(policy).toContain("default-src 'none'");
    expect(await answer.text()).toContain(`<script nonce="${nonce}">`);
  });

  it('keeps the frozen header in the table’s head, and numbers rows and columns', async () => {
    person.pasteValues(0, 0, [['h'], ['a']]);
    person.freezeRows(1);
    const html = await page();
    const head = /<thead>(.*?)<\/thead>/s.exec(html)?.[1] ?? '';
    expect(head).toContain('>A<');
    expect(head).toContain('>E<');
    expect(rowOf(head, 1)).toEqual(['h']);
    expect(rowOf(head, 2)).toEqual([]);
    expect(rowOf(html, 2)).toEqual(['a']);
  });

  it('leaves hidden rows and columns out, and marks the gap', async () => {
    person.pasteValues(0, 0, [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
      ['g', 'h', 'i'],
      ['j', 'k', 'l'],
    ]);
    person.hideColumns(1);
    person.hideRows(1);
    person.filter(0, ['j']);
    const html = await page();
    expect(rowOf(html, 1)).toEqual(['a', 'c']);
    expect(html).not.toContain('<th>2</th>');
    expect(rowOf(html, 4)).toEqual([]);
    expect(html).toContain('<th class="gap">3</th>');
    expect(html).toContain('letter gap');
  });

  it('shows formats: bold, strike, colours, widths', async () => {
    person.pasteValues(0, 0, [['a']]);
    person.format(
      { top: 0, bottom: 1, left: 0, right: 1 },
      {
        backgroundColor: { red: 1 },
        textFormat: { bold: true, strikethrough: true, foregroundColor: { blue: 1 } },
      },
    );
    person.setWidth(0, 222);
    const html = await page();
    expect(html).toContain(
      'background:rgb(255,0,0);font-weight:bold;text-decoration:line-through;color:rgb(0,0,255)',
    );
    expect(html).toContain('<col style="width:222px">');
  });

  it('turns a health cell red by itself when time passes: conditional formats and NOW()', async () => {
    person.type(0, 1, '4.5.2026 12:00');
    person.type(0, 0, '=IF((NOW()-B1)*24>2;"silent";"ok")');
    const range = { startRowIndex: 0, endRowIndex: 1, startColumnIndex: 0, endColumnIndex: 1 };
    await bench.batch({
      addConditionalFormatRule: {
        rule: {
          ranges: [range],
          booleanRule: {
            condition: { type: 'CUSTOM_FORMULA', values: [{ userEnteredValue: '=A1="silent"' }] },
            format: { backgroundColor: { red: 0.9 } },
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

  it('lets an earlier conditional format win over a later one', async () => {
    person.type(0, 0, 'x');
    const rule = (color: sheets_v4.Schema$Color, bold: boolean) => ({
      addConditionalFormatRule: {
        index: 0,
        rule: {
          ranges: [{ endRowIndex: 1, endColumnIndex: 1 }],
          booleanRule: {
            condition: { type: 'NOT_BLANK' },
            format: { backgroundColor: color, ...(bold && { textFormat: { bold } }) },
          },
        },
      },
    });
    await bench.batch(rule({ red: 1 }, true), rule({ green: 1 }, false));
    expect(await page()).toContain('style="background:rgb(0,255,0);font-weight:bold"');
  });

  it('links its visible tabs, and shows the one that gid names', async () => {
    const other = person.addTab('Other');
    const hidden = person.addTab('Hidden');
    bench.emulator.people.at(bench.id, other).type(0, 0, 'there');
    const properties = { sheetId: hidden, hidden: true };
    await bench.batch({ updateSheetProperties: { properties, fields: 'hidden' } });
    const html = await page(`?gid=${other}`);
    expect(rowOf(html, 1)).toEqual(['there']);
    expect(html).toContain(`gid=${other}" aria-current="page"`);
    expect(html).not.toContain('Hidden');
  });

  it('pages through a long sheet', async () => {
    const lines = Array.from({ length: 2_500 }, (_, index) => [index + 1]);
    person.pasteValues(0, 0, lines);
    const html = await page('?top=1000');
    expect(rowOf(html, 1001)).toEqual(['1001']);
    expect(rowOf(html, 2000)).toEqual(['2000']);
    expect(rowOf(html, 2001)).toEqual([]);
    expect(html).toContain('rows 1,001–2,000');
  });

  it('answers a fragment for the refresh, a list without an ID, and 404 for a wrong one', async () => {
    person.type(0, 0, 'x');
    const part = await page('?fragment=1');
    expect(part).not.toContain('<html');
    expect(rowOf(part, 1)).toEqual(['x']);
    expect(await page('', '')).toContain(`/view/${bench.id}`);
    const wrong = await fetch(`${bench.emulator.url}view/nope`);
    expect(wrong.status).toBe(404);
  });
});
