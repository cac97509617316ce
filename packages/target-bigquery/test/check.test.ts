import { afterAll, afterEach, expect, it } from 'vitest';
import { clock } from '../../../test/core/store-fixtures.ts';
import { GOOGLE_FAULTS } from '../../bigquery-emulator/src/google-faults.ts';
import { lentEmulator, newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);
afterEach(async () => {
  const emulator = await lentEmulator();
  emulator.faults.clear();
});

const forbidden = (message: string): { status: number; body: string } => ({
  status: 403,
  body: JSON.stringify({ error: { code: 403, message, errors: [{ reason: 'accessDenied' }] } }),
});

it('creates the dataset, and says what is ready', async () => {
  const { url } = await newPlace();
  await using store = await storeAt(url, clock);
  expect(await store.check()).toEqual([
    {
      what: 'BigQuery API v2 answers, and tables can be created there; it holds no form yet',
      isOk: true,
      remedy: null,
    },
  ]);
});

it.each([
  ['credentials', { method: 'datasets.get', ...GOOGLE_FAULTS.noCredentials }, /expired or revoked/],
  [
    'the API',
    { method: 'datasets.get', ...GOOGLE_FAULTS.apiNotEnabled },
    /API is disabled.*Enable it/,
  ],
  [
    'the project',
    {
      method: 'datasets.get',
      status: 404,
      body: '{"error":{"code":404,"message":"Not found: Project forms-project"}}',
    },
    /no project forms-project.*Copy the ID/,
  ],
  [
    'the right to run jobs',
    { method: 'jobs.query', ...GOOGLE_FAULTS.accessDenied },
    /may not run jobs.*Job User/,
  ],
  [
    'the right to write',
    {
      method: 'jobs.query',
      query: /CREATE TABLE/,
      ...forbidden(
        'Access Denied: Table x: Permission bigquery.tables.create denied on dataset forms',
      ),
    },
    /may not do this in the dataset.*Data Editor/,
  ],
  [
    'the location',
    {
      method: 'jobs.query',
      status: 404,
      body: '{"error":{"code":404,"message":"Not found: Dataset forms-project:forms was not found in location EU"}}',
    },
    /another location.*Compare \?location=/,
  ],
  [
    'billing',
    { method: 'jobs.query', query: /INSERT/, ...GOOGLE_FAULTS.billingNotEnabled },
    /no active billing account.*Link one/,
  ],
])('distinguishes %s, with what to do', async (_, fault, words) => {
  const { url, dataset } = await newPlace();
  const emulator = await lentEmulator();
  emulator.createDataset('forms-project', dataset);
  await using store = await storeAt(url, clock);
  emulator.faults.add(fault);
  await expect(store.check()).rejects.toThrow(words);
  expect(await store.forms()).toEqual([]);
});

it('continues after lost responses, and each row is stored once', async () => {
  const { url } = await newPlace();
  const emulator = await lentEmulator();
  await using store = await storeAt(url, clock);
  emulator.faults.add({
    method: 'jobs.query',
    query: /MERGE/,
    applied: true,
    dropConnection: true,
  });
  emulator.faults.add({
    method: 'jobs.query',
    query: /MERGE/,
    after: 1,
    ...GOOGLE_FAULTS.rateLimitExceeded,
  });
  expect(await store.putRecord('one', 1, null)).toBe(true);
  expect(await store.putRecord('one', 2, null)).toBe(false);
  expect((await store.record('one'))?.value).toBe(1);
});
