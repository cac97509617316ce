import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/logger.ts';
import type { FormOverview, Target } from '../../src/mirror/target.ts';
import type { PassRecord } from '../../src/mirror/types.ts';
import { Comparisons, type ComparisonUnderWay } from '../../src/sync/comparisons.ts';
import { unreadWindow, type WindowRecord } from '../../src/mirror/window.ts';
import type { FormPlan } from '../../src/sync/planner.ts';
import { NOW, formOverview, passRecord } from '../health/fake-source.ts';
import { ManualClock, settle } from '../health/manual-clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const never = new AbortController().signal;

const formOf = (id: string) => ({ id, slug: id, name: id });

/** A form that was last compared so long ago, or of which that was tried then and ended otherwise. */
function held(id: string, hoursAgo: number, full: Partial<PassRecord> = {}): FormOverview {
  const tried = passRecord(hoursAgo * HOUR_MS, { kind: 'full', ...full });
  const proven = passRecord(hoursAgo * HOUR_MS, { kind: 'full' });
  const { checkpoint } = formOverview(formOf(id), {}, [passRecord(20_000), proven]);
  return { ...formOverview(formOf(id), {}, [passRecord(20_000), tried]), checkpoint };
}

/** What a target says: at once, when it likes to, or not at all. */
type Held = readonly FormOverview[] | Promise<readonly FormOverview[]> | Error;

/** Targets that hold these forms, ticks of a minute, and all to be compared within six hours. */
function compared(
  targets: Readonly<Record<string, Held>>,
  windows: ReadonlyMap<string, readonly WindowRecord[]> = new Map(),
) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const logged: string[] = [];
  const comparisons = new Comparisons({
    openTarget: async (name) => {
      asked.push(name);
      const forms = targets[name] ?? [];
      if (forms instanceof Error) throw forms;
      return {
        overview: async () => forms,
        pauses: async () => [],
        reader: async (id: string) => ({ windows: async () => windows.get(id) ?? [] }),
      } as unknown as Target;
    },
    rhythm: {
      withinMs: 6 * HOUR_MS,
      ticksBetween: (fromMs, toMs) => Math.max(0, Math.floor((toMs - fromMs) / MINUTE_MS)),
    },
    clock,
    logger: createLogger('warn', { write: (line) => logged.push(line) }),
  });
  const names = new Set(
    Object.values(targets).flatMap((forms) =>
      Array.isArray(forms) ? (forms as readonly FormOverview[]).map(({ formId }) => formId) : [],
    ),
  );
  const plans = [...names].map(
    (id) => ({ form: formOf(id), targets: Object.keys(targets) }) as unknown as FormPlan,
  );
  const due = async (underWay: readonly ComparisonUnderWay[] = []): Promise<string[]> =>
    (await comparisons.due(plans, underWay, never)).map(({ formId, target, windows: some = [] }) =>
      [formId, target, ...some.map(({ from }) => from?.slice(0, 4) ?? 'first')].join(' '),
    );
  return { due, asked, logged, clock, plans, comparisons };
}

describe('what is compared at a tick', () => {
  it('L5: is the form whose time has come, in the target where it has', async () => {
    const { due } = compared({
      a: [held('f1', 1), held('f2', 6)],
      b: [held('f1', 5), held('f2', 3)],
    });
    expect(await due()).toEqual(['f2 a']);
  });

  it('is none that is being compared already', async () => {
    const { due } = compared({ a: [held('f1', 7)] });
    expect(await due([{ formId: 'f1', target: 'a', sinceMs: NOW - HOUR_MS }])).toEqual([]);
    expect(await due([{ formId: 'f1', target: 'b', sinceMs: NOW - HOUR_MS }])).toEqual(['f1 a']);
  });

  it('is no form that waits for its first pass, is gone, or is not mirrored there', async () => {
    const first = { ...held('f1', 9), checkpoint: null };
    const gone = { ...held('f2', 9), goneAt: new Date(NOW - HOUR_MS).toISOString() };
    const { due, plans, comparisons } = compared({ a: [first, gone, held('f3', 9)] });
    expect(await due()).toEqual(['f3 a']);
    const others = plans.filter(({ form }) => form.id !== 'f3');
    expect(await comparisons.due(others, [], never)).toEqual([]);
  });

  it('is a form that was never compared', async () => {
    const known = held('f1', 1);
    const { due } = compared({
      a: [{ ...known, checkpoint: { ...known.checkpoint!, fullProvenAt: null }, lastFull: null }],
    });
    expect(await due()).toEqual(['f1 a']);
  });

  it('is a form whose full pass failed, after a rest, and one that found no proof in its turn', async () => {
    const long = held('f1', 9).checkpoint;
    const tried = (
      id: string,
      minutesAgo: number,
      outcome: PassRecord['outcome'],
    ): FormOverview => ({
      ...held(id, minutesAgo / 60, { outcome }),
      checkpoint: long,
    });
    expect(await compared({ a: [tried('f1', 5, 'failed')] }).due()).toEqual([]);
    expect(await compared({ a: [tried('f1', 15, 'failed')] }).due()).toEqual(['f1 a']);
    expect(await compared({ a: [tried('f1', 1, 'cancelled')] }).due()).toEqual(['f1 a']);
    expect(await compared({ a: [tried('f1', 60, 'incomplete')] }).due()).toEqual([]);
    expect(await compared({ a: [tried('f1', 360, 'incomplete')] }).due()).toEqual(['f1 a']);
  });

  it('L5: is a window of a large form, or some in one pass, where that is due', async () => {
    const year = (number: number): string => `${number}-01-01T00:00:00.000Z`;
    const window = (from: number | null, to: number | null, hoursAgo: number): WindowRecord => ({
      ...unreadWindow(
        { from: from === null ? null : year(from), to: to === null ? null : year(to) },
        20_000,
      ),
      provenAt: new Date(NOW - hoursAgo * HOUR_MS).toISOString(),
      open: false,
    });
    const form = (total: number, fullHoursAgo = 1): FormOverview => ({
      ...held('f1', fullHoursAgo),
      checkpoint: { ...held('f1', fullHoursAgo).checkpoint!, total },
    });
    const windowed = (...hoursAgo: [number, number, number, number]) =>
      windowedAt(80_000, hoursAgo);
    const windowedAt = (total: number, hoursAgo: readonly number[], fullHoursAgo = 1) =>
      compared(
        { a: [form(total, fullHoursAgo)] },
        new Map([
          [
            'f1',
            [
              window(null, 2023, hoursAgo[0]!),
              window(2023, 2024, hoursAgo[1]!),
              window(2024, 2025, hoursAgo[2]!),
              window(2025, null, hoursAgo[3]!),
            ],
          ],
        ]),
      );
    expect(await windowed(1, 6, 2, 3).due()).toEqual(['f1 a 2023']);
    expect(await windowed(1, 2, 2, 3).due()).toEqual([]);
    // While one is compared, the others wait.
    const since = { formId: 'f1', target: 'a', sinceMs: NOW - HOUR_MS };
    const first = { from: null, to: year(2023) };
    expect(await windowed(1, 6, 6, 3).due([{ ...since, windows: [first] }])).toEqual([]);
    // Overdue, all of them: one after the other.
    const { comparisons, plans } = windowed(7, 7, 7, 7);
    const due = await comparisons.due(plans, [], never);
    expect(due).toMatchObject([{ formId: 'f1', windows: [{ to: year(2023) }] }]);
    // The newest has grown: a full pass cuts it when its time has come.
    expect(await windowedAt(100_001, [7, 7, 7, 7]).due()).toEqual([]);
    expect(await windowedAt(100_001, [7, 7, 7, 7], 6).due()).toEqual(['f1 a']);
  });

  it('is not what was asked for a moment ago and came to nothing', async () => {
    const { due, clock } = compared({ a: [held('f1', 9)] });
    expect(await due()).toEqual(['f1 a']);
    expect(await due()).toEqual([]);
    await clock.advance(11 * MINUTE_MS);
    expect(await due()).toEqual(['f1 a']);
  });

  it('L12: goes on for other targets when one cannot be read', async () => {
    const { due } = compared({ a: new Error('away'), b: [held('f1', 7)] });
    expect(await due()).toEqual(['f1 b']);
  });

  it('L12: goes on for other targets while one keeps silent, and with that one when it speaks', async () => {
    const locked = Promise.withResolvers<readonly FormOverview[]>();
    const { due, asked, logged, clock } = compared({ a: locked.promise, b: [held('f1', 7)] });
    const first = due();
    await settle();
    expect(clock.sleepers).toBe(1);
    await clock.advance(15_000);
    expect(await first).toEqual(['f1 b']);
    // It has no time to lose on a target that still has not answered, and asks it nothing more.
    expect(await due()).toEqual([]);
    expect(asked).toEqual(['a', 'b', 'b']);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0]!)).toMatchObject({ target: 'a' });
    locked.resolve([held('f1', 8)]);
    await settle();
    expect(await due()).toEqual(['f1 a']);
    expect(clock.sleepers).toBe(0);
  });

  it('asks no target while nothing can be due, and again after a while', async () => {
    const { due, asked, clock } = compared({ a: [held('f1', 0)] });
    for (let tick = 0; tick < 10; tick++) {
      expect(await due()).toEqual([]);
      await clock.advance(MINUTE_MS);
    }
    expect(asked).toEqual(['a']);
    await clock.advance(20 * MINUTE_MS);
    await due();
    expect(asked).toEqual(['a', 'a']);
  });
});
