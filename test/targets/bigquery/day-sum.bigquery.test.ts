import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BigQueryJobs } from '../../../src/targets/sql/bigquery/bigquery-jobs.ts';
import {
  changeRecord,
  DAY_RECORD,
  readRecord,
} from '../../../src/targets/sql/bigquery/kept-record.ts';
import { LEAST_BILLED_BYTES } from '../../../src/targets/sql/bigquery/bigquery-spending.ts';
import { type BigQueryStandIn, standInJobs, startBigQuery } from '../../support/bigquery-place.ts';
import { TestClock } from '../../support/test-clock.ts';

const NOON = Date.UTC(2026, 10, 23, 12);
/** Longer than a process waits until it says again what it was billed. */
const A_WHILE_MS = 15_000;
const LIMIT = 100 * LEAST_BILLED_BYTES;
const READ = 'SELECT n FROM numbers';

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

let datasets = 0;

describe('the sum of a day in BigQuery', () => {
  let dataset: string;
  let clock: TestClock;
  /** Another process at the same time. */
  const process = (limit = LIMIT): Promise<BigQueryJobs> =>
    standInJobs(standIn.url, dataset, clock, 5, limit);
  const told = async (): Promise<unknown> => {
    const text = await readRecord(await process(), DAY_RECORD);
    return text === null ? null : (JSON.parse(text) as { bytesBilled: number }).bytesBilled;
  };

  beforeEach(async () => {
    datasets += 1;
    dataset = `days_${datasets}`;
    clock = new TestClock(NOON);
    const jobs = await process();
    await jobs.ensureDataset();
    await jobs.createTable({
      name: 'numbers',
      kind: 'table',
      description: '',
      columns: [{ name: 'n', type: 'INT64' }],
    });
    standIn.faults.clear();
    standIn.statements.clear();
  });

  it('has what each process was billed, also one that only reads, and costs nothing itself', async () => {
    const one = await process();
    await one.run(READ);
    expect(await told()).toBeNull();
    await one.close();
    expect(await told()).toBe(LEAST_BILLED_BYTES);
    const two = await process();
    await two.run(READ);
    await two.run(READ);
    expect(two.spending.today.bytesBilled).toBe(3 * LEAST_BILLED_BYTES);
    await two.close();
    expect(await told()).toBe(3 * LEAST_BILLED_BYTES);
    // Nothing new to tell.
    await two.close();
    expect(standIn.statements.totals()).toMatchObject({
      statements: 3,
      bytesBilled: 3 * LEAST_BILLED_BYTES,
    });
  });

  it('is learned before the first job, which is not sent where the limit is reached', async () => {
    const first = await process(3 * LEAST_BILLED_BYTES);
    for (let n = 0; n < 3; n++) await first.run(READ);
    await first.close();
    const second = await process(3 * LEAST_BILLED_BYTES);
    await expect(second.run(READ)).rejects.toMatchObject({ code: 'TARGET_BUDGET' });
    expect(standIn.statements.totals().statements).toBe(3);
    await clock.sleep(12 * 3_600_000);
    await second.run(READ);
    expect(second.spending.today).toMatchObject({
      day: '2026-11-24',
      bytesBilled: LEAST_BILLED_BYTES,
    });
  });

  it('is told and learned while processes work side by side', async () => {
    const [one, two] = [await process(), await process()];
    for (const jobs of [one, two]) await jobs.run(READ);
    await clock.sleep(A_WHILE_MS);
    await one.run(READ);
    expect(await told()).toBe(LEAST_BILLED_BYTES);
    await two.run(READ);
    expect(await told()).toBe(2 * LEAST_BILLED_BYTES);
    // Its own of before and now, and what the other one had told.
    expect(two.spending.today.bytesBilled).toBe(3 * LEAST_BILLED_BYTES);
    await Promise.all([one.close(), two.close()]);
    expect(await told()).toBe(4 * LEAST_BILLED_BYTES);
  });

  it('counts once what was told with an answer that was lost', async () => {
    const one = await process();
    await one.run(READ);
    await one.close();
    standIn.faults.add({ method: 'tables.patch', status: 503, applied: true, times: 1 });
    const two = await process();
    await two.run(READ);
    await two.close();
    expect(standIn.faults.tally()[0]?.hit).toBe(1);
    expect(await told()).toBe(2 * LEAST_BILLED_BYTES);
  });

  it('outlives the view, which people may drop, where a process knows it', async () => {
    const one = await process();
    for (let n = 0; n < 3; n++) await one.run(READ);
    await clock.sleep(A_WHILE_MS);
    await one.run(READ);
    await one.dropTable(DAY_RECORD.view);
    await one.close();
    expect(await told()).toBe(4 * LEAST_BILLED_BYTES);
  });

  it.each([
    ['of a clock that was far ahead', '2027-01-02'],
    ['of a clock that was a day ahead', '2026-11-24'],
    ['that is none', 'unknown'],
    ['that no calendar has', '9999-99-99'],
  ])('L12: is begun anew over a day %s', async (_, day) => {
    const said = { day, bytesBilled: 5, statements: 1, by: 'somebody' };
    await changeRecord(await process(), DAY_RECORD, () => JSON.stringify(said));
    for (const runs of [1, 2, 3]) {
      const jobs = await process(3 * LEAST_BILLED_BYTES);
      await jobs.run(READ);
      await jobs.close();
      expect(await told()).toBe(runs * LEAST_BILLED_BYTES);
    }
    const last = await process(3 * LEAST_BILLED_BYTES);
    await expect(last.run(READ)).rejects.toMatchObject({ code: 'TARGET_BUDGET' });
  });

  it('is left alone by a clock that is a little behind, which goes on counting by itself', async () => {
    const said = { day: '2026-11-24', bytesBilled: 5, statements: 1, by: 'somebody' };
    await changeRecord(await process(), DAY_RECORD, () => JSON.stringify(said));
    await clock.sleep(12 * 3_600_000 - 60_000);
    const one = await process();
    await one.run(READ);
    await clock.sleep(A_WHILE_MS);
    await one.run(READ);
    expect(await told()).toBe(5);
    expect(one.spending.unsaved()).toMatchObject({
      day: '2026-11-23',
      bytesBilled: 2 * LEAST_BILLED_BYTES,
    });
  });

  it('keeps nothing where no limit is set, and no process from work where it can not be kept', async () => {
    const free = await standInJobs(standIn.url, dataset, clock, 5);
    await free.run(READ);
    await free.close();
    expect(await told()).toBeNull();
    standIn.faults.add({
      method: /^tables\./,
      status: 403,
      body: '{"error":{"code":403}}',
      times: 100,
    });
    const bound = await process();
    await bound.run(READ);
    await bound.close();
    standIn.faults.clear();
    expect(await told()).toBeNull();
  });

  it('L17: counts a script that failed half-way by what BigQuery billed of it', async () => {
    const script = `${READ}; ${READ}; ASSERT FALSE AS 'half-way'; ${READ};`;
    const one = await process();
    const billed: number[] = [];
    const onBilled = ({ bytesBilled }: { bytesBilled: number }): number => billed.push(bytesBilled);
    for (let n = 0; n < 2; n++) {
      await expect(one.run(script, {}, { mutates: ['numbers'], onBilled })).rejects.toThrow(
        /refused/,
      );
    }
    expect(billed).toEqual([2 * LEAST_BILLED_BYTES, 2 * LEAST_BILLED_BYTES]);
    expect(one.spending.today.bytesBilled).toBe(standIn.statements.totals().bytesBilled);
    // Of a single statement that fails nothing is billed.
    await expect(one.run('SELECT nobody FROM numbers')).rejects.toThrow(/refused/);
    expect(one.spending.today.bytesBilled).toBe(4 * LEAST_BILLED_BYTES);
  });

  it('L17: counts the least of all its statements where nobody may list jobs, and each try of one that was overtaken', async () => {
    standIn.faults.add({ method: 'jobs.list', status: 403, body: '{"error":{"code":403}}' });
    const one = await process();
    const script = `${READ}; ASSERT FALSE AS 'half-way'; ${READ};`;
    await expect(one.run(script, {}, { mutates: ['numbers'] })).rejects.toThrow(/refused/);
    expect(one.spending.total).toEqual({ bytesBilled: 3 * LEAST_BILLED_BYTES, statements: 3 });
    standIn.faults.clear();
    const change = `BEGIN TRANSACTION; ${READ}; UPDATE numbers SET n = 1 WHERE TRUE; COMMIT TRANSACTION;`;
    standIn.jobs.conflictOn('numbers', 1);
    standIn.statements.clear();
    await one.run(change, {}, { mutates: ['numbers'] });
    const { bytesBilled } = standIn.statements.totals();
    expect(bytesBilled).toBe(3 * LEAST_BILLED_BYTES);
    expect(one.spending.total.bytesBilled).toBe(bytesBilled + 3 * LEAST_BILLED_BYTES);
  });

  it('L17: counts what a job was billed that was waited for and then failed', async () => {
    standIn.jobs.runLong(2, 1);
    const one = await process();
    const script = `${READ}; ASSERT FALSE AS 'half-way';`;
    await expect(one.run(script, {}, { mutates: ['numbers'] })).rejects.toThrow(/refused/);
    expect(one.spending.total.bytesBilled).toBe(LEAST_BILLED_BYTES);
    standIn.jobs.clear();
  });
});
