import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Comparable, dueComparisons } from '../../src/sync/due-comparisons.ts';
import { propertyRuns } from '../support/property.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Unit extends Comparable {
  readonly name: number;
  comparedMs: number | null;
  isUnderWay: boolean;
}

interface Tick {
  readonly atMs: number;
  readonly picked: readonly Unit[];
}

interface World {
  readonly units: Unit[];
  readonly everyMs: number;
  readonly withinMs: number;
  /** How long after its tick a comparison ends. */
  readonly takesMs?: (unit: Unit) => number;
  /** Whether the program runs then. */
  readonly isUp?: (atMs: number) => boolean;
  /** Ticks come when it is a tick's time by this, besides `everyMs`. */
  readonly isTick?: (atMs: number) => boolean;
}

/** Lets ticks come, and comparisons end; notes how old each unit had become by its end. */
function run(
  world: World,
  untilMs: number,
): { ticks: Tick[]; ages: { endMs: number; ageMs: number }[] } {
  const { units, everyMs, withinMs, takesMs = () => 0, isUp = () => true } = world;
  const { isTick = () => true } = world;
  const ends: { unit: Unit; atMs: number }[] = [];
  const ticks: Tick[] = [];
  const ages: { endMs: number; ageMs: number }[] = [];
  const ticksBetween = (fromMs: number, toMs: number): number => {
    let found = 0;
    for (let at = (Math.floor(fromMs / everyMs) + 1) * everyMs; at <= toMs; at += everyMs) {
      if (isTick(at)) found++;
    }
    return found;
  };
  const startedMs = new Map<Unit, number | null>();
  for (let nowMs = 0; nowMs <= untilMs; nowMs += everyMs) {
    for (const end of ends.filter(({ atMs }) => atMs <= nowMs)) {
      ends.splice(ends.indexOf(end), 1);
      const before = startedMs.get(end.unit) ?? null;
      if (before !== null) ages.push({ endMs: end.atMs, ageMs: end.atMs - before });
      Object.assign(end.unit, { comparedMs: end.atMs, isUnderWay: false });
    }
    if (!isUp(nowMs) || !isTick(nowMs)) continue;
    const picked = dueComparisons(units, { nowMs, withinMs, ticksBetween });
    ticks.push({ atMs: nowMs, picked });
    for (const unit of picked) {
      startedMs.set(unit, unit.comparedMs);
      Object.assign(unit, { comparedMs: nowMs, isUnderWay: true });
      ends.push({ unit, atMs: nowMs + takesMs(unit) });
    }
  }
  return { ticks, ages };
}

const unitsOf = (comparedMs: readonly (number | null)[], costs: readonly number[] = []): Unit[] =>
  comparedMs.map((at, name) => ({
    name,
    comparedMs: at,
    isUnderWay: false,
    cost: costs[name % costs.length] ?? 1,
  }));

const numbers = ({ ticks }: { ticks: readonly Tick[] }, fromMs = 0): number[] =>
  ticks.filter(({ atMs }) => atMs >= fromMs).map(({ picked }) => picked.length);

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);

describe('comparisons that are due', () => {
  it('of what was compared all at once are spread over the whole period, now and ever after', () => {
    const units = unitsOf(Array.from({ length: 720 }, () => 0));
    const world = { units, everyMs: MINUTE_MS, withinMs: 6 * HOUR_MS };
    const result = run(world, 24 * HOUR_MS);
    expect(new Set(numbers(result).slice(1))).toEqual(new Set([2, 3]));
    expect(Math.max(...result.ages.map(({ ageMs }) => ageMs))).toBeLessThanOrEqual(6 * HOUR_MS);
    expect(sum(numbers(result))).toBeLessThan(1.05 * 4 * 720);
  });

  it('of a few forms come once a period each, at equal distances', () => {
    const world = { units: unitsOf([0, 0, 0]), everyMs: MINUTE_MS, withinMs: 6 * HOUR_MS };
    const { ticks } = run(world, 48 * HOUR_MS);
    const times = ticks.filter(({ picked }) => picked.length > 0).map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((at, index) => at - times[index]!);
    expect(Math.min(...gaps)).toBeGreaterThan(1.8 * HOUR_MS);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2 * HOUR_MS);
  });

  it('whatever there is, and however old: all is compared within the period, and no tick does much more than another', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.double({ min: 0, max: 3, noNaN: true }), { freq: 10 }), {
          minLength: 1,
          maxLength: 150,
        }),
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 }),
        (ages, ticksInPeriod, delays) => {
          const withinMs = ticksInPeriod * MINUTE_MS;
          const startMs = 0;
          const units = unitsOf(
            ages.map((age) => (age === null ? null : startMs - age * withinMs)),
          );
          const takesMs = ({ name }: Unit): number =>
            delays[name % delays.length]! * 0.9 * MINUTE_MS;
          const world = { units, everyMs: MINUTE_MS, withinMs, takesMs };
          const result = run(world, 6 * withinMs + 10 * MINUTE_MS);
          const most = Math.ceil((2 * units.length) / ticksInPeriod);
          for (const number of numbers(result)) expect(number).toBeLessThanOrEqual(most);
          // What was overdue at first is caught up with in half a period or so; from then on nothing is late.
          const caughtUpMs = withinMs + 2 * MINUTE_MS;
          const late = result.ages.filter(
            ({ endMs, ageMs }) => endMs - ageMs >= caughtUpMs && ageMs > withinMs + MINUTE_MS,
          );
          expect(late).toEqual([]);
          const last = new Set(
            result.ticks
              .filter(({ atMs }) => atMs > 6 * withinMs + 10 * MINUTE_MS - withinMs - 2 * MINUTE_MS)
              .flatMap(({ picked }) => picked.map(({ name }) => name)),
          );
          expect(last.size).toBe(units.length);
        },
      ),
      propertyRuns(150),
    );
  });

  it('of very unequal size cost about as much at each tick', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 100 }),
        fc.integer({ min: 10, max: 120 }),
        (costs, ticksInPeriod) => {
          const withinMs = ticksInPeriod * MINUTE_MS;
          const units = unitsOf(
            costs.map(() => 0),
            costs,
          );
          const result = run({ units, everyMs: MINUTE_MS, withinMs }, 5 * withinMs);
          const all = sum(costs);
          const most = (2 * all) / ticksInPeriod + Math.max(...costs);
          for (const { picked } of result.ticks) {
            expect(sum(picked.map(({ cost }) => cost))).toBeLessThanOrEqual(most);
          }
          expect(Math.max(...result.ages.map(({ ageMs }) => ageMs))).toBeLessThanOrEqual(withinMs);
        },
      ),
      propertyRuns(150),
    );
  });

  it('after downtime catch up without a storm', () => {
    const units = unitsOf(Array.from({ length: 720 }, () => 0));
    const isUp = (atMs: number): boolean => atMs < 7 * HOUR_MS || atMs > 31 * HOUR_MS;
    const world = { units, everyMs: MINUTE_MS, withinMs: 6 * HOUR_MS, isUp };
    const result = run(world, 60 * HOUR_MS);
    expect(Math.max(...numbers(result))).toBeLessThanOrEqual(4);
    const afterwards = result.ages.filter(({ endMs, ageMs }) => endMs - ageMs > 31 * HOUR_MS);
    expect(Math.max(...afterwards.map(({ ageMs }) => ageMs))).toBeLessThanOrEqual(6 * HOUR_MS);
  });

  it('rare ticks compare more each, and before a night all that falls due in it', () => {
    const isTick = (atMs: number): boolean => {
      const hour = (atMs / HOUR_MS) % 24;
      return hour >= 8 && hour < 18;
    };
    const units = unitsOf(Array.from({ length: 60 }, () => -HOUR_MS));
    const world = { units, everyMs: 30 * MINUTE_MS, withinMs: 6 * HOUR_MS, isTick };
    const { ages } = run(world, 5 * 24 * HOUR_MS);
    const byDay = ages.filter(({ endMs, ageMs }) => {
      const from = ((endMs - ageMs) / HOUR_MS) % 24;
      return from >= 8 && from < 12 && endMs > 24 * HOUR_MS;
    });
    expect(byDay.length).toBeGreaterThan(0);
    for (const { ageMs } of byDay) expect(ageMs).toBeLessThanOrEqual(6 * HOUR_MS);
    const seldom = run(
      { ...world, units: unitsOf(units.map(() => 0)), isTick: () => true, everyMs: 24 * HOUR_MS },
      4 * 24 * HOUR_MS,
    );
    expect(numbers(seldom, 1)).toEqual([60, 60, 60, 60]);
  });

  it('one that never ends holds up no other', () => {
    const units = unitsOf(Array.from({ length: 30 }, () => 0));
    const takesMs = ({ name }: Unit): number => (name === 7 ? Infinity : 0);
    const world = { units, everyMs: MINUTE_MS, withinMs: HOUR_MS, takesMs };
    const { ages } = run(world, 12 * HOUR_MS);
    expect(ages.length).toBeGreaterThan(29 * 10);
    expect(Math.max(...ages.map(({ ageMs }) => ageMs))).toBeLessThanOrEqual(HOUR_MS);
  });

  it('are none where there is nothing', () => {
    const rhythm = { nowMs: 0, withinMs: HOUR_MS, ticksBetween: () => 10 };
    expect(dueComparisons([], rhythm)).toEqual([]);
  });
});
