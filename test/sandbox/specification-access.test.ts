import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxForm } from '../../src/sandbox/store.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import { call, get } from './caller.ts';

// Each test says a sentence of the chapters Authentication and Errors of the specification of the Forms API.

let sandbox: Sandbox;
let store: FormsStore;
let form: SandboxForm;

beforeAll(async () => {
  store = new FormsStore({ seed: 'access' });
  form = store.addForm({ name: 'Form' });
  store.insert({ formId: form.id, data: {} });
  sandbox = await startSandbox({ store });
});

afterAll(() => sandbox.stop());

describe('authentication', () => {
  const status = async (headers: Record<string, string>) =>
    (await call(sandbox, 'GET', '/forms', { headers })).status;

  it('takes the key as Authorization: Bearer, or as x-api-key', async () => {
    expect(await status({ authorization: `Bearer ${sandbox.apiKey}` })).toBe(200);
    expect(await status({ authorization: `bearer ${sandbox.apiKey}` })).toBe(200);
    expect(await status({ 'x-api-key': sandbox.apiKey })).toBe(200);
  });

  it('has keys that begin with a fixed prefix and an underscore', () => {
    expect(sandbox.apiKey).toMatch(/^sandbox_[0-9a-z]{32}$/);
  });

  it('answers 401 to a missing or invalid key, on every path', async () => {
    expect(await status({ anonymous: '1' })).toBe(401);
    expect(await status({ authorization: sandbox.apiKey })).toBe(401);
    expect(await status({ authorization: `Basic ${sandbox.apiKey}` })).toBe(401);
    expect(await status({ authorization: `Bearer ${sandbox.apiKey}x` })).toBe(401);
    expect(await status({ 'x-api-key': 'wrong' })).toBe(401);
    const id = store.ids(form.id)[0];
    for (const [method, path] of [
      ['GET', `/forms/${form.id}`],
      ['POST', `/forms/${form.slug}/submit`],
      ['GET', '/submissions'],
      ['GET', `/submissions/${id}`],
      ['PATCH', `/submissions/${id}/status`],
      ['GET', '/nothing'],
    ] as const) {
      const answer = await call(sandbox, method, path, { headers: { 'x-api-key': 'wrong' } });
      expect(answer.status).toBe(401);
    }
  });

  it('answers 401 to a revoked key, while others go on working', async () => {
    const second = sandbox.keys.issue(store);
    expect(second).not.toBe(sandbox.apiKey);
    expect(await status({ 'x-api-key': second })).toBe(200);
    sandbox.keys.revoke(second);
    expect(await status({ 'x-api-key': second })).toBe(401);
    expect(await status({ 'x-api-key': sandbox.apiKey })).toBe(200);
  });

  it('reports records of another workspace as 404, and lists none of them', async () => {
    const elsewhere = new FormsStore({ seed: 'elsewhere' });
    const foreign = elsewhere.addForm({ name: 'Foreign' });
    const { id } = elsewhere.insert({ formId: foreign.id, data: {} });
    const stranger = { ...sandbox, url: sandbox.url, apiKey: sandbox.keys.issue(elsewhere) };
    expect((await call(stranger, 'GET', `/submissions/${id}`)).status).toBe(200);
    const body = { status: 'DONE' };
    for (const [method, path] of [
      ['GET', `/forms/${foreign.id}`],
      ['GET', `/submissions/${id}`],
      ['PATCH', `/submissions/${id}/status`],
      ['POST', `/forms/${foreign.slug}/submit`],
    ] as const) {
      const options = method === 'GET' ? {} : { body };
      expect((await call(sandbox, method, path, options)).status).toBe(404);
    }
    expect((await get(sandbox, `/submissions?formId=${foreign.id}`)).total).toBe(0);
    expect(elsewhere.get(id)?.status).toBe('NEW');
    expect((await call(stranger, 'GET', `/forms/${form.id}`)).status).toBe(404);
  });
});

describe('errors', () => {
  it('has no other endpoints: 404', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/forms/'],
      ['POST', '/forms'],
      ['DELETE', `/forms/${form.id}`],
      ['PUT', `/submissions/${store.ids()[0]}/status`],
      ['GET', '/forms/a/submit'],
    ] as const) {
      expect((await call(sandbox, method, path)).status).toBe(404);
    }
  });

  it('answers 400 to a path that cannot be decoded', async () => {
    expect((await call(sandbox, 'GET', '/forms/%ff')).status).toBe(400);
  });
});
