import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccount } from '../../src/targets/google/credentials.ts';
import { type BigQueryJobs, openJobs } from '../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { DaySpending } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import { openDataset } from '../../scripts/try/bigquery-dataset.ts';
import { bigQueryPoints, type TriedDataset } from '../../scripts/try/bigquery-points.ts';
import { type Finding, lookAt, summary } from '../../scripts/try/points.ts';
import { type FaultyBigQuery, startFaultyBigQuery } from '../support/bigquery-faults.ts';
import { TestClock } from '../support/test-clock.ts';

describe('try:bigquery', () => {
  let standIn: FaultyBigQuery;
  beforeAll(async () => {
    standIn = await startFaultyBigQuery();
  });
  afterAll(() => standIn.close());

  const jobsIn = async (dataset: string): Promise<BigQueryJobs> => {
    const clock = new TestClock();
    return openJobs({
      project: 'test-project',
      dataset,
      location: 'EU',
      account: await openAccount({ emulatorUrl: standIn.url }, 'scope'),
      clock,
      rootUrl: standIn.url,
      spending: new DaySpending(clock),
    });
  };

  /** Tries all points in a dataset, by calls that `distort` changes, and cleans up. */
  async function tried(
    nonce: string,
    dataset?: string,
    distort: (tried: TriedDataset) => TriedDataset = (same) => same,
  ): Promise<Finding[]> {
    const open = await openDataset({
      project: 'test-project',
      dataset,
      location: 'EU',
      account: await openAccount({ emulatorUrl: standIn.url }, 'scope'),
      clock: new TestClock(),
      rootUrl: standIn.url,
      nonce,
    });
    const findings = await lookAt(bigQueryPoints(distort(open.tried)), () => {});
    await open.remove();
    return findings;
  }

  it('sees each point hold against the stand-in, and removes its dataset', async () => {
    const findings = await tried('one');
    expect(findings.filter(({ result }) => result !== 'holds')).toEqual([]);
    expect(summary(findings).code).toBe(0);
    const jobs = await jobsIn('forms_mirror_try_one');
    expect(await jobs.heldDataset()).toBeUndefined();
  });

  it('leaves a dataset that is named, and all in it that is not its own', async () => {
    const jobs = await jobsIn('theirs');
    await jobs.ensureDataset();
    await jobs.createTable({
      name: 'people',
      kind: 'table',
      description: '',
      columns: [{ name: 'id', type: 'STRING' }],
    });
    const findings = await tried('two', 'theirs');
    expect(summary(findings).code).toBe(0);
    expect(await jobs.tables()).toEqual(['people']);
  });

  it('reports what does not hold, and goes on', async () => {
    // A service that forgets request IDs, and bills nothing.
    const findings = await tried('three', undefined, (same) => ({
      ...same,
      withId: () => same.jobs,
      jobs: new Proxy(same.jobs, {
        get(jobs, name) {
          const run: BigQueryJobs['run'] = async (...call) =>
            Object.assign(await jobs.run(...call), { bytesBilled: 0 });
          if (name === 'run') return run;
          const value: unknown = Reflect.get(jobs, name);
          return typeof value === 'function' ? value.bind(jobs) : value;
        },
      }),
    }));
    const refuted = findings.filter(({ result }) => result === 'refuted');
    expect(refuted.map(({ note }) => note)).toEqual([
      'It took effect 2 times.',
      'It took effect 2 times.',
      'It is billed 0 bytes.',
    ]);
    expect(summary(findings).code).toBe(1);
    expect(findings.at(-1)?.result).toBe('holds');
  });
});
