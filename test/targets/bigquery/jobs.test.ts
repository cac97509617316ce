import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { done, failure, FakeBigQuery, refusal, running } from './fake-bigquery.ts';

const CONFLICT = refusal(
  400,
  'invalidQuery',
  'Query error: Transaction is aborted due to concurrent update against table my-project:forms.mirror_state. Transaction ID: x at [3:1]',
);
const WRITES = { mutates: ['mirror_state'] };

describe('jobs of BigQuery', () => {
  let fake: FakeBigQuery;
  beforeEach(async () => {
    fake = await FakeBigQuery.start();
  });
  afterEach(() => fake[Symbol.asyncDispose]());

  it('send a statement with its parameters, and read the rows of its result', async () => {
    fake.answer('POST queries', [
      done(
        {},
        ['id STRING', 'created_at TIMESTAMP', 'n INTEGER', 'answer JSON'],
        [
          ['a', '1767225600123000', '7', '{"x":1}'],
          ['b', '-1', null, null],
        ],
      ),
    ]);
    const jobs = await fake.jobs();
    const result = await jobs.run(
      'SELECT * FROM t WHERE id IN UNNEST(@ids) AND n = @n AND x IS NOT DISTINCT FROM @x',
      {
        ids: { type: 'STRING', value: ['a', 'b'] },
        n: { type: 'INT64', value: '7' },
        x: { type: 'STRING', value: null },
      },
    );
    expect(result).toEqual({
      rows: [
        { id: 'a', created_at: '2026-01-01T00:00:00.123Z', n: '7', answer: '{"x":1}' },
        { id: 'b', created_at: '1969-12-31T23:59:59.999999Z', n: null, answer: null },
      ],
      changedRows: 0,
      statements: 1,
      bytesBilled: 10_485_760,
    });
    expect(fake.queries[0]).toMatchObject({
      useLegacySql: false,
      location: 'EU',
      defaultDataset: { projectId: 'my-project', datasetId: 'forms' },
      formatOptions: { useInt64Timestamp: true },
      queryParameters: [
        {
          name: 'ids',
          parameterType: { type: 'ARRAY', arrayType: { type: 'STRING' } },
          parameterValue: { arrayValues: [{ value: 'a' }, { value: 'b' }] },
        },
        { name: 'n', parameterType: { type: 'INT64' }, parameterValue: { value: '7' } },
        { name: 'x', parameterType: { type: 'STRING' }, parameterValue: { value: null } },
      ],
    });
    // What reads needs no request ID, and nothing limits it.
    expect(fake.queries[0]).not.toHaveProperty('requestId');
    expect(fake.queries[0]).not.toHaveProperty('maximumBytesBilled');
  });

  it('are asked for until they are done, and for every page', async () => {
    fake
      .answer('POST queries', [running])
      .answer('GET queries/job-1', [
        running,
        running,
        done({ pageToken: 'two', totalBytesBilled: undefined }, ['id STRING'], [['a']]),
        done({ schema: undefined, totalBytesBilled: undefined }, [], [['b']]),
      ])
      .answer('GET jobs/job-1', [
        { body: { statistics: { query: { totalBytesBilled: '20971520' } } } },
      ]);
    const jobs = await fake.jobs();
    const result = await jobs.run('SELECT id FROM t');
    expect(result).toMatchObject({ rows: [{ id: 'a' }, { id: 'b' }], bytesBilled: 20_971_520 });
    const asked = fake.seen('GET queries/job-1');
    expect(asked.map(({ query }) => query.get('pageToken'))).toEqual([null, null, null, 'two']);
    expect(asked[0]?.query.get('location')).toBe('EU');
    expect(asked[0]?.query.get('formatOptions.useInt64Timestamp')).toBe('true');
  });

  it('L14: hand out a large result page by page, as it is asked for', async () => {
    fake
      .answer('POST queries', [done({ pageToken: 'two' }, ['id STRING'], [['a']])])
      .answer('GET queries/job-1', [
        done({ pageToken: 'three' }, ['id STRING'], [['b']]),
        done({}, ['id STRING'], [['c']]),
      ]);
    const jobs = await fake.jobs();
    const result = await jobs.open('SELECT id FROM t');
    const pages = result.pages()[Symbol.asyncIterator]();
    expect((await pages.next()).value).toEqual([{ id: 'a' }]);
    expect(fake.seen('GET queries/job-1')).toHaveLength(0);
    expect((await pages.next()).value).toEqual([{ id: 'b' }]);
    expect((await pages.next()).value).toEqual([{ id: 'c' }]);
    expect((await pages.next()).done).toBe(true);
    const asked = fake.seen('GET queries/job-1').map(({ query }) => query.get('pageToken'));
    expect(asked).toEqual(['two', 'three']);
    expect(fake.queries[0]).toMatchObject({ maxResults: 2_000 });
    expect(jobs.spending.total.statements).toBe(1);
  });

  it('that may take effect keep their request ID while Google asks for fewer questions', async () => {
    const fewer = refusal(403, 'rateLimitExceeded', 'Exceeded rate limits: too many api requests');
    let asked = 0;
    fake
      .answer('POST queries', [running, done()])
      .answer('GET queries/job-1', () => (++asked > 8 ? done() : fewer));
    const jobs = await fake.jobs();
    await jobs.run('UPDATE …', {}, WRITES);
    expect(fake.queries.map(({ requestId }) => requestId)).toEqual(['id-1', 'id-1']);
  });

  it('of a script tell how many statements it had, and what they were billed together', async () => {
    fake
      .answer('POST queries', [
        done({ statementType: 'SCRIPT', totalBytesBilled: '41943040' }, ['epoch INTEGER'], [['3']]),
      ])
      .answer('GET jobs/job-1', [
        { body: { statistics: { numChildJobs: '4', query: { totalBytesBilled: '41943040' } } } },
      ]);
    const jobs = await fake.jobs();
    const result = await jobs.run('BEGIN TRANSACTION; …', {}, WRITES);
    expect(result).toMatchObject({
      rows: [{ epoch: '3' }],
      statements: 4,
      bytesBilled: 41_943_040,
    });
    expect(jobs.spending.total).toEqual({ statements: 4, bytesBilled: 41_943_040 });
  });

  it('count the rows that a statement changed', async () => {
    fake.answer('POST queries', [
      done({ statementType: 'MERGE', dmlStats: { insertedRowCount: '3', updatedRowCount: '2' } }),
    ]);
    const jobs = await fake.jobs();
    expect(await jobs.run('MERGE …', {}, WRITES)).toMatchObject({ changedRows: 5 });
  });

  it.each([
    ['503 after it may have been done', refusal(503, 'backendError', 'Try again')],
    ['a connection that ends', 'cut' as const],
    ['an answer that is cut short', { body: '{"jobComplete": tr' }],
    ['a page of a gateway', { body: '<html>', headers: { 'content-type': 'text/html' } }],
  ])('repeat under the same request ID after %s', async (_, fault) => {
    fake.answer('POST queries', [fault, fault, done()]);
    const jobs = await fake.jobs();
    await jobs.run('UPDATE …', {}, WRITES);
    expect(fake.queries.map(({ requestId }) => requestId)).toEqual(['id-1', 'id-1', 'id-1']);
    expect(fake.clock.sleeps).toEqual([500, 1_000]);
  });

  it.each([
    ['a transaction that another one overtook', CONFLICT],
    ['too many jobs', refusal(403, 'jobRateLimitExceeded', 'Exceeded rate limits')],
    [
      'too many calls',
      refusal(
        403,
        'rateLimitExceeded',
        'Exceeded rate limits: too many table update operations for this table',
      ),
    ],
  ])('repeat as a new request after %s', async (_, fault) => {
    fake.answer('POST queries', [fault, done()]);
    const jobs = await fake.jobs();
    await jobs.run('UPDATE …', {}, WRITES);
    expect(fake.queries.map(({ requestId }) => requestId)).toEqual(['id-1', 'id-2']);
  });

  it('that nobody knows any more are sent again under the same request ID', async () => {
    fake
      .answer('POST queries', [running, done()])
      .answer('GET queries/job-1', [
        refusal(404, 'notFound', 'Not found: Job my-project:EU.job-1'),
      ]);
    const jobs = await fake.jobs();
    await jobs.run('UPDATE …', {}, WRITES);
    expect(fake.queries.map(({ requestId }) => requestId)).toEqual(['id-1', 'id-1']);
  });

  it('are not sent again because the question for their result failed for a moment', async () => {
    fake
      .answer('POST queries', [running])
      .answer('GET queries/job-1', [refusal(503, 'backendError', 'Try again'), 'cut', done()]);
    const jobs = await fake.jobs();
    await jobs.run('UPDATE …', {}, WRITES);
    expect(fake.queries).toHaveLength(1);
  });

  it('that failed in the backend are sent anew, as their state says', async () => {
    const ended = { state: 'DONE', errorResult: { reason: 'backendError', message: 'Error' } };
    let polls = 0;
    fake
      .answer('POST queries', [running])
      .answer('GET queries/job-1', () =>
        ++polls > 8 ? done() : refusal(503, 'backendError', 'Error encountered during execution'),
      )
      .answer('GET jobs/job-1', [{ body: { status: ended } }]);
    const jobs = await fake.jobs();
    await jobs.run('UPDATE …', {}, WRITES);
    expect(fake.queries.map(({ requestId }) => requestId)).toEqual(['id-1', 'id-2']);
  });

  it('end with what keeps failing, and wait for what Google asks', async () => {
    fake.answer('POST queries', [
      { ...(refusal(503, 'backendError', 'x') as object), headers: { 'retry-after': '20' } },
    ]);
    const jobs = await fake.jobs();
    const error = await failure(jobs.run('SELECT 1'));
    expect(error).toMatchObject({ code: 'TARGET_UNREACHABLE', retryable: true, status: 503 });
    expect(fake.queries).toHaveLength(8);
    expect(Math.min(...fake.clock.sleeps)).toBeGreaterThanOrEqual(20_000);
  });

  it('begin no repetition once the request ID may be forgotten', async () => {
    fake.answer('POST queries', () => {
      void fake.clock.sleep(6 * 60_000);
      return 'cut';
    });
    const jobs = await fake.jobs();
    await failure(jobs.run('UPDATE …', {}, WRITES));
    expect(fake.queries).toHaveLength(3);
  });

  it('wait for a table that was just made, and not for one that is gone', async () => {
    const gone = refusal(
      404,
      'notFound',
      'Not found: Table my-project:forms.t was not found in location EU',
    );
    fake
      .answer('POST queries', [gone, done()])
      .answer('POST datasets/forms/tables', [{ body: {} }]);
    const jobs = await fake.jobs();
    expect(await failure(jobs.run('SELECT * FROM t'))).toMatchObject({ fault: 'absent' });
    fake.answer('POST queries', [gone, gone, done()]);
    await jobs.createTable({
      name: 't',
      kind: 'table',
      columns: [],
      description: '',
    });
    await jobs.run('SELECT * FROM t');
    expect(fake.queries).toHaveLength(4);
  });

  it('run where the dataset is, which is asked once', async () => {
    fake
      .answer('GET datasets/forms', [{ body: { location: 'europe-west3' } }])
      .answer('POST queries', [done()]);
    const jobs = await fake.jobs({ location: undefined });
    await jobs.run('SELECT 1');
    await jobs.run('SELECT 1');
    expect(fake.queries.map(({ location }) => location)).toEqual(['europe-west3', 'europe-west3']);
    expect(fake.seen('GET datasets/forms')).toHaveLength(1);
  });

  it('stop waiting when they are asked to, and cancel the job', async () => {
    const stop = new AbortController();
    fake
      .answer('POST queries', [running])
      .answer('GET queries/job-1', () => {
        stop.abort();
        return running;
      })
      .answer('POST jobs/job-1/cancel', [{ body: {} }]);
    const jobs = await fake.jobs();
    await expect(
      jobs.run('UPDATE …', {}, { ...WRITES, signal: stop.signal }),
    ).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    await expect.poll(() => fake.seen('POST jobs/job-1/cancel').length).toBe(1);
  });

  it('L12: that nobody answers are asked for twice, told of, and given up; then once, until something is answered', async () => {
    const told: number[] = [];
    const patience = { timeoutMs: 50, silentMs: 1 };
    let isSilent = true;
    fake.answer('POST queries', () => (isSilent ? 'never' : done()));
    const jobs = await fake.jobs({
      onSilence: (silentMs) => void told.push(silentMs),
      patience,
    });
    const error = await failure(jobs.run('SELECT 1'));
    expect(error).toMatchObject({ code: 'TARGET_UNREACHABLE', late: true, retryable: true });
    expect(fake.queries).toHaveLength(2);
    expect(told).toEqual([1, 1]);
    // What is answered besides says nothing of jobs.
    fake.answer('GET datasets/forms/tables/t', [{ body: {} }]);
    patience.timeoutMs = 60_000;
    await jobs.table('t');
    patience.timeoutMs = 50;
    await failure(jobs.run('UPDATE t', {}, WRITES));
    await failure(jobs.dryRun('SELECT 1'));
    expect(fake.queries).toHaveLength(4);
    isSilent = false;
    patience.timeoutMs = 60_000;
    await jobs.run('SELECT 1');
    isSilent = true;
    patience.timeoutMs = 50;
    await failure(jobs.run('SELECT 1'));
    expect(fake.queries).toHaveLength(7);
  });

  it('that never end are cancelled after ten minutes', async () => {
    fake
      .answer('POST queries', [running])
      .answer('GET queries/job-1', [running])
      .answer('POST jobs/job-1/cancel', [{ body: {} }]);
    const jobs = await fake.jobs();
    const startMs = fake.clock.now();
    const error = await failure(jobs.run('UPDATE …', {}, WRITES));
    expect(error.message).toMatch(/not done after 10 minutes/);
    expect(fake.clock.now() - startMs).toBeLessThan(11 * 60_000);
    await expect.poll(() => fake.seen('POST jobs/job-1/cancel').length).toBe(1);
  });

  it('L11: tell nothing of what Google said, but whether it matches', async () => {
    const said = 'Bad double value: hunter2; Assertion failed: forms-mirror lost the lock at [2:1]';
    fake.answer('POST queries', [refusal(400, 'invalidQuery', said)]);
    const jobs = await fake.jobs();
    const error = await failure(jobs.run('UPDATE …', {}, WRITES));
    expect(error).toMatchObject({
      fault: 'refused',
      code: 'TARGET_FAILED',
      reason: 'invalidQuery',
    });
    expect(error.says(/forms-mirror lost the lock/)).toBe(true);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2');
    expect(fake.queries).toHaveLength(1);
  });
});
