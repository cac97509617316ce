import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestSandbox, startSandbox } from '../support/sandbox.ts';
import type { SandboxOptions } from '../support/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import { call, get } from './caller.ts';

let sandbox: TestSandbox;
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

describe('a fault over HTTP', () => {
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
    const whole = (await call(sandbox, 'GET', '/forms')).text;
    sandbox.faults.add({ path: '/forms', cutBodyAt });
    const received = await raw('/forms');
    expect(received.body).toBe(whole.slice(0, cutBodyAt));
    expect(received.head).toContain(`content-length: ${Buffer.byteLength(whole)}`);
    expect(received.ended).toBe(true);
  });
});

/** The bytes that a plain socket receives. */
async function raw(path: string): Promise<{ head: string; body: string; ended: boolean }> {
  const client = connect(sandbox.port, '127.0.0.1');
  client.write(`GET /v1${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${sandbox.apiKey}\r\n\r\n`);
  let received = '';
  try {
    for await (const chunk of client) received += String(chunk);
  } catch {
    // A connection that is reset has ended, too.
  }
  const [head = '', body = ''] = received.split('\r\n\r\n');
  return { head, body, ended: client.destroyed };
}

describe('listening', () => {
  it('is on loopback, on the requested port; a port in use is reported', async () => {
    expect(sandbox.url).toBe(`http://127.0.0.1:${sandbox.port}/v1`);
    await expect(startSandbox({ port: sandbox.port })).rejects.toThrow(
      `cannot listen on port ${sandbox.port}`,
    );
    const { port } = sandbox;
    await sandbox.stop();
    const again = await startSandbox({ port, apiKey: 'mine_1' });
    expect([again.url, again.apiKey]).toEqual([`http://127.0.0.1:${port}/v1`, 'mine_1']);
    expect((await get(again, '/forms')).total).toBe(0);
    await again.stop();
    await again.stop();
  });
});
