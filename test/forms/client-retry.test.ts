import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { Events } from '../../src/base/events.ts';
import type { FormsEvents } from '../../src/forms/http.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { TestClock } from '../support/test-clock.ts';
import { errorOf, makeSource } from './make-source.ts';

const FORM = { id: 'f1', name: 'F', slug: 'f' };

describe('what is tried again', () => {
  it.each([500, 429])('%i is, until it succeeds', async (status) => {
    await using server = await OddServer.start(({ number }, response) =>
      number < 2 ? sendJson(response, {}, status) : sendJson(response, FORM),
    );
    const notices: FormsEvents['forms.retry'][] = [];
    const events = new Events<FormsEvents>();
    events.on('forms.retry', (notice) => notices.push(notice));
    const client = makeSource(server.url, { events });
    expect(await client.form('f1')).toMatchObject({ id: 'f1' });
    expect(client.requests).toBe(3);
    expect(server.requests).toHaveLength(3);
    expect(notices.map(({ request, attempt }) => [request, attempt])).toEqual([
      ['GET /forms/f1', 1],
      ['GET /forms/f1', 2],
    ]);
    expect(notices[0]?.reason).toContain(`answered ${status}`);
  });

  it('is counted each time that it is sent, with the result and the waiting time', async () => {
    await using server = await OddServer.start(({ number }, response) => {
      if (number === 0) response.destroy();
      else if (number === 1) response.writeHead(429, { 'retry-after': '3' }).end();
      else sendJson(response, FORM);
    });
    const sent: FormsEvents['forms.sent'][] = [];
    const clock = new TestClock();
    const events = new Events<FormsEvents>();
    events.on('forms.sent', (one) => sent.push(one));
    const client = makeSource(server.url, { clock, events });
    await client.form('f1');
    expect(sent.map(({ status, ms }) => [status, ms])).toEqual([
      [null, 0],
      [429, 0],
      [200, 0],
    ]);
    // The waiting time that the source asked for came before the last attempt.
    expect(sent[0]?.waitedMs).toBe(0);
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(3_000);
    sent.length = 0;
    const stopped = makeSource(server.url, { clock, events }, AbortSignal.abort());
    await expect(stopped.form('f1')).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(sent).toEqual([]);
  });

  it.each([400, 404, 408])('%i never is', async (status) => {
    await using server = await OddServer.start((_request, response) =>
      sendJson(response, {}, status),
    );
    expect(await errorOf(makeSource(server.url).form('f1'))).toMatchObject({
      status,
      retryable: false,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('L5: a PATCH that was applied counts as done even if the response is lost', async () => {
    await using server = await OddServer.start((_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"ok"', () => response.destroy());
    });
    await makeSource(server.url).setStatus('s1', 'DONE');
    expect(server.requests).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  it('is a quarter of a minute if a 429 has none', async () => {
    await using server = await OddServer.start(({ number }, response) => {
      if (number > 0) return sendJson(response, FORM);
      response.writeHead(429).end();
    });
    const clock = new TestClock();
    const client = makeSource(server.url, { clock });
    await client.form('f1');
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(15_000);
  });

  it('delays the other requests of the client, which would only get the same response', async () => {
    await using server = await OddServer.start(({ number }, response) => {
      if (number > 0) return sendJson(response, FORM);
      response.writeHead(429, { 'retry-after': '300' }).end();
    });
    const clock = new TestClock();
    const sleep = vi.spyOn(clock, 'sleep');
    const client = makeSource(server.url, {
      clock,
      concurrency: 1,
      retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 },
    });
    const [first, second] = await Promise.allSettled([client.form('f1'), client.form('f2')]);
    expect(first).toMatchObject({ status: 'rejected', reason: { retryAfterMs: 120_000 } });
    expect(second.status).toBe('fulfilled');
    expect(sleep).toHaveBeenCalledExactlyOnceWith(120_000, expect.anything());
  });
});

describe('physical faults', () => {
  const requestTimeoutMs = 1_000;
  const text = JSON.stringify({ ...FORM, padding: 'ž'.repeat(50_000) });

  it.each<[string, (response: ServerResponse) => void]>([
    ['a server that says nothing', () => {}],
    [
      'a body cut in half that claims to be whole',
      (response) =>
        void response.writeHead(200, { connection: 'close' }).end(text.slice(0, 10_000)),
    ],
    ['silence in the middle of a body', (response) => void response.write(text.slice(0, 10_000))],
    [
      'HTML',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    ],
    [
      'damaged compression',
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    ],
  ])('%s: tried again, and reported', async (_name, misbehave) => {
    await using server = await OddServer.start(({ number }, response) =>
      number === 0 ? misbehave(response) : sendJson(response, text),
    );
    const reasons: string[] = [];
    const events = new Events<FormsEvents>();
    events.on('forms.retry', ({ reason }) => reasons.push(reason));
    const client = makeSource(server.url, { requestTimeoutMs, events });
    expect(await client.form('f1')).toMatchObject({ id: 'f1' });
    expect(reasons).toHaveLength(1);

    server.handler = (_request, response) => misbehave(response);
    const retry = { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 };
    const error = await errorOf(makeSource(server.url, { requestTimeoutMs, retry }).form('f1'));
    const failed = { code: 'FORMS_FAILED', name: 'FormsApiError', retryable: true };
    expect(error).toMatchObject(failed);
    expect(error.message).toContain(reasons[0]);
  });

  it('ends a body that trickles endlessly, and does not request it again and again', async () => {
    await using server = await OddServer.start((_request, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    const client = makeSource(server.url, { requestTimeoutMs });
    const error = await errorOf(client.form('f1'));
    expect(error).toMatchObject({
      code: 'FORMS_FAILED',
      reason: expect.stringContaining('takes too long to answer'),
      retryable: false,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('L14: reads only the beginning of an endless error', async () => {
    let bytes = 0;
    await using server = await OddServer.start((_request, response) => {
      response.writeHead(400);
      const more = (): void => {
        bytes += 50_000;
        if (!response.destroyed) response.write('x'.repeat(50_000), more);
      };
      more();
    });
    expect(await errorOf(makeSource(server.url).form('f1'))).toMatchObject({ status: 400 });
    expect(bytes).toBeLessThan(50_000_000);
  });
});
