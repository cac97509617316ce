import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GRAIN_MS, type MsSpan } from '../../src/mirror/cut-span.ts';
import { narrow, refute, type SeenBounds, unseenBounds } from '../../src/mirror/narrowing.ts';
import { propertyRuns } from '../support/property.ts';
import { seededRandom } from '../support/seeded-random.ts';
import {
  bucketsOf,
  CountedModel,
  type Dated,
  type ModelReading,
  OutOfBounds,
  PLAIN,
} from './counted-model.ts';

const STATUSES = ['NEW', 'DONE', 'PAID'] as const;
const START = Date.UTC(2025, 3, 1);

const readings = fc.record<ModelReading>({
  grain: fc.constantFrom('instant', 'day'),
  from: fc.constantFrom('inclusive', 'exclusive'),
  to: fc.constantFrom('inclusive', 'exclusive'),
  stamp: fc.constant('created'),
  filter: fc.constant('honoured'),
});

type Change = 'restatus' | 'delete' | 'import' | 'importMany' | 'arrive';
const change = fc.constantFrom<Change>('restatus', 'delete', 'import', 'importMany', 'arrive');

const world = fc.record({
  seed: fc.integer(),
  rows: fc.integer({ min: 0, max: 1_500 }),
  days: fc.constantFrom(1, 3, 40, 900),
  changes: fc.array(change, { minLength: 1, maxLength: 12 }),
});

interface World {
  readonly seed: number;
  readonly rows: number;
  readonly days: number;
  readonly changes: readonly Change[];
}

/** A copy of a source, and how to change the source. */
function modelOf({ seed, rows, days }: World, reading?: ModelReading) {
  const model = new CountedModel(reading);
  const random = seededRandom(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  const one = (createdMs: number): Dated => {
    const status = STATUSES[pick(3)] ?? 'NEW';
    return { id: model.source.size + model.copy.size * 7, status, createdMs, updatedMs: createdMs };
  };
  let ids = 0;
  const add = (createdMs: number): Dated => {
    const item = { ...one(createdMs), id: ids++ };
    model.source.set(item.id, item);
    return item;
  };
  for (let n = 0; n < rows; n++) {
    // Never on midnight itself.
    const item = add(START + 1 + pick(days * GRAIN_MS.day - 2));
    model.copy.set(item.id, item);
  }
  const nowMs = START + days * GRAIN_MS.day + 5;
  const some = (): Dated | undefined => [...model.source.values()][pick(model.source.size)];
  const apply = (kind: Change): void => {
    const item = some();
    switch (kind) {
      case 'restatus':
        if (item === undefined) return;
        model.source.set(item.id, {
          ...item,
          status: STATUSES[pick(3)] ?? 'NEW',
          updatedMs: nowMs + pick(1_000),
        });
        return;
      case 'delete':
        if (item !== undefined) model.source.delete(item.id);
        return;
      case 'import':
        add(START - pick(3_000) * GRAIN_MS.day + 1 + pick(1_000));
        return;
      case 'importMany': {
        const dayMs = START - pick(200) * GRAIN_MS.day + 1;
        for (let n = pick(400); n > 0; n--) add(dayMs + pick(GRAIN_MS.hour));
        return;
      }
      case 'arrive':
        add(nowMs + pick(1_000));
    }
  };
  return { model, apply };
}

async function narrowOnce(model: CountedModel, status: string, seen: SeenBounds): Promise<boolean> {
  try {
    return await model.narrow(status, seen);
  } catch (error) {
    if (!(error instanceof OutOfBounds)) throw error;
    return refute(seen);
  }
}

/** As a comparison does: statuses that gained first, and as often as counts differ. Null: bounds are of no use. */
async function settle(model: CountedModel): Promise<boolean | null> {
  const seen = unseenBounds();
  for (let round = 0; round < 12; round++) {
    const differing = [...model.differences()].toSorted(([, a], [, b]) => b - a);
    if (differing.length === 0) return true;
    for (const [status] of differing) {
      if (!model.differences().has(status)) continue;
      if (!(await narrowOnce(model, status, seen))) return null;
    }
  }
  return false;
}

describe('narrowing by counts', () => {
  it('L16: settles whatever moves a count, in any reading of the bounds', async () => {
    let narrowed = 0;
    const useless: { grain: string; isLong: boolean }[] = [];
    const run = fc.asyncProperty(world, readings, async (drawn, reading) => {
      const { model, apply } = modelOf(drawn, reading);
      for (const kind of drawn.changes) apply(kind);
      const agreed = await settle(model);
      if (agreed === null) {
        // Bounds that leave out their own day show so between two days that hold something.
        useless.push({ grain: reading.grain, isLong: drawn.days >= 40 });
        return;
      }
      if (model.requests > 0) narrowed++;
      expect(agreed).toBe(true);
      expect(model.differences().size).toBe(0);
    });
    const runs = propertyRuns(400);
    await fc.assert(run, runs);
    expect(narrowed).toBeGreaterThan(runs.numRuns / 3);
    expect(useless.filter(({ grain, isLong }) => grain === 'instant' || isLong)).toEqual([]);
  });

  const misleading = fc.constantFrom<Partial<ModelReading>>(
    { filter: 'ignored' },
    { stamp: 'updated' },
    { stamp: 'updated', grain: 'day', from: 'exclusive' },
  );

  it('L17: never says that it settled what bounds of no use hide', async () => {
    const run = fc.asyncProperty(world, misleading, async (drawn, reading) => {
      const { model, apply } = modelOf(drawn, { ...PLAIN, ...reading });
      for (const kind of drawn.changes) apply(kind);
      const agreed = await settle(model);
      expect(agreed === true).toBe(model.differences().size === 0);
      // It must not go on for ever to find that out.
      expect(model.requests).toBeLessThan(400 + 12 * model.source.size);
    });
    await fc.assert(run, propertyRuns(200));
  });

  it('gives up at once where bounds have no effect', async () => {
    const { model } = modelOf(
      { seed: 3, rows: 1_500, days: 40, changes: [] },
      { ...PLAIN, filter: 'ignored' },
    );
    const first = [...model.source.values()].find(({ status }) => status === 'NEW');
    model.source.delete(first?.id ?? 0);
    model.requests = 0;
    expect(await model.narrow('NEW')).toBe(false);
    expect(model.requests).toBeLessThanOrEqual(4);
  });
});

describe('what narrowing costs', () => {
  const cases = [
    { rows: 100_000, changed: 10, most: 150 },
    { rows: 1_000_000, changed: 10, most: 220 },
    { rows: 1_000_000, changed: 1, most: 19 },
    { rows: 100_000, changed: 1, most: 16 },
  ];
  for (const { rows, changed, most } of cases) {
    it(`finds ${changed} of ${rows} in ${most} requests at most`, async () => {
      for (let seed = 1; seed <= 3; seed++) {
        expect(await costOf(rows, changed, 700, seed)).toBeLessThanOrEqual(most);
      }
    });
  }

  it('finds 5 of 1,000,000 within a day and a half in 200 requests at most', async () => {
    for (let seed = 1; seed <= 3; seed++) {
      expect(await costOf(1_000_000, 5, 1.5, seed)).toBeLessThanOrEqual(200);
    }
  });
});

/** Requests until so many rows, which the source has no more of a status, are found; all of one status, over so many days. */
async function costOf(rows: number, gone: number, days: number, seed: number): Promise<number> {
  const random = seededRandom(seed);
  const held = Float64Array.from({ length: rows }, () =>
    Math.floor(START + random() * days * GRAIN_MS.day),
  ).toSorted();
  const missing = new Set(Array.from({ length: gone }, () => Math.floor(random() * rows)));
  const source = held.filter((_ms, at) => !missing.has(at));
  let requests = 1;
  let found = 0;
  const narrowed = await narrow(
    { source: source.length, undated: 0, days: bucketsOf(held, 'day'), leafSize: 100 },
    unseenBounds(),
    {
      countSource: async (span) => {
        requests++;
        return part(source, span).length;
      },
      countHeld: async (span, grain) => bucketsOf(part(held, span), grain),
      settle: async (leaf) => {
        requests += Math.max(1, Math.ceil(part(source, leaf).length / 100));
        found += part(held, leaf).length - part(source, leaf).length;
      },
    },
  );
  expect(narrowed).toBe(true);
  expect(found).toBe(missing.size);
  return requests;
}

function part(sorted: Float64Array, { fromMs, toMs }: MsSpan): Float64Array {
  const firstFrom = (ms: number): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] ?? 0) >= ms) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return sorted.subarray(
    fromMs === null ? 0 : firstFrom(fromMs),
    toMs === null ? sorted.length : firstFrom(toMs),
  );
}
