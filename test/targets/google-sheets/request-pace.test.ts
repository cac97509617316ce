import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestPace } from '../../../src/targets/google-sheets/request-pace.ts';
import { propertyRuns } from '../../support/property.ts';
import { SleepersClock } from './sheets-place.ts';

describe('Google’s pace', () => {
  it('is one request a second to a spreadsheet, and 60 reads and 60 writes a minute for an account', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            kind: fc.constantFrom('read' as const, 'write' as const),
            book: fc.constantFrom('a', 'b', 'c'),
            pauseMs: fc.oneof(fc.constant(0), fc.nat(4_000)),
          }),
          { minLength: 80, maxLength: 250, size: 'max' },
        ),
        async (calls) => {
          const clock = new SleepersClock();
          const pace = new RequestPace(clock);
          const starts: { kind: string; book: string; at: number }[] = [];
          for (const { kind, book, pauseMs } of calls) {
            clock.advance(pauseMs);
            await pace.take(kind, book);
            starts.push({ kind, book, at: clock.now() });
          }
          for (const book of ['a', 'b', 'c']) {
            const times = starts.filter((one) => one.book === book).map((one) => one.at);
            const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
            expect(gaps.filter((gap) => gap < 1_000)).toEqual([]);
          }
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

  it('lets a wait be stopped', async () => {
    const pace = new RequestPace(new SleepersClock());
    await pace.take('read', 'a');
    const abort = new AbortController();
    abort.abort();
    await expect(pace.take('read', 'a', abort.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});
