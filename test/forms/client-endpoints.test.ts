import { describe, expect, it } from 'vitest';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { startSandbox } from '../support/sandbox.ts';
import { errorOf, makeSource } from './make-source.ts';

describe('an ID in an address', () => {
  it.each(['ü?x=1#y', '%2e', '../submissions'])('is requested unchanged: %j', async (id) => {
    await using sandbox = await startSandbox();
    sandbox.store.addForm({ id, name: 'odd', slug: 'odd' });
    const client = makeSource(sandbox.url, { apiKey: sandbox.apiKey });
    expect(await client.form(id)).toMatchObject({ id });
  });

  it.each(['', '.', '..', 'x\ud800'])('L8: is never replaced by another ID: %j', async (id) => {
    const client = makeSource('http://127.0.0.1:9/v1');
    for (const call of [client.form(id), client.submission(id), client.setStatus(id, 'DONE')])
      expect(await errorOf(call)).toMatchObject({ code: 'FORMS_REFUSED' });
  });
});

it('the list of forms includes a form that moved to a page already read, because another form was removed between two pages', async () => {
  await using moving = await startSandbox({
    onRequest: ({ number }) => {
      if (number === 2) moving.store.deleteForm('form-0');
    },
  });
  const ids = Array.from({ length: 52 }, (_, at) => `form-${at}`);
  for (const id of ids) moving.store.addForm({ id, name: id });
  const listed = await makeSource(moving.url, { apiKey: moving.apiKey }).forms();
  expect(listed.forms.map(({ id }) => id)).toEqual(ids.slice(1));
});

it.each([404, 410])(
  'L8: a %i is recognized by its status, and reported with its possible meanings',
  async (status) => {
    await using odd = await startSandbox({ faults: [{ status, body: `<h1>${status}</h1>` }] });
    const client = makeSource(odd.url, { apiKey: odd.apiKey });
    const error = await errorOf(client.submission('sub_999'));
    expect(error).toMatchObject({ code: 'FORMS_REFUSED', status, retryable: false });
    expect(error.message).toBe(
      `Forms API, GET /submissions/sub_999: not found (${status}). It is not in this key's workspace, or FORMS_API_URL is not the API's base address with its version prefix.`,
    );
  },
);

it('L8: a single answer that names another form proves nothing', async () => {
  await using server = await OddServer.start(({ url }, response) =>
    sendJson(response, { id: url.split('/').at(-1), formId: 'frm_2', status: 'NEW', data: {} }),
  );
  expect(await makeSource(server.url).byId('frm_1', 'a')).toMatchObject({ kind: 'undecided' });
  expect(await makeSource(server.url).byId('frm_2', 'a')).toMatchObject({ kind: 'there' });
});
