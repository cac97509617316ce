import { afterAll, describe, expect, it } from 'vitest';
import { drawPlan } from './plan.ts';
import { runHistory } from './run-history.ts';
import { stopServers } from './stores.ts';
import { tell } from './story.ts';

/** `npm run simulate` draws others. */
const SEEDS = Array.from({ length: 24 }, (_, index) => index + 1);

afterAll(stopServers);

describe.each(['sqlite', 'sheets', 'memory', 'new-sqlite'] as const)('over %s', (store) => {
  it.each(SEEDS)('every law is kept in the history of seed %i', async (seed) => {
    const plan = { ...drawPlan(seed), store };
    const verdict = await runHistory(plan);
    if (verdict.breaches.length === 0) return;
    const told = await runHistory(plan, { story: true });
    expect.fail(`npm run simulate -- --seed ${seed} --store ${store}\n${tell(plan, told)}`);
  });
});
