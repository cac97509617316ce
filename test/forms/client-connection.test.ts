import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
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

  it('L14: is not kept in memory by a call that has ended', async ({ onTestFinished }) => {
    await using server = await OddServer.start((_request, response) => sendJson(response, FORM));
    const any = vi.spyOn(AbortSignal, 'any');
    onTestFinished(() => any.mockRestore());
    await makeSource(server.url).form('f1');
    const joined = any.mock.results.map(({ value }) => value as AbortSignal);
    expect(joined.length).toBeGreaterThan(1);
    // Node keeps a joined signal with listeners for as long as its sources.
    expect(joined.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
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
