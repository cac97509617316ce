import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Source } from '../../src/forms/source.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { errorOf, makeHttp, makeSource } from './make-source.ts';

const never = new AbortController().signal;
const FORM = { id: 'f1', name: 'F', slug: 'f' };

describe('a signal', () => {
  const aborted = { code: 'CANCELLED' };

  it.each<[string, (response: ServerResponse) => void]>([
    ['waiting for an answer', () => {}],
    ['in the middle of a body', (response) => void response.write('{"id":')],
  ])('ends a call that is %s, and frees its slot', async (_name, misbehave) => {
    const abort = new AbortController();
    await using server = await OddServer.start(({ number }, response) => {
      if (number > 0) return sendJson(response, FORM);
      misbehave(response);
      setImmediate(() => abort.abort());
    });
    const http = makeHttp(server.url, { concurrency: 1 });
    expect(await errorOf(new Source(http, abort.signal).form('f1'))).toMatchObject(aborted);
    expect(await new Source(http, never).form('f1')).toMatchObject({ id: 'f1' });
  });

  it('ends a call that waits for its turn', async () => {
    await using server = await OddServer.start(() => {});
    const http = makeHttp(server.url, { concurrency: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = errorOf(new Source(http, first.signal).form('f1'));
    const waiting = errorOf(new Source(http, second.signal).form('f2'));
    second.abort();
    expect(await waiting).toMatchObject(aborted);
    first.abort();
    expect(await running).toMatchObject(aborted);
  });

  it('ends the requests for pages that nobody needs once the list has ended', async () => {
    const item = (id: number) => ({ id: `s${id}`, formId: 'f1', status: 'NEW', data: {} });
    // The list becomes shorter after its first page, and its other pages never come.
    const lists = [
      { items: [item(1), item(2)], total: 40, totalPages: 20 },
      { items: [item(3)], total: 3, totalPages: 2 },
    ];
    await using server = await OddServer.start(({ url }, response) => {
      const page = new URLSearchParams(url.split('?')[1]).get('page');
      const answer = page === null ? FORM : lists[Number(page) - 1];
      if (answer !== undefined) sendJson(response, answer);
    });
    const source = makeSource(server.url, { concurrency: 2 });
    const lasts: boolean[] = [];
    for await (const { isLast } of source.pages({ formId: 'f1' })) lasts.push(isLast);
    expect(lasts).toEqual([false, true]);
    // Both places are free again, and no further page is requested.
    await Promise.all([source.form('f1'), source.form('f1')]);
    const pages = server.requests.filter(({ url }) => url.includes('page='));
    expect(pages.length).toBeLessThanOrEqual(4);
  });
});

describe('concurrency and connections', () => {
  it('L14: keeps to the limit over all calls, and keeps connections alive', async () => {
    const waiting: ServerResponse[] = [];
    let most = 0;
    await using server = await OddServer.start((_request, response) => {
      most = Math.max(most, waiting.push(response));
      // No request is answered before the limit is reached, so a client below it would hang.
      if (waiting.length < 3) return;
      setImmediate(() => {
        for (const held of waiting.splice(0)) sendJson(held, FORM);
      });
    });
    const client = makeSource(server.url, { concurrency: 3 });
    await Promise.all(Array.from({ length: 60 }, () => client.form('f1')));
    expect(most).toBe(3);
    expect(new Set(server.requests.map(({ connection }) => connection)).size).toBe(3);
  });

  it('ends all calls when it is disposed', async () => {
    await using silent = await OddServer.start(() => {});
    const http = makeHttp(silent.url, { concurrency: 1 });
    const client = new Source(http, never);
    const running = errorOf(client.form('f1'));
    const waiting = errorOf(client.form('f2'));
    await expect.poll(() => silent.requests).toHaveLength(1);
    await http[Symbol.asyncDispose]();
    for (const error of [await running, await waiting, await errorOf(client.forms())]) {
      expect(error).toMatchObject({
        code: 'CANCELLED',
        message: 'The Forms API client was closed.',
      });
    }
  });
});
