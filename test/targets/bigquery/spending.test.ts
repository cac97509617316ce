import { describe, expect, it } from 'vitest';
import {
  costsOf,
  countedRun,
  DaySpending,
  LEAST_BILLED_BYTES,
} from '../../../src/targets/sql/bigquery/bigquery-spending.ts';
import { TestClock } from '../../support/test-clock.ts';
import { done, failure, FakeBigQuery, refusal } from './fake-bigquery.ts';

const NOON = Date.UTC(2026, 10, 23, 12);
const MB = 1024 * 1024;

describe('what BigQuery bills', () => {
  it('is summed up for this process, and for the day with what others spent', () => {
    const spending = new DaySpending(new TestClock(NOON));
    spending.add({ bytesBilled: 20 * MB, statements: 2 });
    spending.seen({ day: '2026-11-23', bytesBilled: 100 * MB, statements: 10 });
    expect(spending.total).toEqual({ bytesBilled: 20 * MB, statements: 2 });
    expect(spending.today).toMatchObject({ bytesBilled: 120 * MB, statements: 12 });
    const part = spending.unsaved();
    spending.add({ bytesBilled: 10 * MB, statements: 1 });
    spending.saved(part);
    expect(spending.today).toMatchObject({ bytesBilled: 130 * MB, statements: 13 });
    expect(spending.unsaved()).toMatchObject({ bytesBilled: 10 * MB, statements: 1 });
    // Read before what was saved since: an older sum.
    spending.seen({ day: '2026-11-23', bytesBilled: 110 * MB, statements: 11 });
    expect(spending.today.bytesBilled).toBe(130 * MB);
  });

  it('begins at nothing with each day of UTC', async () => {
    const clock = new TestClock(NOON);
    const spending = new DaySpending(clock, 50 * MB);
    spending.add({ bytesBilled: 45 * MB, statements: 1 });
    const part = spending.unsaved();
    expect(() => spending.allowance()).toThrow(/BIGQUERY_MAX_BYTES_PER_DAY is reached/);
    await clock.sleep(12 * 3_600_000);
    expect(spending.allowance()).toBe(50 * MB);
    spending.saved(part);
    spending.seen({ day: '2026-11-23', bytesBilled: 45 * MB, statements: 1 });
    expect(spending.today).toEqual({ day: '2026-11-24', bytesBilled: 0, statements: 0 });
    expect(spending.total.bytesBilled).toBe(45 * MB);
  });

  it('bounds each job by what is left, and sends none once that is too little', async () => {
    await using fake = await FakeBigQuery.start();
    fake.answer('POST queries', [done({ totalBytesBilled: String(30 * MB) })]);
    const jobs = await fake.jobs({ maxBytes: 60 * MB + LEAST_BILLED_BYTES - 1 });
    await jobs.run('SELECT 1');
    await jobs.run('SELECT 1');
    const error = await failure(jobs.run('SELECT 1'));
    expect(fake.queries.map(({ maximumBytesBilled }) => Number(maximumBytesBilled) / MB)).toEqual([
      70 - 1 / MB,
      40 - 1 / MB,
    ]);
    expect(error).toMatchObject({ code: 'TARGET_BUDGET', fault: 'budget', retryable: true });
    expect(error.message).toContain('It goes on at 2026-01-02 00:00 UTC, with nothing lost');
  });

  it('is reached when BigQuery itself says that a job needs more than is left', async () => {
    await using fake = await FakeBigQuery.start();
    const said = 'Query exceeded limit for bytes billed: 12582912. 20971520 or higher required.';
    fake.answer('POST queries', [refusal(400, 'bytesBilledLimitExceeded', said)]);
    const jobs = await fake.jobs({ maxBytes: 20 * MB });
    jobs.spending.add({ bytesBilled: 8 * MB, statements: 1 });
    const error = await failure(jobs.run('SELECT 1'));
    expect(error.code).toBe('TARGET_BUDGET');
    expect(error.message).toContain('the next job may need more than is left');
    expect(fake.queries).toHaveLength(1);
  });

  it.each([
    ['Google says that it needs more', 1, '20971521 or higher required.', null, '20,971,521 bytes'],
    ['nothing was billed today', 0, 'Too much.', null, 'more bytes'],
    ['a dry run says that it needs more', 1, 'Too much.', '20971521', '20,971,521 bytes'],
  ])(
    'L17: never does for a job that needs more than a whole day has: %s',
    async (_, billed, words, dry, bytes) => {
      await using fake = await FakeBigQuery.start();
      const said = `Query exceeded limit for bytes billed: 1. ${words}`;
      fake.answer('POST queries', ({ body }) => {
        if (body['dryRun'] !== true) return refusal(400, 'bytesBilledLimitExceeded', said);
        expect(body).toMatchObject({ queryParameters: [{ name: 'x' }] });
        expect(body).not.toHaveProperty('maximumBytesBilled');
        return dry === null
          ? refusal(500, 'backendError', 'x')
          : done({ totalBytesProcessed: dry });
      });
      const jobs = await fake.jobs({ maxBytes: 20 * MB });
      jobs.spending.add({ bytesBilled: billed, statements: billed });
      const error = await failure(jobs.run('SELECT @x', { x: { type: 'STRING', value: 'a' } }));
      expect(error).toMatchObject({ code: 'TARGET_BUDGET_TOO_SMALL', retryable: false });
      expect(error.message).toContain(`A job would be billed ${bytes}, and`);
      expect(error.message).toContain("can't run, neither today nor on another day. Raise");
      expect(error.message).not.toMatch(/goes on|nothing lost/);
    },
  );

  it('L17: goes on the next day where a dry run says that a whole day does for the job', async () => {
    await using fake = await FakeBigQuery.start();
    fake.answer('POST queries', ({ body }) =>
      body['dryRun'] === true
        ? done({ totalBytesProcessed: String(20 * MB) })
        : refusal(400, 'bytesBilledLimitExceeded', 'Too much.'),
    );
    const jobs = await fake.jobs({ maxBytes: 20 * MB });
    jobs.spending.add({ bytesBilled: 1, statements: 1 });
    const error = await failure(jobs.run('SELECT 1'));
    expect(error).toMatchObject({ code: 'TARGET_BUDGET', retryable: true });
  });

  it('is told as costs of the target, and of each writer apart', async () => {
    await using fake = await FakeBigQuery.start();
    fake.answer('POST queries', [done({ totalBytesBilled: String(30 * MB) })]);
    const jobs = await fake.jobs({ maxBytes: 2 ** 40 });
    const writer = countedRun(jobs);
    await jobs.run('SELECT 1');
    await writer.run('SELECT 1');
    await writer.open('SELECT 1');
    expect(writer.spent()).toEqual({ billedBytes: 60 * MB, statements: 2 });
    expect(costsOf(jobs.spending)).toEqual({
      billedBytes: 90 * MB,
      statements: 3,
      today: { day: '2026-01-01', billedBytes: 90 * MB, statements: 3 },
      maxBytesPerDay: 2 ** 40,
    });
    // Without a limit the dataset keeps no sum of the day, so nobody knows one.
    expect(costsOf((await fake.jobs()).spending)).toMatchObject({
      today: null,
      maxBytesPerDay: null,
    });
  });

  it('bounds a repetition as the request that it repeats, whatever was billed meanwhile', async () => {
    await using fake = await FakeBigQuery.start();
    const jobs = await fake.jobs({ maxBytes: 100 * MB });
    let sent = 0;
    fake.answer('POST queries', () => {
      if (++sent > 1) return done();
      jobs.spending.add({ bytesBilled: 95 * MB, statements: 1 });
      return 'cut';
    });
    await jobs.run('UPDATE …', {}, { mutates: ['state'] });
    const [first, second] = fake.queries;
    expect(second?.['maximumBytesBilled']).toBe(String(100 * MB));
    expect(second?.['requestId']).toBe(first?.['requestId']);
  });
});
