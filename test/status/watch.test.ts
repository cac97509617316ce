import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { MirrorView } from '../../src/status/mirror-view.ts';
import { SlowReading } from '../../src/status/slow-reading.ts';
import { Watch } from '../../src/status/watch.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import {
  type FakeSource,
  NOW,
  before,
  formOverview,
  passRecord,
  passReport,
} from './fake-source.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { calmSource } from './start-page.ts';
import { FORM_A, FORM_B } from './view-of.ts';

const MINUTE = 60_000;

function startWatch(source: FakeSource) {
  const [events, clock] = [new Events<SyncEvents>(), new ManualClock()];
  const views: MirrorView[] = [];
  const passes: string[] = [];
  const watch = new Watch({
    source,
    events,
    clock,
    logger: silentLogger,
    onPass: ({ pair, pass }) => passes.push(`${pair.form.id} ${pass.outcome}`),
    onChange: (view) => views.push(view),
  });
  watch.start();
  return {
    events,
    clock,
    watch,
    views,
    passes,
    /** Minutes in which nothing happens, poll by poll. */
    async wait(minutes: number) {
      for (let half = 0; half < minutes * 2; half++) await clock.advance(MINUTE / 2);
    },
    [Symbol.asyncDispose]: () => watch.stop(),
  };
}

describe('watching', () => {
  it('reads a sheet no oftener than its quota bears, however many look', async () => {
    const source = calmSource();
    source.hold('sheet', [formOverview(FORM_A)], 'google-sheets');
    await using watching = startWatch(source);
    await settle();
    for (let look = 0; look < 30; look++) {
      await watching.watch.look();
      await watching.clock.advance(2_000);
    }
    expect(source.reads.get('sheet')).toBe(2);
    expect(source.reads.get('db')).toBeGreaterThan(20);
  });

  it('hears of passes on other workers at its next look', async () => {
    const source = calmSource();
    await using watching = startWatch(source);
    await settle();
    const passes = [passRecord(-20_000, { outcome: 'incomplete' }), passRecord(20_000)];
    source.histories.set('db/frm_a', passes);
    source.hold('db', [formOverview(FORM_A, {}, passes), formOverview(FORM_B)]);
    await watching.wait(1);
    expect(watching.passes).toEqual(['frm_a incomplete']);
    expect(watching.views.at(-1)?.pairs[0]?.state).toBe('attention');
  });

  it('tells at once how a pass ended, and stands on what it knows when nothing can be read', async () => {
    const source = calmSource();
    await using watching = startWatch(source);
    await settle();
    source.overviews.set('db', new MirrorError('TARGET_UNREACHABLE', 'away'));
    const failure = new MirrorError('TARGET_UNREACHABLE', 'away');
    const pass = passRecord(0, { outcome: 'failed', error: 'away' });
    const seen = watching.views.length;
    watching.events.emit('pass.ended', passReport(FORM_A, 'db', pass, failure));
    expect(watching.views).toHaveLength(seen + 1);
    expect(watching.views.at(-1)?.pairs.find(({ state }) => state === 'failed')?.pair.form).toEqual(
      FORM_A,
    );
    await watching.wait(2);
    expect(watching.views.at(-1)).toMatchObject({ state: 'failed', pairs: [{}, {}] });
  });

  it('finds no silence right after its start, however old the passes, and none in or after an outage', async () => {
    const source = calmSource();
    const old = [passRecord(24 * 60 * MINUTE)];
    source.hold('db', [formOverview(FORM_A, {}, old), formOverview(FORM_B, {}, old)]);
    await using watching = startWatch(source);
    await settle();
    await watching.wait(10);
    const odd = watching.views.find(({ state }) => state !== 'ok');
    expect(odd).toBeUndefined();
    const problem = { code: 'FORMS_UNREACHABLE' as const, message: 'away', at: before(-600_000) };
    source.planState = { ...source.planState, problem };
    await watching.wait(60);
    expect(watching.views.at(-1)?.problems.map(({ code }) => code)).toEqual(['FORMS_UNREACHABLE']);
    source.planState = { ...source.planState, problem: null };
    await watching.wait(10);
    expect(watching.views.at(-1)?.problems).toEqual([]);
    await watching.wait(5);
    expect(watching.views.at(-1)?.problems.map(({ code }) => code)).toEqual(['SILENT']);
  });

  it('goes on when looking fails, and ends when told to', async () => {
    const source = calmSource();
    const watching = startWatch(source);
    await settle();
    const healthy = source.plan.bind(source);
    source.plan = () => {
      throw new Error('broken');
    };
    await watching.wait(1);
    source.plan = healthy;
    const seen = watching.views.length;
    await watching.wait(1);
    expect(watching.views.length).toBeGreaterThan(seen);
    await watching.watch.stop();
    expect(watching.clock.sleepers).toBe(0);
  });
});

describe('a slow reading', () => {
  const tooSlow = (): MirrorError => new MirrorError('TARGET_UNREACHABLE', 'slow');

  it('is asked for once, whoever asks, and takes the answer that comes late', async () => {
    const clock = new ManualClock();
    const answer = Promise.withResolvers<number>();
    let asked = 0;
    const read = (): Promise<number> => {
      asked++;
      return answer.promise;
    };
    const reading = new SlowReading({ read, clock, limitMs: 1_000, tooSlow, restMs: () => 0 });
    const first = Promise.all([reading.refresh(0), reading.refresh(0)]);
    await clock.advance(1_000);
    await first;
    expect(reading).toMatchObject({ value: null, failures: 1, failure: { message: 'slow' } });
    const second = reading.refresh(0);
    answer.resolve(7);
    await second;
    expect(reading).toMatchObject({ value: 7, failures: 0, failure: null, readAtMs: NOW + 1_000 });
    expect(asked).toBe(1);
  });

  it('that is costly takes a small part of the time', async () => {
    const clock = new ManualClock();
    let asked = 0;
    const read = async (): Promise<number> => {
      asked++;
      await clock.sleep(1_500);
      return asked;
    };
    const reading = new SlowReading({ read, clock, limitMs: 9_000, tooSlow, restMs: () => 0 });
    for (let second = 0; second < 120; second++) {
      void reading.refresh(0);
      await clock.advance(1_000);
    }
    expect(asked).toBeLessThanOrEqual(5);
  });
});
