import { afterAll, expect, it } from 'vitest';
import { stopServers } from '../../../test/simulation/stores.ts';
import { broken } from '../../../test/simulation/story.ts';

/** Short ones; a process is killed in the first. `npm run simulate -- --store bigquery` draws others. */
const SEEDS = [2, 7, 11];

afterAll(stopServers);

it.each(SEEDS)('every law is kept in the history of seed %i', async (seed) => {
  expect(await broken('bigquery', seed)).toBe('');
});
