import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import type { Copy } from '../../src/mirror/target.ts';
import type { PassOutcome } from '../../src/mirror/types.ts';
import { upkeep } from '../../src/sync/upkeep.ts';

const DAY_MS = 86_400_000;
const FORM = { id: 'form-0', slug: 'form', name: 'Form' };

/** What the upkeep after a pass asked of the target. */
async function keptUp(outcome: PassOutcome): Promise<string[]> {
  const asked: string[] = [];
  const target = {
    pruneHistory: async (_form: unknown, before: string) => {
      asked.push(`prune ${before}`);
      return 1;
    },
    overview: async () => {
      asked.push('purge');
      return [];
    },
  } as unknown as Copy;
  await upkeep(
    {
      logger: silentLogger,
      ages: { purgeDeletedAfterMs: DAY_MS, purgeHistoryAfterMs: 2 * DAY_MS },
      nowMs: Date.UTC(2026, 2, 5),
      signal: new AbortController().signal,
    },
    { form: FORM, target: 'default', outcome, open: async () => target },
  );
  return asked;
}

describe('the upkeep after a comparison', () => {
  const prune = 'prune 2026-03-03T00:00:00.000Z';
  it.each([
    ['ok', ['purge', prune]],
    // No proof for weeks, perhaps: what histories tell of before goes all the same.
    ['withheld', [prune]],
    ['incomplete', [prune]],
    ['gone', [prune]],
    ['failed', []],
    ['busy', []],
    ['cancelled', []],
  ] as const)('of a form whose pass ended %s', async (outcome, asked) => {
    expect(await keptUp(outcome)).toEqual(asked);
  });
});
