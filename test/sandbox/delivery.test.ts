import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RequestInfo, type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import { call, get } from './caller.ts';

let sandbox: Sandbox;
let store: FormsStore;
let id: string;

async function serve(options: SandboxOptions = {}): Promise<void> {
  store = new FormsStore({ seed: 'delivery' });
  const form = store.addForm({ name: 'Form' });
  id = store.insert({ formId: form.id, data: { a: 'secret answer' } }).id;
  sandbox = await startSandbox({ store, ...options });
}

beforeEach(() => serve());
afterEach(() => sandbox.stop().catch(() => {}));

const forms = (signal?: AbortSignal) =>
  call(sandbox, 'GET', '/forms', signal === undefined ? {} : { signal });

describe('a fault over HTTP', () => {
  it('answers with its status and a short JSON body', async () => {
    sandbox.faults.add({ status: 500 });
    const { status, json, headers } = await forms();
    expect([status, json.error]).toEqual([500, 'injected']);
    expect(headers.get('retry-after')).toBeNull();
    expect((await forms()).status).toBe(200);
  });

  it('strikes before the key is looked at, as a gateway does', async () => {
    sandbox.faults.add({ status: 502 });
    expect((await call(sandbox, 'GET', '/forms', { headers: { 'x-api-key': 'x' } })).status).toBe(
      502,
    );
  });

  it.each([
    ['<h1>Bad gateway</h1>', 'text/html; charset=utf-8'],
    ['{"error":"down"}', 'application/json; charset=utf-8'],
    ['', 'text/html; charset=utf-8'],
  ])('answers with the body %j', async (body, type) => {
    sandbox.faults.add({ status: 502, body });
    const answer = await forms();
    expect([answer.text, answer.headers.get('content-type')]).toEqual([body, type]);
  });

  it.each([
    [7, '7'],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ])('asks to retry after %s', async (retryAfter, header) => {
    sandbox.faults.add({ status: 429, retryAfter });
    expect((await forms()).headers.get('retry-after')).toBe(header);
  });

  it('does not change the store, unless it says applied', async () => {
    const patch = (status: string) =>
      call(sandbox, 'PATCH', `/submissions/${id}/status`, { body: { status } });
    sandbox.faults.add({ method: 'PATCH', status: 503 });
    expect((await patch('DONE')).status).toBe(503);
    expect(store.get(id)?.status).toBe('NEW');
    sandbox.faults.add({ method: 'PATCH', status: 503, applied: true });
    expect((await patch('DONE')).status).toBe(503);
    expect(store.get(id)?.status).toBe('DONE');
    sandbox.faults.add({ method: 'PATCH', dropConnection: true, applied: true });
    await expect(patch('PAID')).rejects.toThrow('fetch failed');
    expect(store.get(id)?.status).toBe('PAID');
  });

  it.each([0, 1, 40])('cuts the body at byte %i and breaks the connection', async (cutBodyAt) => {
    const whole = (await forms()).text;
    sandbox.faults.add({ path: '/forms', cutBodyAt });
    const received = await raw('/forms');
    expect(received.body).toBe(whole.slice(0, cutBodyAt));
    expect(received.head).toContain(`content-length: ${Buffer.byteLength(whole)}`);
    expect(received.ended).toBe(true);
  });

  it('drops the connection without a byte', async () => {
    sandbox.faults.add({ dropConnection: true });
    expect(await raw('/forms')).toEqual({ head: '', body: '', ended: true });
    expect(sandbox.requests.at(-1)?.status).toBe(0);
  });

  it('goes silent in the middle of the body until the client gives up', async () => {
    const { text } = await forms();
    sandbox.faults.add({ hang: true });
    const client = connect(sandbox.port, '127.0.0.1');
    client.write(`GET /v1/forms HTTP/1.1\r\nhost: x\r\nx-api-key: ${sandbox.apiKey}\r\n\r\n`);
    let received = '';
    for await (const chunk of client) {
      received += String(chunk);
      if (received.endsWith(text.slice(0, text.length >> 1))) break;
    }
    expect(client.destroyed).toBe(true);
    expect(received).not.toContain(text);
    expect((await forms()).text).toBe(text);
  });

  it('waits first; then it shows the present instant', async () => {
    sandbox.faults.add({ path: '/submissions', delayMs: 50 });
    const pending = get(sandbox, '/submissions');
    await arrival(sandbox);
    store.setStatus(id, 'DONE');
    expect((await pending).items[0]?.status).toBe('DONE');
  });

  it('keeps no one waiting when the sandbox stops', async () => {
    sandbox.faults.add({ delayMs: 3_600_000 });
    const outcome = forms().catch((error: Error) => error.message);
    await arrival(sandbox);
    await sandbox.stop();
    expect(await outcome).toBe('fetch failed');
    // Not served, and not still waiting to be.
    expect(sandbox.requests.at(-1)?.status).toBe(0);
  });
});

/** Waits until a request has arrived that is not answered yet: its rule has counted it. */
async function arrival({ faults }: Sandbox): Promise<void> {
  while (faults.tally().every(({ hit }) => hit === 0)) {
    await new Promise((done) => setImmediate(done));
  }
}

/** What a plain socket receives. */
async function raw(path: string): Promise<{ head: string; body: string; ended: boolean }> {
  const client = connect(sandbox.port, '127.0.0.1');
  client.write(`GET /v1${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${sandbox.apiKey}\r\n\r\n`);
  let received = '';
  try {
    for await (const chunk of client) received += String(chunk);
  } catch {
    // A reset is as good an end as any.
  }
  const [head = '', body = ''] = received.split('\r\n\r\n');
  return { head, body, ended: client.destroyed };
}

describe('the hooks', () => {
  it('come before each request is served and after it is answered, with its number', async () => {
    const events: string[] = [];
    await sandbox.stop();
    await serve({
      onRequest: ({ number, method, path, query }: RequestInfo) => {
        events.push(`before ${number} ${method} ${path} ${query.get('page')}`);
        if (number === 2) store.setStatus(id, 'PAID');
      },
      afterResponse: ({ number, status }) => void events.push(`after ${number} ${status}`),
    });
    expect((await get(sandbox, '/submissions?page=1')).items[0]?.status).toBe('NEW');
    expect((await get(sandbox, '/submissions?page=1')).items[0]?.status).toBe('PAID');
    await call(sandbox, 'PATCH', '/submissions/none/status', { body: { status: 'DONE' } });
    expect(events).toEqual([
      'before 1 GET /submissions 1',
      'after 1 200',
      'before 2 GET /submissions 1',
      'after 2 200',
      'before 3 PATCH /submissions/none/status null',
      'after 3 404',
    ]);
  });

  it('that throw make a 500, and stop() rejects with the error', async () => {
    await sandbox.stop();
    await serve({
      onRequest: () => {
        throw new Error('from the hook');
      },
    });
    expect((await forms()).status).toBe(500);
    await expect(sandbox.stop()).rejects.toThrow('from the hook');
  });
});

describe('the log of requests', () => {
  it('has method, path, query, status and time, and no answer (L11)', async () => {
    await get(sandbox, '/submissions?search=secret&page=1');
    const [entry] = sandbox.requests;
    expect(entry).toMatchObject({
      number: 1,
      method: 'GET',
      path: '/submissions',
      query: { search: '[hidden]', page: '1' },
      status: 200,
    });
    expect(JSON.stringify(sandbox.requests)).not.toContain('secret');
  });
});

describe('what is bounded', () => {
  it('is the body of a request: beyond 10 MB the connection is broken', async () => {
    const send = (bytes: number) =>
      call(sandbox, 'POST', '/forms/form/submit', { body: { data: { a: 'x'.repeat(bytes) } } });
    expect((await send(9_000_000)).status).toBe(201);
    await expect(send(11_000_000)).rejects.toThrow('fetch failed');
    expect(store.count()).toBe(2);
  });
});

describe('listening', () => {
  it('is on loopback, on the port that was asked for; a taken one is named', async () => {
    expect(sandbox.url).toBe(`http://127.0.0.1:${sandbox.port}/v1`);
    await expect(startSandbox({ port: sandbox.port })).rejects.toThrow(
      `cannot listen on port ${sandbox.port}`,
    );
    const { port } = sandbox;
    await sandbox.stop();
    const again = await startSandbox({ port, basePath: '/api/v1', apiKey: 'mine_1' });
    expect([again.url, again.apiKey]).toEqual([`http://127.0.0.1:${port}/api/v1`, 'mine_1']);
    expect((await get(again, '/forms')).total).toBe(0);
    await again.stop();
    await again.stop();
  });
});
