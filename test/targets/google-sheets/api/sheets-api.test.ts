import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestQuota } from '../../../../src/targets/google-sheets/api/sheets-api.ts';
import { propertyRuns } from '../../../support/property.ts';
import { TestClock } from '../../../support/test-clock.ts';

describe('Google’s request quota', () => {
  it('is one request a second, and 60 reads and 60 writes a minute', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            kind: fc.constantFrom('read' as const, 'write' as const),
            pauseMs: fc.oneof(fc.constant(0), fc.nat(4_000)),
          }),
          { minLength: 80, maxLength: 250, size: 'max' },
        ),
        async (calls) => {
          const clock = new TestClock();
          const quota = new RequestQuota(clock);
          const starts: { kind: string; at: number }[] = [];
          for (const { kind, pauseMs } of calls) {
            await clock.sleep(pauseMs);
            await quota.take();
            starts.push({ kind, at: clock.now() });
          }
          const gaps = starts.slice(1).map(({ at }, index) => at - (starts[index]?.at ?? 0));
          expect(gaps.filter((gap) => gap < 1_000)).toEqual([]);
          for (const kind of ['read', 'write']) {
            const times = starts.filter((one) => one.kind === kind).map((one) => one.at);
            for (let index = 60; index < times.length; index++) {
              expect((times[index] ?? 0) - (times[index - 60] ?? 0)).toBeGreaterThanOrEqual(60_000);
            }
          }
        },
      ),
      propertyRuns(25),
    );
  });
});
