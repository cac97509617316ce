import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GOOGLE_FAULTS } from '../src/index.ts';
import { PROJECT, refusalOf, startBed, type Bed } from './support/bed.ts';

const clock = { ms: Date.parse('2026-05-17T10:00:00Z'), now: () => clock.ms };
let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ clock, quotas: true });
});
afterAll(() => bed.emulator.close());
beforeEach(async () => {
  clock.ms += 60_000;
  bed.emulator.faults.clear();
  bed.emulator.jobs.clear();
  await bed.query('CREATE OR REPLACE TABLE t (n INT64)');
  await bed.query('INSERT INTO t VALUES (1)');
});

const INSERT = 'INSERT INTO t VALUES (2)';
const count = async (): Promise<unknown> =>
  (await bed.query('SELECT COUNT(*) FROM t')).rows[0]?.[0];

describe('faults of requests', () => {
  it('hide an answer after the request took effect', async () => {
    bed.emulator.faults.add({ query: /INSERT/, ...GOOGLE_FAULTS.backendError, applied: true });
    expect(await bed.refusal(INSERT)).toContain('backendError: ');
    expect(await count()).toBe('2');
    expect(bed.emulator.faults.tally()[0]).toMatchObject({ matched: 1, hit: 1 });
  });

  it.each([
    ['rateLimitExceeded', 'rateLimitExceeded: Exceeded rate limits'],
    ['apiNotEnabled', 'accessNotConfigured: BigQuery API has not been used'],
    ['billingNotEnabled', 'billingNotEnabled: Billing has not been enabled'],
    ['accessDenied', 'accessDenied: Access Denied'],
    ['notFoundYet', 'notFound: Not found: Table'],
  ] as const)('answer %s instead of serving it', async (name, said) => {
    bed.emulator.faults.add({ method: 'jobs.query', times: 1, ...GOOGLE_FAULTS[name] });
    expect(await bed.refusal(INSERT)).toContain(said);
    expect(await count()).toBe('1');
  });

  it('cut connections, before and after', async () => {
    bed.emulator.faults.add({ query: /INSERT/, dropConnection: true });
    bed.emulator.faults.add({ query: /INSERT/, dropConnection: true, applied: true });
    await expect(bed.query(INSERT)).rejects.toThrow(/socket|fetch|network|ECONN|closed/i);
    await expect(bed.query(INSERT)).rejects.toThrow(/socket|fetch|network|ECONN|closed/i);
    expect(await count()).toBe('2');
  });

  it('leave a request without an answer until the client gives up', async () => {
    bed.emulator.faults.add({ query: /INSERT/, delayMs: 3_600_000 });
    const body = { query: INSERT, useLegacySql: false };
    const gone = new AbortController();
    const asked = bed.api.jobs.query(
      { projectId: PROJECT, requestBody: body },
      { signal: gone.signal },
    );
    const settled = asked.then(
      () => 'answered',
      () => 'gave up',
    );
    await expect.poll(() => bed.emulator.faults.tally()[0]?.hit).toBe(1);
    gone.abort();
    expect(await settled).toBe('gave up');
    expect(await count()).toBe('1');
  });

  it('refuse a request without a token', async () => {
    const response = await fetch(`${bed.emulator.url}bigquery/v2/projects/${PROJECT}/datasets`);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { code: 401, status: 'UNAUTHENTICATED', errors: [{ reason: 'authError' }] },
    });
  });
});

describe('faults of jobs', () => {
  it('make a transaction lose against another', async () => {
    bed.emulator.jobs.conflictOn('t');
    const script = 'BEGIN TRANSACTION; UPDATE t SET n = 5 WHERE TRUE; COMMIT TRANSACTION';
    expect(await bed.refusal(script)).toContain(
      'Transaction is aborted due to concurrent update against table emulated:mirror.t',
    );
    await bed.query(script);
    expect((await bed.query('SELECT n FROM t')).rows).toEqual([['5']]);
  });

  it('let a job run long', async () => {
    bed.emulator.jobs.runLong(2);
    const { data } = await bed.query(INSERT);
    expect(data.jobComplete).toBe(false);
    const jobId = data.jobReference?.jobId ?? '';
    const next = async (): Promise<{ data: object }> =>
      bed.api.jobs.getQueryResults({ projectId: PROJECT, jobId, location: 'EU' });
    expect((await next()).data).toMatchObject({ jobComplete: false });
    expect((await next()).data).toMatchObject({ jobComplete: true, numDmlAffectedRows: '1' });
  });

  it('lose a job', async () => {
    const { data } = await bed.query(INSERT);
    const jobId = data.jobReference?.jobId ?? '';
    bed.emulator.jobs.lose(jobId);
    const asked = bed.api.jobs.get({ projectId: PROJECT, jobId });
    expect(await asked.catch(refusalOf)).toBe(`notFound: Not found: Job emulated:EU.${jobId}`);
  });

  it('refuse DML in a project without billing, and nothing else', async () => {
    bed.emulator.jobs.refuseDml();
    expect(await bed.refusal(INSERT)).toContain('billingNotEnabled: ');
    expect(await count()).toBe('1');
  });
});

describe('quotas', () => {
  it('let 25 mutating statements a table pass in ten seconds', async () => {
    const update = 'UPDATE t SET n = n + 1 WHERE TRUE';
    for (let times = 0; times < 25; times++) await bed.query(update);
    expect(await bed.refusal(update)).toContain('rateLimitExceeded: Exceeded rate limits');
    await bed.query(INSERT);
    clock.ms += 10_000;
    await bed.query(update);
    expect((await bed.query('SELECT n FROM t ORDER BY n')).rows).toEqual([['3'], ['27']]);
  });

  it('queue twenty statements behind one that changes the table, and refuse the next', async () => {
    const session = await bed.query('SELECT 1', {}, { createSession: true });
    const value = session.data.sessionInfo?.sessionId ?? '';
    const inside = (sql: string): Promise<unknown> =>
      bed.query(sql, {}, { connectionProperties: [{ key: 'session_id', value }] });
    await inside('BEGIN TRANSACTION');
    await inside('UPDATE t SET n = 100 WHERE TRUE');
    const waiting = Array.from({ length: 21 }, () =>
      bed.refusal('UPDATE t SET n = n + 1 WHERE TRUE'),
    );
    const first = await Promise.race(waiting);
    expect(first).toContain('Too many DML statements outstanding against table emulated:mirror.t');
    await inside('COMMIT TRANSACTION');
    const said = await Promise.all(waiting);
    expect(said.filter((text) => text.startsWith('nothing'))).toHaveLength(20);
    expect((await bed.query('SELECT n FROM t')).rows).toEqual([['120']]);
  });
});
