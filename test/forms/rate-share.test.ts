import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type RateState,
  SLOT_LASTS_MS,
  parseRate,
  rateText,
  shareRate,
} from '../../src/forms/rate-share.ts';
import { propertyRuns } from '../support/property.ts';

const MINUTE_MS = 60_000;

/** The most of `times` that one minute holds. */
function mostInAMinute(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let [most, first] = [0, 0];
  for (const [index, time] of sorted.entries()) {
    while (time - sorted[first]! >= MINUTE_MS) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** A process that asks after a rest, and uses its slots at once, at their time, or as late as it may. */
const question = fc.record({
  process: fc.constantFrom('a', 'b', 'c'),
  restMs: fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(40_000)),
  slots: fc.integer({ min: 0, max: 2_000 }),
  late: fc.double({ min: 0, max: 1, noNaN: true }),
  keptThrough: fc.boolean(),
});

describe('shares of a rate', () => {
  it('no minute holds more requests than it may, whoever asks for how much and whenever slots are used', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3_000 }),
        fc.array(question, { minLength: 1, maxLength: 120 }),
        (perMinute, questions) => {
          let state: RateState | null = null;
          let nowMs = Date.UTC(2026, 0, 1);
          const sent: number[] = [];
          for (const { process, restMs, slots, late, keptThrough } of questions) {
            nowMs += restMs;
            const known: RateState | null = keptThrough
              ? parseRate(state && rateText(state))
              : state;
            const next = shareRate(known, nowMs, {
              process,
              perMinute,
              slots,
              sent: 0,
              refusedForMs: null,
            });
            state = next.state;
            const { share } = next;
            expect(share.slots).toBeLessThanOrEqual(slots);
            for (let slot = 0; slot < share.slots; slot++) {
              const fromMs = nowMs + share.firstInMs + slot * share.everyMs;
              const untilMs = fromMs + SLOT_LASTS_MS;
              // A slot that began in the past is used from now on.
              sent.push(Math.max(fromMs, nowMs) + late * (untilMs - Math.max(fromMs, nowMs)));
            }
          }
          expect(mostInAMinute(sent)).toBeLessThanOrEqual(perMinute);
        },
      ),
      propertyRuns(300),
    );
  });

  it('after any refusals the rate rises to what is set, and without one to no limit', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 1, max: 100_000 })),
        fc.array(
          fc.record({ restMs: fc.nat(120_000), sent: fc.nat(5_000), forMs: fc.nat(120_000) }),
          {
            maxLength: 20,
          },
        ),
        (perMinute, refusals) => {
          let state: RateState | null = null;
          let nowMs = 0;
          const ask = { process: 'a', perMinute, slots: 1, sent: 0, refusedForMs: null };
          for (const { restMs, sent, forMs } of refusals) {
            nowMs += restMs;
            const next = shareRate(state, nowMs, { ...ask, sent, refusedForMs: forMs });
            state = next.state;
            expect(next.share.perMinute).not.toBeNull();
            expect(next.share.perMinute).toBeLessThanOrEqual(perMinute ?? Infinity);
            // Nobody sends before the time that the source named.
            expect(next.share.firstInMs).toBeGreaterThanOrEqual(forMs);
          }
          let last = 0;
          for (let step = 0; step < 120; step++) {
            nowMs += 30_000;
            const next = shareRate(state, nowMs, { ...ask, slots: 0 });
            state = next.state;
            const now = next.share.perMinute ?? Infinity;
            expect(now).toBeGreaterThanOrEqual(last);
            last = now;
          }
          expect(last).toBe(perMinute ?? Infinity);
        },
      ),
      propertyRuns(300),
    );
  });

  it.each([
    null,
    '',
    '{}',
    '[]',
    '{"nextMs":"soon"}',
    '{"nextMs":1e999,"lowered":null,"sent":{"fromMs":0,"now":0,"before":0},"processes":[]}',
  ])('a stored text that is none of ours (%s) is as none', (text) => {
    expect(parseRate(text)).toBeNull();
  });

  it('a stored time far ahead, from a wrong clock, holds nobody up for more than ten minutes', () => {
    const ask = { process: 'a', perMinute: 60, slots: 1, sent: 0, refusedForMs: null };
    const { state } = shareRate(null, 9e15, ask);
    expect(shareRate(state, 0, ask).share.firstInMs).toBeLessThanOrEqual(600_000);
  });
});
