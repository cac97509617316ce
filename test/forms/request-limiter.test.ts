import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { RequestLimiter } from '../../src/forms/request-limiter.ts';
import { TestClock } from '../support/test-clock.ts';

const never = new AbortController().signal;

/** Lets every promise that can go on do so. */
const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('RequestLimiter', () => {
  it('lets so many through at a time, first come first served', async () => {
    const limiter = new RequestLimiter(2, new TestClock());
    const running: string[] = [];
    const ends = new Map<string, () => void>();
    const enter = (name: string): Promise<string> =>
      limiter.run(never, async () => {
        running.push(name);
        await new Promise<void>((done) => ends.set(name, done));
        return name;
      });
    const all = ['a', 'b', 'c', 'd'].map(enter);
    await settle();
    expect(running).toEqual(['a', 'b']);
    ends.get('b')?.();
    await settle();
    expect(running).toEqual(['a', 'b', 'c']);
    ends.get('a')?.();
    await settle();
    ends.get('c')?.();
    ends.get('d')?.();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('leaves nothing on a signal that outlives the requests', async () => {
    const { signal } = new AbortController();
    const limiter = new RequestLimiter(1, new TestClock());
    await Promise.all(Array.from({ length: 20 }, () => limiter.run(signal, settle)));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('gives a place back after an error', async () => {
    const limiter = new RequestLimiter(1, new TestClock());
    const broken = limiter.run(never, () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    expect(await limiter.run(never, () => Promise.resolve(1))).toBe(1);
  });

  it('lets an aborted one out of the line, and loses no place by it', async () => {
    const limiter = new RequestLimiter(1, new TestClock());
    const abort = new AbortController();
    let end = (): void => {};
    const first = limiter.run(never, () => new Promise<void>((done) => void (end = done)));
    const second = limiter.run(abort.signal, () => Promise.resolve('second'));
    const third = limiter.run(never, () => Promise.resolve('third'));
    abort.abort();
    await expect(second).rejects.toMatchObject({ code: 'CANCELLED' });
    end();
    await first;
    expect(await third).toBe('third');
    expect(await limiter.run(never, () => Promise.resolve('fourth'))).toBe('fourth');
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'passes a place on that comes at the moment of the abort (%i ticks before)',
    async (ticks) => {
      const limiter = new RequestLimiter(1, new TestClock());
      const abort = new AbortController();
      let end = (): void => {};
      const first = limiter.run(never, () => new Promise<void>((done) => void (end = done)));
      const second = limiter.run(abort.signal, () => Promise.resolve('second'));
      const third = limiter.run(never, () => Promise.resolve('third'));
      await settle();
      end();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      abort.abort();
      await Promise.allSettled([first, second]);
      expect(await third).toBe('third');
      expect(await limiter.run(never, () => Promise.resolve('fourth'))).toBe('fourth');
    },
  );

  it('waits out the time that the server named, and no longer', async () => {
    const clock = new TestClock();
    const limiter = new RequestLimiter(1, clock);
    limiter.pauseFor(5_000);
    limiter.pauseFor(2_000);
    await limiter.run(never, () => Promise.resolve());
    await limiter.run(never, () => Promise.resolve());
    expect(clock.sleeps).toEqual([5_000]);
  });
});
