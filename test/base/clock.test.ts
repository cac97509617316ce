import { describe, expect, it } from 'vitest';
import { systemClock, throwIfAborted, withinTime } from '../../src/base/clock.ts';
import { MirrorError } from '../../src/base/errors.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const never = new Promise<never>(() => {});

describe('a deadline', () => {
  it('returns a value that comes in time, and leaves no timer behind', async () => {
    const clock = new VirtualClock();
    expect(await withinTime(Promise.resolve(1), 1_000, clock)).toBe(1);
    expect(clock.sleepers).toBe(0);
  });

  it('uses the clock that it was given', async () => {
    const clock = new VirtualClock();
    const waiting = withinTime(never, 1_000, clock);
    await clock.advance(999);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);
    expect(await waiting).toBeUndefined();
  });

  it('ignores a failure that comes late', async () => {
    const work = Promise.withResolvers<void>();
    expect(await withinTime(work.promise, 1, systemClock)).toBeUndefined();
    // An unhandled rejection would fail this file.
    work.reject(new Error('late'));
  });
});

it('L17: gives the reason why the work stopped if it has one, and otherwise says that a stop was requested', async () => {
  const lost = new MirrorError('CANCELLED', 'Another worker has it.');
  const stopped = AbortSignal.any([AbortSignal.abort(lost)]);
  expect(() => throwIfAborted(stopped)).toThrow(lost);
  await expect(systemClock.sleep(1, stopped)).rejects.toBe(lost);
  const asked = { code: 'CANCELLED', message: 'Stopped on request.' };
  await expect(systemClock.sleep(1, AbortSignal.abort())).rejects.toMatchObject(asked);
  // A refused key also stops calls, but does not count as a stop.
  const refused = AbortSignal.abort(new MirrorError('FORMS_UNAUTHORIZED', 'The key is refused.'));
  expect(() => throwIfAborted(refused)).toThrow(expect.objectContaining(asked));
});
