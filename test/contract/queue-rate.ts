import { expect } from 'vitest';
import { parseQueueUrl } from '../../src/queue/backends.ts';
import { joinRate, SharedRate } from '../../src/queue/shared-rate.ts';
import type { RateStore } from '../../src/forms/request-rate.ts';
import type { RateShare } from '../../src/forms/rate-share.ts';
import { NEVER, produceAt } from '../queue/harness.ts';
import type { QueueIt } from './queue.ts';

/** Far enough from each other that a busy machine is never late by half as much. */
const ONE_A_MINUTE = { perMinute: 1, slots: 1, sent: 1, refusedForMs: null };

/** Which slot of the row each share is, by when it begins. */
const placesOf = (shares: readonly RateShare[]): number[] =>
  shares.map(({ firstInMs, everyMs }) => Math.round(firstInMs / everyMs)).sort((a, b) => a - b);

/** The rate of requests, kept together. */
export function describeRate(it: QueueIt): void {
  it('processes that ask at the same moment never get the same slot', async ({ place, server }) => {
    await using first = await produceAt(place, NEVER);
    const stores = [new SharedRate(first.backend.rate)];
    await using second = server.shared ? await produceAt(place, NEVER) : undefined;
    if (second !== undefined) stores.push(new SharedRate(second.backend.rate));
    const ask = async (index: number): Promise<RateShare> => {
      const process = `p${index % stores.length}`;
      return stores[index % stores.length]!.share({ ...ONE_A_MINUTE, process });
    };
    const shares = await Promise.all([0, 1, 2, 3, 4, 5].map(ask));
    expect(placesOf(shares)).toEqual([0, 1, 2, 3, 4, 5]);
    const last = await ask(0);
    expect(placesOf([last])).toEqual([6]);
    expect(last.processes).toBe(stores.length);
  });

  it('a command beside the workers takes its slots from the same row', async ({ place, skip }) => {
    if (place.queueUrl === undefined) return skip('one process holds this store');
    await using producer = await produceAt(place, NEVER);
    const workers = new SharedRate(producer.backend.rate);
    await using command = await joinRate(parseQueueUrl(place.queueUrl));
    const ask = (store: RateStore | undefined, process: string) =>
      store?.share({ ...ONE_A_MINUTE, process });
    const shares = [
      await ask(workers, 'worker'),
      await ask(command?.store, 'command'),
      await ask(workers, 'worker'),
    ];
    expect(placesOf(shares.filter((share) => share !== undefined))).toEqual([0, 1, 2]);
    expect(shares.at(-1)?.processes).toBe(2);
  });

  it('what the source refused one process holds for all, and over a restart', async ({ place }) => {
    const ask = { ...ONE_A_MINUTE, perMinute: null };
    {
      await using producer = await produceAt(place, NEVER);
      const rate = new SharedRate(producer.backend.rate);
      expect(await rate.share({ ...ask, process: 'a' })).toMatchObject({ perMinute: null });
      const refused = { ...ask, process: 'a', sent: 500, refusedForMs: 200_000 };
      expect((await rate.share(refused)).perMinute).toBeGreaterThan(0);
    }
    await using producer = await produceAt(place, NEVER);
    const share = await new SharedRate(producer.backend.rate).share({ ...ask, process: 'b' });
    expect(share.perMinute).toBeGreaterThan(0);
    expect(share.firstInMs).toBeGreaterThan(50_000);
  });

  it('a text that is none of ours is written over', async ({ place }) => {
    await using producer = await produceAt(place, NEVER);
    const { rate } = producer.backend;
    expect(await rate.replace(null, 'not ours')).toBe(true);
    expect(await rate.replace(null, 'too late')).toBe(false);
    expect(await rate.replace('something else', 'too late')).toBe(false);
    expect((await rate.read()).text).toBe('not ours');
    const share = await new SharedRate(rate).share({ ...ONE_A_MINUTE, process: 'a' });
    expect(share).toMatchObject({ perMinute: 1, slots: 1, firstInMs: 0 });
  });
}
