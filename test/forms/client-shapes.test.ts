import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Page } from '../../src/forms/source.ts';
import { ExactNumber } from '../../src/mirror/types.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { errorOf, makeSource } from './make-source.ts';

const ITEM = { id: 's1', formId: 'f1', status: 'NEW', createdAt: '2026-01-01', data: { a: 'ž' } };

/** The page that a client makes from `body`. */
async function pageOf(body: unknown): Promise<Page> {
  await using server = await OddServer.start((_request, response) => sendJson(response, body));
  return await makeSource(server.url).page({ formId: 'f1' }, 4);
}

describe('L3: the envelope', () => {
  it.each([{ error: { code: 5 } }, { errors: ['x'] }, { error: true, total: 41 }])(
    'L17: an empty list with an error beside it is a failure and tried again, never an empty form: %j',
    async (told) => {
      await using server = await OddServer.start((_request, response) =>
        sendJson(response, { items: [], total: 0, totalPages: 0, ...told }),
      );
      const source = makeSource(server.url);
      for (const list of [() => source.page({ formId: 'f1' }), () => source.forms()]) {
        const error = await errorOf(list());
        expect(error).toMatchObject({ code: 'FORMS_FAILED', retryable: true, status: 200 });
        expect(error.message).toContain('answered 200 with an error beside an empty list');
      }
      expect(server.requests).toHaveLength(12);
    },
  );

  it.each([
    { success: true, ok: 1, status: 'ok' },
    { status: 200, statusCode: 200, code: 'SUCCESS', message: 'No submissions found' },
    { code: 0, errorCode: null, errorMessage: '' },
    { error: false, errors: [] },
  ])('an empty list may report its success: %j', async (told) => {
    expect(await pageOf({ items: [], total: 0, ...told })).toMatchObject({ items: [], total: 0 });
  });

  it('a list that holds something may carry a warning beside it', async () => {
    const told = { error: 'the parameter search is deprecated', code: 'E17' };
    expect((await pageOf({ items: [ITEM], total: 1, ...told })).items).toHaveLength(1);
  });

  it('an invalid entry in the list of forms is reported', async () => {
    await using server = await OddServer.start((_request, response) =>
      sendJson(response, { items: [{ id: 'f1' }, { name: 'no ID' }], total: 2 }),
    );
    expect(await errorOf(makeSource(server.url).forms())).toMatchObject({
      code: 'FORMS_FAILED',
    });
  });

  it('L14: a list of forms with an absurd number of pages costs one more request', async () => {
    await using server = await OddServer.start(({ url }, response) => {
      const items = url.includes('page=') ? [] : [{ id: 'f1' }, { id: 'f2' }];
      sendJson(response, { items, total: 2, totalPages: 1e9 });
    });
    expect((await makeSource(server.url).forms()).forms).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  });
});

describe('L3: a list that does not say how many entries it has', () => {
  it.each([undefined, null, 'many', -3, 1.5])('is read to its end: total %j', async (total) => {
    await using server = await OddServer.start(({ url }, response) => {
      const page = Number(new URL(url, server.url).searchParams.get('page') ?? 1);
      sendJson(response, { items: page > 2 ? [] : [{ ...ITEM, id: `f${page}` }], total });
    });
    const source = makeSource(server.url);
    expect((await source.forms()).forms.map(({ id }) => id)).toEqual(['f1', 'f2']);
    expect(await source.count({ formId: 'f1' })).toBeNull();
    const page = await source.page({ formId: 'f1' });
    expect(page).toMatchObject({ items: [{ key: 'f1' }], total: -1 });
  });
});

describe('L10: what comes over the wire', () => {
  it('is UTF-8, with or without a byte order mark, cut anywhere into pieces', async () => {
    const text = JSON.stringify({
      items: [{ ...ITEM, data: { a: 'Žluťoučký 🎉 \u0000 \ud83d' } }],
      total: 1,
    });
    const bytes = Buffer.from(`\ufeff${text}`);
    await using server = await OddServer.start((_request, response) => {
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    const page = await makeSource(server.url).page({ formId: 'f1' });
    expect(page.items[0]?.submission?.data['a']).toBe('Žluťoučký 🎉 \u0000 \ud83d');
  });

  it('may be compressed', async () => {
    const text = `{"items":[{"id":"s1","data":{"n":12345678901234567890}}],"total":1}`;
    await using server = await OddServer.start(({ headers }, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(headers['accept-encoding'] === 'gzip' ? gzipSync(text) : 'not asked for');
    });
    const page = await makeSource(server.url).page({ formId: 'f1' });
    expect(page.items[0]?.submission?.data['n']).toEqual(new ExactNumber('12345678901234567890'));
  });

  it('L14: may not fill the memory, compressed or not', async () => {
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 32), { level: 1 });
    await using server = await OddServer.start((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const error = await errorOf(makeSource(server.url).forms());
    expect(error).toMatchObject({
      code: 'FORMS_FAILED',
      reason: expect.stringContaining('answers with more than 64 MiB'),
    });
    expect(server.requests).toHaveLength(1);
  });
});
