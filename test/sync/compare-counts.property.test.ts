import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { countsText, plusCounts, type StatusCounts } from '../../src/mirror/status-counts.ts';
import type { Checkpoint } from '../../src/mirror/types.ts';
import { READINGS, type SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { PROPERTY_MS, propertyRuns } from '../support/property.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const STATUSES = ['NEW', 'DONE', 'PAID', 'ON_HOLD'] as const;

type Change = 'restatus' | 'delete' | 'restore' | 'import' | 'submit';
const changes = fc.constantFrom<Change>('restatus', 'delete', 'restore', 'import', 'submit');

const point = <Point extends keyof SandboxBehaviour>(name: Point) =>
  fc.constantFrom(...READINGS[name]);
const behaviours = fc.record({
  dateFilter: fc.constantFrom(
    'honoured',
    'honoured',
    'honoured',
    'dates-only',
    'ignored',
    'refused',
  ),
  dateStamp: fc.constantFrom('created', 'created', 'created', 'updated'),
  dateFrom: point('dateFrom'),
  dateTo: point('dateTo'),
  dateGrain: point('dateGrain'),
  sort: point('sort'),
  baseOrder: point('baseOrder'),
  ties: point('ties'),
  pastLastPage: point('pastLastPage'),
  totalPages: point('totalPages'),
  maxLimit: fc.constantFrom(20, 100),
});

const cases = fc.record({
  seed: fc.integer(),
  rows: fc.constantFrom(150, 400, 1_100),
  days: fc.constantFrom(0.5, 5, 200),
  behaviour: behaviours,
  before: fc.array(changes, { minLength: 1, maxLength: 10 }),
  /** How likely something changes before a request is answered. */
  during: fc.constantFrom(0, 0, 0.1, 0.6),
});

/** Changes a source at random. */
class Meddler {
  readonly #place: SyncPlace;
  readonly random: () => number;
  readonly #deleted: string[] = [];
  readonly #spanMs: number;

  constructor(place: SyncPlace, seed: number, spanMs: number) {
    this.#place = place;
    this.random = seededRandom(seed);
    this.#spanMs = spanMs;
  }

  pick(below: number): number {
    return Math.floor(this.random() * below);
  }

  submit(ageMs: number): void {
    const status = STATUSES[this.pick(5)] ?? 'NEW';
    // Never on the border of a day.
    const createdAt = this.#place.store.now() - this.pick(ageMs) - 1;
    this.#place.submit({ status, createdAt: createdAt % DAY === 0 ? createdAt + 7 : createdAt });
  }

  do(change: Change): void {
    const { store } = this.#place;
    const ids = store.ids(FORM);
    const id = ids[this.pick(ids.length)];
    if (change === 'import') this.submit(2 * this.#spanMs);
    else if (change === 'submit') this.submit(1);
    else if (change === 'restore') {
      const back = this.#deleted.pop();
      if (back !== undefined) store.restore(back);
    } else if (id !== undefined && change === 'delete') {
      store.delete(id);
      this.#deleted.push(id);
    } else if (id !== undefined) store.setStatus(id, STATUSES[this.pick(4)] ?? 'NEW');
  }
}

async function checkpointOf(
  place: SyncPlace,
): Promise<{ accounted: StatusCounts; checkpoint: Checkpoint | undefined }> {
  const target = openSqlite('a', place.file(), systemClock);
  const reader = await target.reader(FORM);
  const held = (await reader?.statusCounts()) ?? new Map();
  const checkpoint = await reader?.checkpoint();
  await target[Symbol.asyncDispose]();
  return { accounted: plusCounts(held, checkpoint?.unstored ?? new Map()), checkpoint };
}

function countsOf(place: SyncPlace): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of place.store.ids(FORM)) {
    const status = place.store.get(id)?.status ?? '';
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

describe('comparisons by counts, over readings of the API and a source that changes meanwhile', () => {
  it(
    'L16, L17: agree where they say so, and always where bounds by date can be used',
    async () => {
      const seen = { agreed: 0, usable: 0, full: 0, most: 0 };
      const run = fc.asyncProperty(cases, async ({ seed, rows, days, behaviour, ...drawn }) => {
        const place = await SyncPlace.open({ behaviour });
        place.wait(400 * DAY);
        const meddler = new Meddler(place, seed, days * DAY);
        for (let n = 0; n < rows; n++) meddler.submit(days * DAY);
        const first = await place.pass('full');
        if (first.outcome !== 'ok') return;
        for (const change of drawn.before) meddler.do(change);
        place.onRequest = () => {
          if (meddler.random() < drawn.during) meddler.do('restatus');
          if (meddler.random() < drawn.during / 3)
            meddler.do(['delete', 'import'][meddler.pick(2)] as Change);
        };
        const moving = await place.pass('incremental', { compareCounts: true });
        expect(moving.failure).toBeNull();
        place.onRequest = () => {};
        let last = moving;
        for (let tick = 0; tick < 3; tick++) {
          await place.clock.sleep(1);
          const before = (await checkpointOf(place)).checkpoint?.countsAt ?? '';
          last = await place.pass('incremental', { compareCounts: true });
          seen.most = Math.max(seen.most, last.requests);
          const { accounted, checkpoint } = await checkpointOf(place);
          const isSame = countsText(accounted) === countsText(countsOf(place));
          const isClaimed = (checkpoint?.countsAt ?? '') > before;
          if (isClaimed) seen.agreed++;
          expect(isClaimed && !isSame).toBe(false);
        }
        if (last.kind === 'full') seen.full++;
        const { accounted, checkpoint } = await checkpointOf(place);
        const usable =
          ['honoured', 'dates-only'].includes(behaviour.dateFilter) &&
          behaviour.dateStamp === 'created' &&
          days > 0.5;
        if (!usable || last.outcome !== 'ok') return;
        seen.usable++;
        expect(checkpoint?.statuses).not.toBeNull();
        expect(countsText(accounted)).toBe(countsText(countsOf(place)));
      });
      const runs = propertyRuns(60);
      await fc.assert(run, { ...runs, endOnFailure: true });
      process.stdout.write(`comparisons: ${JSON.stringify(seen)}\n`);
      expect(seen.agreed).toBeGreaterThan(runs.numRuns);
      expect(seen.usable).toBeGreaterThan(runs.numRuns / 8);
    },
    PROPERTY_MS,
  );
});
