import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import type { OutcomeName } from '../../src/mirror/form-state.ts';
import type { Erasure, OpenForm } from '../../src/mirror/port.ts';
import { upkeep } from '../../src/sync/purge.ts';
import { blankRun } from '../../src/sync/run-form.ts';
import type { Target } from '../../src/sync/target.ts';
import { TestClock } from '../support/test-clock.ts';

const DAY_MS = 86_400_000;
const FORM = { id: 'form-0', slug: 'form', name: 'Form' };

/** What the upkeep after a run removes from a target. */
async function removed(
  outcome: OutcomeName,
  { fails = false, deletedAt = '2026-01-01T00:00:00.000Z' } = {},
): Promise<string[]> {
  const asked: string[] = [];
  const date = (ms: number | null): string => (ms === null ? '-' : new Date(ms).toISOString());
  const open = {
    async *rows() {
      yield [{ deletedAt }];
    },
    async erase(what: Erasure) {
      if (fails) throw new Error('broken');
      if (what.kind === 'purge')
        asked.push(`${date(what.deletedBeforeMs)} ${date(what.versionsBeforeMs)}`);
      return 1;
    },
    finish: async () => [],
    [Symbol.asyncDispose]: async () => {},
  } as unknown as OpenForm;
  const store = { open: async () => open, read: async () => open };
  const clock = new TestClock(Date.UTC(2026, 2, 5));
  const target = { name: 'db', store, clock, logger: silentLogger } as unknown as Target;
  await upkeep(
    target,
    { ...blankRun(FORM, 'db', null, 0, 0), outcome },
    { purgeDeletedAfterMs: DAY_MS, purgeHistoryAfterMs: 2 * DAY_MS },
    new AbortController().signal,
  );
  return asked;
}

const both = '2026-03-04T00:00:00.000Z 2026-03-03T00:00:00.000Z';
const prune = '- 2026-03-03T00:00:00.000Z';
it.each<[OutcomeName, string[]]>([
  ['ok', [both]],
  // There may be no proof for weeks: the history before it is still removed.
  ['held', [prune]],
  ['incomplete', [prune]],
  // A form that is gone is no longer opened for writing.
  ['gone', []],
  ['failed', []],
  ['busy', []],
  ['stopped', []],
  ['paused', []],
])('the upkeep after a run that ended %s', async (outcome, asked) => {
  expect(await removed(outcome)).toEqual(asked);
});

it('removes no rows if none was marked deleted long ago', async () => {
  expect(await removed('ok', { deletedAt: '2026-03-04T12:00:00.000Z' })).toEqual([prune]);
});

it('L12: an upkeep that fails causes no other failure', async () => {
  expect(await removed('ok', { fails: true })).toEqual([]);
});
