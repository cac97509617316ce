import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { MirrorHealth } from '../../src/health/mirror-health.ts';
import { CachedReading } from '../../src/health/cached-reading.ts';
import { HealthMonitor } from '../../src/health/monitor.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import {
  FakeSource,
  NOW,
  QUEUE,
  before,
  formOverview,
  passRecord,
  passReport,
} from './fake-source.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { calmSource } from '../web/start-page.ts';
import { FORM_A, FORM_B } from './health-of.ts';

const MINUTE = 60_000;

function startMonitor(source: FakeSource) {
  const [events, clock] = [new Events<SyncEvents>(), new ManualClock()];
  const seen: MirrorHealth[] = [];
  const passes: string[] = [];
  const monitor = new HealthMonitor({
    source,
    events,
    clock,
    logger: silentLogger,
    onPass: ({ form, pass }) => passes.push(`${form.id} ${pass.outcome}`),
    onChange: (health) => seen.push(health),
  });
  monitor.start();
  return {
    events,
    clock,
    monitor,
    seen,
    passes,
    /** Minutes in which nothing happens, poll by poll. */
    async wait(minutes: number) {
      for (let half = 0; half < minutes * 2; half++) await clock.advance(MINUTE / 2);
    },
    [Symbol.asyncDispose]: () => monitor.stop(),
  };
}

describe('the monitor', () => {
  it('reads a sheet no oftener than its quota bears, however many look', async () => {
    const source = calmSource();
    source.hold('sheet', [formOverview(FORM_A)], 'google-sheets');
    await using watching = startMonitor(source);
    await settle();
    for (let look = 0; look < 30; look++) {
      await watching.monitor.refresh();
      await watching.clock.advance(2_000);
    }
    expect(source.reads.get('sheet')).toBe(2);
    expect(source.reads.get('db')).toBeGreaterThan(20);
  });

  it('notices passes of other workers when it reads next', async () => {
    const source = calmSource();
    await using watching = startMonitor(source);
    await settle();
    const passes = [passRecord(-20_000, { outcome: 'incomplete' }), passRecord(20_000)];
    source.histories.set('db/frm_a', passes);
    source.hold('db', [formOverview(FORM_A, {}, passes), formOverview(FORM_B)]);
    await watching.wait(1);
    expect(watching.passes).toEqual(['frm_a incomplete']);
    expect(watching.seen.at(-1)?.forms[0]?.state).toBe('attention');
  });

  it('L17: shows that another process waits for the source, and that it does no more', async () => {
    const source = calmSource();
    await using watching = startMonitor(source);
    await settle();
    expect(watching.monitor.current().state).toBe('ok');
    const untilMs = NOW + 10 * MINUTE;
    source.elsewhere = { sinceMs: NOW, untilMs, throttled: true, reason: 'answered 429' };
    await watching.wait(1);
    const { state, problems } = watching.monitor.current();
    expect([state, problems.map(({ code }) => code)]).toEqual(['waiting', ['SOURCE_WAITING']]);
    source.elsewhere = null;
    await watching.wait(1);
    expect(watching.monitor.current().state).toBe('ok');
  });

  it('announces at once how a pass ended, and keeps what it knows when nothing can be read', async () => {
    const source = calmSource();
    await using watching = startMonitor(source);
    await settle();
    source.overviews.set('db', new MirrorError('TARGET_UNREACHABLE', 'away'));
    const failure = new MirrorError('TARGET_UNREACHABLE', 'away');
    const pass = passRecord(0, { outcome: 'failed', error: 'away' });
    const before = watching.seen.length;
    watching.events.emit('pass.ended', passReport(FORM_A, 'db', pass, failure));
    expect(watching.seen).toHaveLength(before + 1);
    expect(watching.seen.at(-1)?.forms.find(({ state }) => state === 'failed')?.form).toEqual(
      FORM_A,
    );
    await watching.wait(2);
    expect(watching.seen.at(-1)).toMatchObject({ state: 'failed', forms: [{}, {}] });
  });

  it('calls nothing stale right after its start, however old the passes, and none in or after an outage', async () => {
    const source = calmSource();
    const old = [passRecord(24 * 60 * MINUTE)];
    source.hold('db', [formOverview(FORM_A, {}, old), formOverview(FORM_B, {}, old)]);
    await using watching = startMonitor(source);
    await settle();
    await watching.wait(10);
    // Overdue, until a pass has ended, but nobody's fault yet.
    expect(new Set(watching.seen.map(({ state }) => state))).toEqual(new Set(['waiting']));
    expect(watching.seen.flatMap(({ problems }) => problems)).toEqual([]);
    const problem = { code: 'FORMS_UNREACHABLE' as const, message: 'away', at: before(-600_000) };
    source.planState = { ...source.planState, problem };
    await watching.wait(60);
    expect(watching.seen.at(-1)?.problems.map(({ code }) => code)).toEqual(['FORMS_UNREACHABLE']);
    source.planState = { ...source.planState, problem: null };
    await watching.wait(10);
    expect(watching.seen.at(-1)?.problems).toEqual([]);
    await watching.wait(5);
    expect(watching.seen.at(-1)?.problems.map(({ code }) => code)).toEqual(['STALE']);
  });

  it('sees at once that the queue answers again, however long it took to say that it did not', async () => {
    const source = calmSource();
    await using watching = startMonitor(source);
    await settle();
    const { monitor, clock } = watching;
    source.queue = async () => {
      await clock.sleep(2_400);
      return { ...QUEUE, reachable: false, schedules: [], queues: [] };
    };
    await clock.advance(10_000);
    const away = monitor.refreshQueue();
    await clock.advance(2_400);
    expect(await away).toBeNull();
    let asked = 0;
    source.queue = async () => {
      asked++;
      return QUEUE;
    };
    await clock.advance(500);
    expect(await monitor.refreshQueue()).toMatchObject({ reachable: true });
    await monitor.refreshQueue();
    expect(asked).toBe(1);
  });

  it('goes on when judging fails, and stops when asked to', async () => {
    const source = calmSource();
    const watching = startMonitor(source);
    await settle();
    const healthy = source.plan.bind(source);
    source.plan = () => {
      throw new Error('broken');
    };
    await watching.wait(1);
    source.plan = healthy;
    const before = watching.seen.length;
    await watching.wait(1);
    expect(watching.seen.length).toBeGreaterThan(before);
    await watching.monitor.stop();
    expect(watching.clock.sleepers).toBe(0);
  });
});

describe('a cached reading', () => {
  const tooSlow = (): MirrorError => new MirrorError('TARGET_UNREACHABLE', 'slow');

  it('is asked for once, whoever asks, and takes the answer that comes late', async () => {
    const clock = new ManualClock();
    const answer = Promise.withResolvers<number>();
    let asked = 0;
    const read = (): Promise<number> => {
      asked++;
      return answer.promise;
    };
    const reading = new CachedReading({ read, clock, limitMs: 1_000, tooSlow, restMs: () => 0 });
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
    const reading = new CachedReading({ read, clock, limitMs: 9_000, tooSlow, restMs: () => 0 });
    for (let second = 0; second < 120; second++) {
      void reading.refresh(0);
      await clock.advance(1_000);
    }
    expect(asked).toBeLessThanOrEqual(5);
  });
});

describe('what a change costs', () => {
  const forms = Array.from({ length: 500 }, (_, at) => ({
    id: `frm_${at}`,
    slug: `f${at}`,
    name: `F${at}`,
  }));

  /** A running monitor over all of them, and how many times the mirror was judged since. */
  async function startCounting() {
    const source = new FakeSource();
    source.hold(
      'db',
      forms.map((form) => formOverview(form)),
    );
    const plan = source.plan.bind(source);
    const judged = { times: 0 };
    const watching = startMonitor(source);
    await settle();
    // The mirror is judged by the plan, among others, so that this counts.
    source.plan = () => {
      judged.times++;
      return plan();
    };
    return { ...watching, judged };
  }

  it('progress judges nothing, and shows all the same to whoever asks', async () => {
    await using watching = await startCounting();
    for (let seen = 1; seen <= 20; seen++) {
      for (const form of forms) {
        const subject = { form, target: 'db', kind: 'full' as const, passId: 'p' };
        const counts = { seen, total: 20, inserted: seen, updated: 0, unchanged: 0 };
        watching.events.emit('pass.progress', { ...subject, ...counts });
      }
    }
    expect(watching.judged.times).toBe(0);
    const [first] = watching.monitor.current().forms;
    expect(first).toMatchObject({ state: 'working', running: { seen: 20, total: 20 } });
  });

  it('many passes that end together are judged twice: the first at once, and all with the last', async () => {
    await using watching = await startCounting();
    const failure = new MirrorError('TARGET_FULL', 'No room.');
    const failed = passRecord(0, { outcome: 'failed', error: 'No room.' });
    for (const form of forms) {
      watching.events.emit('pass.ended', passReport(form, 'db', failed, failure));
    }
    expect(watching.judged.times).toBe(1);
    await watching.clock.advance(1_000);
    expect(watching.judged.times).toBe(2);
    const states = new Set(watching.seen.at(-1)?.forms.map(({ state }) => state));
    expect([...states]).toEqual(['failed']);
  });

  it('a stop announces what has ended since', async () => {
    const watching = await startCounting();
    const [first, last] = [forms[0]!, forms[1]!];
    const failed = passRecord(0, { outcome: 'failed', code: 'TARGET_FULL', error: 'No room.' });
    for (const form of [first, last]) {
      watching.events.emit('pass.ended', passReport(form, 'db', failed));
    }
    expect(watching.judged.times).toBe(1);
    await watching.monitor.stop();
    expect(watching.judged.times).toBe(2);
    expect(watching.seen.at(-1)?.forms.filter(({ state }) => state === 'failed')).toHaveLength(2);
    expect(watching.clock.sleepers).toBe(0);
  });
});
