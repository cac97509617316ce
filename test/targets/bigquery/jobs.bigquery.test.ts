import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseBigQueryUrl } from '../../../src/targets/sql/bigquery/bigquery-address.ts';
import { checkBigQuery } from '../../../src/targets/sql/bigquery/bigquery-check.ts';
import { type BigQueryJobs, openJobs } from '../../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { DaySpending } from '../../../src/targets/sql/bigquery/bigquery-spending.ts';
import { openAccount } from '../../../src/targets/google/credentials.ts';
import {
  type FaultyBigQuery,
  googleFault,
  startFaultyBigQuery,
} from '../../support/bigquery-faults.ts';
import { TestClock } from '../../support/test-clock.ts';

const ADD = 'UPDATE state SET n = n + 1 WHERE TRUE';
const SCRIPT = `BEGIN TRANSACTION; ${ADD}; COMMIT TRANSACTION; SELECT 'done' AS said;`;
const WRITES = { mutates: ['state'] };

describe('jobs over the stand-in for BigQuery', () => {
  let emulator: FaultyBigQuery;
  let jobs: BigQueryJobs;
  let datasets = 0;
  let dataset = '';
  beforeAll(async () => {
    emulator = await startFaultyBigQuery();
  });
  afterAll(() => emulator.close());
  beforeEach(async () => {
    dataset = `jobs_${++datasets}`;
    const clock = new TestClock();
    jobs = openJobs({
      project: 'my-project',
      dataset,
      location: 'EU',
      account: await openAccount({ emulatorUrl: emulator.url }, 'scope'),
      clock,
      rootUrl: emulator.url,
      spending: new DaySpending(clock),
    });
    await jobs.ensureDataset();
    await jobs.createTable({
      name: 'state',
      kind: 'table',
      description: '',
      columns: [{ name: 'n', type: 'INT64' }],
    });
    await jobs.run('INSERT INTO state (n) VALUES (0)', {}, WRITES);
  });
  afterEach(() => {
    emulator.faults.clear();
    emulator.jobs.clear();
  });

  const count = async (): Promise<string | null | undefined> =>
    (await jobs.run('SELECT n FROM state')).rows[0]?.['n'];

  it.each([
    ['503, done', 'backendError', { applied: true, times: 3 }],
    ['503, not done', 'backendError', { times: 3 }],
    ['500, done', 'internalError', { applied: true }],
    ['the end of the connection, done', null, { dropConnection: true, applied: true }],
    ['an answer that is cut, done', null, { cutBodyAt: 40, applied: true }],
    ['too many calls', 'rateLimitExceeded', { times: 2 }],
    ['too many jobs', 'jobRateLimitExceeded', { times: 2 }],
  ] as const)(
    'L5: a statement and a script take effect once each after %s',
    async (_, name, how) => {
      const fault = { ...(name !== null && (await googleFault(name))), ...how };
      emulator.faults.add({ method: 'jobs.query', query: /UPDATE/, ...fault });
      await jobs.run(ADD, {}, WRITES);
      emulator.faults.add({ method: 'jobs.query', query: /BEGIN/, ...fault });
      const { rows } = await jobs.run(SCRIPT, {}, WRITES);
      expect(rows).toEqual([{ said: 'done' }]);
      expect(await count()).toBe('2');
    },
  );

  it('a transaction that another one overtook takes effect when it is repeated', async () => {
    emulator.jobs.conflictOn('state', 3);
    await jobs.run(SCRIPT, {}, WRITES);
    expect(await count()).toBe('1');
  });

  it('a job that runs on is waited for, and what it was billed is asked', async () => {
    emulator.jobs.runLong(3);
    const { rows, bytesBilled, statements } = await jobs.run(SCRIPT, {}, WRITES);
    expect(rows).toEqual([{ said: 'done' }]);
    expect(bytesBilled).toBe(10 * 2 ** 20);
    expect(statements).toBe(4);
    expect(await count()).toBe('1');
  });

  it('a statement that Google cannot read is sent once', async () => {
    await expect(jobs.run('SELECT nothing FROM state')).rejects.toMatchObject({
      fault: 'refused',
      reason: 'invalidQuery',
    });
    const sent = (): number => emulator.requests.counts()['jobs.query'] ?? 0;
    const before = sent();
    await expect(jobs.run('SELECT nothing FROM state')).rejects.toMatchObject({ fault: 'refused' });
    expect(sent() - before).toBe(1);
  });

  it.each([
    ['an API that is not enabled', 'apiNotEnabled', /API is disabled/],
    ['credentials that are refused', 'noCredentials', /expired or revoked/],
  ] as const)('check recognises %s by the words of the stand-in', async (_, name, message) => {
    emulator.faults.add({ ...(await googleFault(name)), times: Infinity });
    const address = parseBigQueryUrl(`bigquery://my-project/${dataset}?location=EU`);
    const results = await checkBigQuery({ jobs, address, email: undefined });
    expect(results.at(-1)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });

  it('a project without billing is recognised by its refusal of DML', async () => {
    emulator.jobs.refuseDml();
    await expect(jobs.run(ADD, {}, WRITES)).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      message: expect.stringContaining('has no billing account'),
    });
  });
});
