import { describe, expect, it } from 'vitest';
import { RequestGate } from '../../src/forms/request-gate.ts';
import { TestClock } from '../support/test-clock.ts';

const never = new AbortController().signal;

/** Lets every promise that can go on do so. */
const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('RequestGate', () => {
  it('lets so many through at a time, first come first served', async () => {
    const gate = new RequestGate(2, new TestClock());
    const running: string[] = [];
    const ends = new Map<string, () => void>();
    const enter = (name: string): Promise<string> =>
      gate.pass(never, async () => {
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

  it('gives a place back after an error', async () => {
    const gate = new RequestGate(1, new TestClock());
    const broken = gate.pass(never, () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    expect(await gate.pass(never, () => Promise.resolve(1))).toBe(1);
  });

  it('lets an aborted one out of the line, and loses no place by it', async () => {
    const gate = new RequestGate(1, new TestClock());
    const abort = new AbortController();
    let end = (): void => {};
    const first = gate.pass(never, () => new Promise<void>((done) => void (end = done)));
    const second = gate.pass(abort.signal, () => Promise.resolve('second'));
    const third = gate.pass(never, () => Promise.resolve('third'));
    abort.abort();
    await expect(second).rejects.toMatchObject({ code: 'CANCELLED' });
    end();
    await first;
    expect(await third).toBe('third');
    expect(await gate.pass(never, () => Promise.resolve('fourth'))).toBe('fourth');
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'passes a place on that comes at the moment of the abort (%i ticks before)',
    async (ticks) => {
      const gate = new RequestGate(1, new TestClock());
      const abort = new AbortController();
      let end = (): void => {};
      const first = gate.pass(never, () => new Promise<void>((done) => void (end = done)));
      const second = gate.pass(abort.signal, () => Promise.resolve('second'));
      const third = gate.pass(never, () => Promise.resolve('third'));
      await settle();
      end();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      abort.abort();
      await Promise.allSettled([first, second]);
      expect(await third).toBe('third');
      expect(await gate.pass(never, () => Promise.resolve('fourth'))).toBe('fourth');
    },
  );

  it('waits out the time that the server named, and no longer', async () => {
    const clock = new TestClock();
    const gate = new RequestGate(1, clock);
    gate.closeFor(5_000);
    gate.closeFor(2_000);
    await gate.pass(never, () => Promise.resolve());
    await gate.pass(never, () => Promise.resolve());
    expect(clock.sleeps).toEqual([5_000]);
  });
});
