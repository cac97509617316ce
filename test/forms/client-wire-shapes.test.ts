import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { SubmissionPage } from '../../src/forms/client.ts';
import { ExactNumber } from '../../src/mirror/types.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { errorOf, makeClient } from './make-client.ts';

const ITEM = { id: 's1', formId: 'f1', status: 'NEW', createdAt: '2026-01-01', data: { a: 'ž' } };

/** The page that a client makes of `body`. */
async function pageOf(body: unknown, date?: string): Promise<SubmissionPage> {
  await using server = await OddServer.start((_request, response) => {
    if (date !== undefined) response.setHeader('date', date);
    sendJson(response, body);
  });
  return await makeClient(server.url).listSubmissions({ formId: 'f1', page: 4, limit: 20 });
}

describe('L3: the envelope', () => {
  it.each<[string, object, Partial<SubmissionPage>]>([
    ['whole', { page: 2, limit: 7, totalPages: 9 }, { page: 2, limit: 7, totalPages: 9 }],
    ['without the optional', {}, { page: 4, limit: 20, totalPages: 3 }],
    ['without pages, limit capped', { limit: 10 }, { page: 4, limit: 10, totalPages: 5 }],
    [
      'with nulls',
      { page: null, limit: null, totalPages: null },
      { page: 4, limit: 20, totalPages: 3 },
    ],
    [
      'with nonsense',
      { page: 0, limit: -1, totalPages: 'x' },
      { page: 4, limit: 20, totalPages: 3 },
    ],
    ['with zero pages', { totalPages: 0 }, { totalPages: 0 }],
  ])('is understood %s', async (_name, gaps, expected) => {
    expect(await pageOf({ items: [ITEM], total: 41, ...gaps })).toMatchObject({
      items: [{ key: 's1', defects: [] }],
      total: 41,
      ...expected,
    });
  });

  it.each<[unknown]>([
    [{ items: [ITEM] }],
    [{ total: 1 }],
    [{ items: {}, total: 1 }],
    [{ items: [], total: -1 }],
    [{ items: [], total: 1.5 }],
    [[ITEM]],
    [null],
    ['"items"'],
  ])('that cannot prove anything is FORMS_NOT_JSON: %j', async (body) => {
    const error = await errorOf(pageOf(body));
    expect(error).toMatchObject({
      code: 'FORMS_NOT_JSON',
      request: 'GET /submissions?formId=f1&page=4&limit=20',
    });
    expect(error.message).toContain('JSON of another shape than documented');
  });

  it('takes the form asked for when an item does not say', async () => {
    const page = await pageOf({ items: [{ id: 's1' }], total: 1 });
    expect(page.items[0]?.submission?.formId).toBe('f1');
  });

  it('tells the server time, or that there is none', async () => {
    const body = { items: [], total: 0 };
    const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
    expect((await pageOf(body, date)).serverTimeMs).toBe(Date.UTC(2026, 0, 1));
    expect((await pageOf(body, 'now')).serverTimeMs).toBeNull();
  });

  it('of forms: one that is none is not passed over in silence', async () => {
    await using server = await OddServer.start((_request, response) =>
      sendJson(response, { items: [{ id: 'f1' }, { name: 'no ID' }], total: 2 }),
    );
    expect(await errorOf(makeClient(server.url).listForms())).toMatchObject({
      code: 'FORMS_NOT_JSON',
    });
  });

  it('of forms without a number of pages is read to its end', async () => {
    await using server = await OddServer.start(({ url }, response) => {
      const page = Number(/page=(\d+)/.exec(url)?.[1] ?? 1);
      sendJson(response, { items: page > 3 ? [] : [{ id: `f${page}` }], total: 3 });
    });
    const forms = await makeClient(server.url).listForms();
    expect(forms.map((form) => form.id)).toEqual(['f1', 'f2', 'f3']);
  });

  it('of forms whose pages never end is left', async () => {
    await using server = await OddServer.start((_request, response) =>
      sendJson(response, { items: [{ id: 'f1' }], total: 99, totalPages: 99 }),
    );
    expect(await makeClient(server.url).listForms()).toHaveLength(1);
    expect(server.requests).toHaveLength(4);
  });
});

describe('L10: what comes over the wire', () => {
  it('is UTF-8, with or without a mark of order, cut anywhere into pieces', async () => {
    const text = JSON.stringify({
      items: [{ ...ITEM, data: { a: 'Žluťoučký 🎉 \u0000 \ud83d' } }],
      total: 1,
    });
    const bytes = Buffer.from(`\ufeff${text}`);
    await using server = await OddServer.start((_request, response) => {
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    const page = await makeClient(server.url).listSubmissions({ formId: 'f1', page: 1 });
    expect(page.items[0]?.submission?.data.get('a')).toBe('Žluťoučký 🎉 \u0000 \ud83d');
  });

  it('may be packed', async () => {
    const text = `{"items":[{"id":"s1","data":{"n":12345678901234567890}}],"total":1}`;
    await using server = await OddServer.start(({ headers }, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(headers['accept-encoding'] === 'gzip' ? gzipSync(text) : 'not asked for');
    });
    const page = await makeClient(server.url).listSubmissions({ formId: 'f1', page: 1 });
    expect(page.items[0]?.submission?.data.get('n')).toEqual(
      new ExactNumber('12345678901234567890'),
    );
  });

  it('L14: may not fill the memory, packed or not', async () => {
    const bomb = gzipSync(Buffer.alloc(129 * 1024 * 1024, 32), { level: 1 });
    await using server = await OddServer.start((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const error = await errorOf(makeClient(server.url).listForms());
    expect(error).toMatchObject({
      code: 'FORMS_NOT_JSON',
      reason: 'the answer is larger than 128 MiB',
    });
    expect(server.requests).toHaveLength(1);
  });
});
