import { rmSync } from 'node:fs';
import { scratchFolder } from '../support/scratch.ts';
import type { Breach } from './breach.ts';
import { Broken, History } from './history.ts';
import type { Tally } from './judge.ts';
import { drawPlan, type Plan, type Step } from './plan.ts';
import { newPlace, type Place, type StoreKind } from './stores.ts';

/** How a history ended. */
export interface Verdict {
  readonly breaches: readonly Breach[];
  readonly tally: Tally;
  readonly requests: number;
  readonly lines: readonly string[];
}

export interface HistoryOptions {
  /** Record the events, one line each. */
  readonly story?: boolean;
}

const warm = new Set<StoreKind>();

/**
 * Modules that the program loads on first use are loaded at different times, so a history whose result does not count loads
 * them all first.
 */
async function warmUp(store: StoreKind): Promise<void> {
  warm.add(store);
  const step = { seed: 1, crashAt: 0 } as const;
  const steps: Step[] = [
    { ...step, what: 'sync', full: true },
    { ...step, what: 'tick' },
    { ...step, what: 'deed', deed: 'forget' },
    { ...step, what: 'deed', deed: 'pause' },
    { ...step, what: 'verify' },
  ];
  await runHistory({ ...drawPlan(3, ['quiet']), store, writeBack: true, initial: [3], steps });
}

/** Runs a history, and judges every claim when it is made. Ends at the first breach. */
export async function runHistory(plan: Plan, options: HistoryOptions = {}): Promise<Verdict> {
  if (!warm.has(plan.store)) await warmUp(plan.store);
  const dir = scratchFolder('simulation');
  const places = new Map<string, Place>();
  for (const target of targetsOf(plan)) places.set(target, await newPlace(plan.store, dir, target));
  const history = new History(plan, dir, places, options.story === true ? [] : null);
  try {
    await history.live();
  } catch (error) {
    if (!(error instanceof Broken)) history.breaches.push(`L3: ${(error as Error).message}`);
  } finally {
    history.end();
    for (const place of places.values()) await place.dispose();
    rmSync(dir, { recursive: true, force: true });
  }
  return {
    breaches: history.breaches,
    tally: history.tally,
    requests: history.world.sent.length,
    lines: history.world.lines ?? [],
  };
}

const targetsOf = (plan: Plan): string[] => (plan.targets === 2 ? ['one', 'two'] : ['default']);
