import { describe, expect, it } from 'vitest';
import { BatchedReads } from '../../../src/targets/sql/bigquery/batched-reads.ts';

const NEVER = (): Promise<Map<string, never>> => Promise.reject(new Error('nobody asked for all'));

describe('reads that are billed by the statement', () => {
  it('are made as one when they are asked for together', async () => {
    const asked: (readonly string[])[] = [];
    const reads = new BatchedReads({
      some: async (keys) => {
        asked.push(keys);
        return new Map(keys.filter((key) => key !== 'gone').map((key) => [key, key.toUpperCase()]));
      },
      all: NEVER,
    });
    const all = await Promise.all(['a', 'b', 'a', 'gone'].map((key) => reads.get(key)));
    expect(all).toEqual(['A', 'B', 'A', undefined]);
    expect(asked).toEqual([['a', 'b', 'gone']]);
  });

  it('are made as one with a reading of all, which answers both', async () => {
    let readings = 0;
    const reads = new BatchedReads({
      some: NEVER,
      all: async () => {
        readings++;
        return new Map([
          ['a', 1],
          ['b', 2],
        ]);
      },
    });
    const [a, all, none] = await Promise.all([reads.get('a'), reads.all(), reads.get('gone')]);
    expect([a, [...all.keys()], none, readings]).toEqual([1, ['a', 'b'], undefined, 1]);
  });

  it('show nobody what was true before they asked', async () => {
    let value = 1;
    const gates: PromiseWithResolvers<void>[] = [];
    const reads = new BatchedReads({
      some: async (keys) => {
        const seen = value;
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await gate.promise;
        return new Map(keys.map((key) => [key, seen]));
      },
      all: NEVER,
    });
    const before = reads.get('a');
    await expect.poll(() => gates.length).toBe(1);
    value = 2;
    const after = reads.get('a');
    await expect.poll(() => gates.length).toBe(2);
    for (const gate of gates) gate.resolve();
    expect([await before, await after]).toEqual([1, 2]);
  });

  it('fail together, and are tried again by who asks next', async () => {
    let tries = 0;
    const reads = new BatchedReads({
      some: async (keys) => {
        if (++tries === 1) throw new Error('down');
        return new Map(keys.map((key) => [key, key]));
      },
      all: NEVER,
    });
    const failed = await Promise.allSettled([reads.get('a'), reads.get('b')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await reads.get('a')).toBe('a');
  });
});
