import { expect, it } from 'vitest';
import { requestTurns } from '../../../../src/targets/google-sheets/api/sheets-api.ts';
import { TestClock } from '../../../support/test-clock.ts';

it('Google’s request quota: one request a second keeps within 60 a minute', async () => {
  const clock = new TestClock();
  const take = requestTurns(clock);
  const starts: number[] = [];
  for (const pauseMs of [0, 0, 300, 2_500, 0, 999, 0, 4_000, 0]) {
    await clock.sleep(pauseMs);
    await take();
    starts.push(clock.now());
  }
  const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
  expect(gaps.filter((gap) => gap < 1_000)).toEqual([]);
});
