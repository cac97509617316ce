import { describe, expect, it } from 'vitest';
import { TablePacing } from '../../../src/targets/sql/bigquery/bigquery-pacing.ts';
import { TestClock } from '../../support/test-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

/** Begins a job at these tables; what has begun so far is in `begun`. */
function queue(pacing: TablePacing) {
  const begun: string[] = [];
  const release = new Map<string, () => void>();
  return {
    begun,
    release,
    async add(name: string, tables: readonly string[], signal?: AbortSignal): Promise<void> {
      const done = await pacing.take(tables, signal);
      begun.push(name);
      release.set(name, done);
    },
  };
}

const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('the pace of mutating jobs', () => {
  it('is two at once for each table, in their order', async () => {
    const jobs = queue(new TablePacing(new TestClock()));
    const all = ['a', 'b', 'c', 'd'].map((name) => jobs.add(name, ['t']));
    all.push(jobs.add('other', ['u']));
    await settled();
    expect(jobs.begun).toEqual(['a', 'b', 'other']);
    jobs.release.get('b')?.();
    // What is released twice frees one place.
    jobs.release.get('b')?.();
    await settled();
    expect(jobs.begun).toEqual(['a', 'b', 'other', 'c']);
    jobs.release.get('a')?.();
    await Promise.all(all);
    expect(jobs.begun.at(-1)).toBe('d');
  });

  it('lets nobody overtake at a table that somebody before waits for', async () => {
    const jobs = queue(new TablePacing(new TestClock(), { atOnce: 1, perWindow: 25 }));
    const first = jobs.add('first', ['t']);
    await first;
    const both = jobs.add('both', ['t', 'u']);
    const late = jobs.add('late', ['u']);
    await settled();
    expect(jobs.begun).toEqual(['first']);
    jobs.release.get('first')?.();
    await both;
    jobs.release.get('both')?.();
    await late;
    expect(jobs.begun).toEqual(['first', 'both', 'late']);
  });

  it('is 25 in any ten seconds', async () => {
    const clock = new VirtualClock();
    const pacing = new TablePacing(clock);
    const startMs = clock.now();
    const startsMs: number[] = [];
    const all = Array.from({ length: 60 }, async () => {
      const release = await pacing.take(['t']);
      startsMs.push(clock.now() - startMs);
      release();
    });
    await clock.run(30_000);
    await Promise.all(all);
    expect(startsMs.filter((ms) => ms < 10_000)).toHaveLength(25);
    expect(startsMs.filter((ms) => ms < 20_000)).toHaveLength(50);
  });

  it('leaves the place of one that is stopped to the next', async () => {
    const jobs = queue(new TablePacing(new TestClock(), { atOnce: 1, perWindow: 25 }));
    await jobs.add('first', ['t']);
    const stop = new AbortController();
    const stopped = jobs.add('stopped', ['t'], stop.signal);
    const next = jobs.add('next', ['t']);
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'CANCELLED' });
    jobs.release.get('first')?.();
    await next;
    expect(jobs.begun).toEqual(['first', 'next']);
  });
});
