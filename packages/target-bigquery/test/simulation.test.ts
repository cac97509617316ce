import { afterAll, expect, it } from 'vitest';
import { drawPlan, type Plan, type Step } from '../../../test/simulation/plan.ts';
import { runHistory } from '../../../test/simulation/run-history.ts';
import { stopServers } from '../../../test/simulation/stores.ts';
import { broken, tell } from '../../../test/simulation/story.ts';

/** Short histories; a process is killed in the first. `npm run simulate -- --store bigquery` draws others. */
const SEEDS = [2, 104];

afterAll(stopServers);

it.each(SEEDS)('every law is kept in the history of seed %i', async (seed) => {
  expect(await broken('bigquery', seed)).toBe('');
});

/** The events, and how often each happens at least. */
const COVERED: readonly (readonly [what: string, least: number, line: RegExp])[] = [
  ['statuses change', 3, /\] status /],
  ['answers change', 3, /\] edit /],
  ['submissions are deleted', 3, /\] delete /],
  ['submissions are restored', 2, /\] restore /],
  ['killed between staging and MERGE', 1, /is killed when POST .* SELECT s\.status/],
  ['killed when a commit is answered', 1, /is killed when POST .* BEGIN TRANSACTION/],
];

it('every law is kept if stored submissions change, go and come back, and commits are interrupted', async () => {
  const step = (more: Partial<Step>, at: number): Step => ({ what: 'sync', seed: at + 1, ...more });
  const plan: Plan = {
    ...drawPlan(3, ['quiet']),
    store: 'bigquery',
    initial: [9],
    history: true,
    maxDeleteFraction: 1,
    changes: ['status', 'edit', 'delete', 'restore'],
    steps: [
      {},
      { what: 'changes', changes: 8 } as const,
      { full: true, crashOn: 'when POST .* SELECT s\\.status' },
      { full: true },
      { what: 'changes', changes: 8 } as const,
      { full: true, crashOn: 'when POST .* BEGIN TRANSACTION;\\nINSERT INTO _mirror_v' },
      { what: 'changes', changes: 4 } as const,
    ].map(step),
  };
  const verdict = await runHistory(plan, { story: true });
  expect(verdict.breaches.length === 0 ? '' : tell(plan, verdict)).toBe('');
  const counts = COVERED.map(([what, least, line]) => {
    const many = verdict.lines.filter((each) => line.test(each)).length;
    return `${what}: ${many >= least ? `at least ${least}` : many}`;
  });
  expect(counts).toEqual(COVERED.map(([what, least]) => `${what}: at least ${least}`));
});
