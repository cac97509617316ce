import { describe, expect, it } from 'vitest';
import { Events } from '../../src/base/events.ts';
import type { HealthFacts, QueueState } from '../../src/health/facts.ts';
import { headline } from '../../src/health/headline.ts';
import { reportOf } from '../../src/health/report.ts';
import { SourceWaits } from '../../src/health/source-waits.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { overviewMain } from '../../src/web/overview-page.ts';
import { NOW, QUEUE, before, formOverview, passRecord } from './fake-source.ts';
import { FORM_A, FORM_B, failedPass, formOf, healthOf, reading } from './health-of.ts';
import { ManualClock } from './manual-clock.ts';

const MINUTE = 60_000;
const LARGE = { id: 'frm_large', slug: 'large', name: 'Large' };

/** The health, the headline and the page of a mirror whose two forms had a proven pass just now. */
function seen(changes: Partial<HealthFacts>, passes: Parameters<typeof healthOf>[0] = {}) {
  const health = healthOf(passes, changes);
  const report = reportOf(health, '1');
  return { health, report, headline: headline(report), page: overviewMain(report).text };
}

/** A mirror that is to hold a third form, which no pass has ended of. */
const withLarge: Partial<HealthFacts> = {
  targets: [reading()],
  plan: {
    at: before(0),
    forms: [FORM_A, FORM_B, LARGE].map((form) => ({ form, targets: ['db'] })),
    problem: null,
    unmatched: [],
    notices: [],
  },
  knownSinceMs: () => NOW,
};

describe('a form that was never mirrored', () => {
  it('keeps the mirror from being called up to date, whatever the others are', () => {
    const { health, headline: words } = seen(withLarge, { 'db frm_large': [] });
    expect(health.state).toBe('waiting');
    expect(words).toBe('1 of 3 forms not mirrored yet');
    expect(formOf(health, LARGE).title).toBe('Waiting for the first pass');
  });

  it('whose backfill runs on another worker shows how far it has come', () => {
    const job = { formId: LARGE.id, target: 'db', kind: 'incremental' as const };
    const progress = { atMs: NOW - 500, seen: 12_000, total: 40_000 };
    const running = [{ ...job, startedAtMs: NOW - MINUTE, progress }];
    const queue: QueueState = { ...QUEUE, running };
    const { health, headline: words, page } = seen({ ...withLarge, queue }, { 'db frm_large': [] });
    expect(health.state).toBe('working');
    expect(words).toBe('The first pass is running');
    expect(formOf(health, LARGE)).toMatchObject({
      state: 'working',
      title: 'Reading what is new, on another worker',
      running: { seen: 12_000, total: 40_000, isElsewhere: true },
    });
    expect(page).toContain('12,000 of 40,000');
    expect(page).toContain('class="medal working"');
  });
});

describe('what is wrong with all forms', () => {
  const down: QueueState = { ...QUEUE, reachable: false };
  const failure = { code: 'TARGET_UNREACHABLE' as const, message: 'away', sinceMs: NOW - 1 };
  it.each<[string, Partial<HealthFacts>, string]>([
    ['a queue that is away', { queue: down, queueFailures: 2 }, 'Waiting on the queue'],
    ['one that is away at the first look', { queue: down }, 'Waiting on the queue'],
    [
      'a target that is away at the first look',
      { targets: [reading({ failure, failures: 1 })] },
      'Waiting on the target',
    ],
    [
      'a source that cannot list its forms',
      {
        plan: {
          at: before(MINUTE),
          forms: [FORM_A, FORM_B].map((form) => ({ form, targets: ['db'] })),
          problem: { code: 'FORMS_UNREACHABLE', message: 'away', at: before(1) },
          unmatched: [],
          notices: [],
        },
      },
      'Waiting on the source',
    ],
  ])('%s: no form is well meanwhile', (_, changes, title) => {
    const { health, headline: words, page } = seen(changes);
    expect(new Set(health.forms.map((form) => form.state))).toEqual(new Set(['waiting']));
    expect(new Set(health.forms.map((form) => form.title))).toEqual(new Set([title]));
    expect(words).not.toMatch(/up to date/i);
    expect(page).not.toMatch(/up to date|class="(medal|state) ok"|(tbody|tr) class="ok"/i);
    expect(['failed', 'waiting']).toContain(health.state);
  });

  it('names no next run that a queue out of reach told', () => {
    const { report } = seen({ queue: down, queueFailures: 2 });
    expect(report.forms.map(({ nextRunAt }) => nextRunAt)).toEqual([null, null]);
  });

  it('leaves what is wrong with a form itself as it is', () => {
    const { health } = seen({ queue: down }, { 'db frm_a': [failedPass(1, 'TARGET_FULL')] });
    expect(formOf(health).state).toBe('failed');
    expect(formOf(health, FORM_B).state).toBe('waiting');
  });
});

describe('a copy whose proven pass is overdue', () => {
  it('is not up to date, long before it is stale', () => {
    const late = passRecord(5 * MINUTE);
    const overview = reading().overview!;
    const forms = [formOverview(FORM_A, {}, [late]), formOverview(FORM_B)];
    const targets = [reading({ overview: { ...overview, forms } })];
    const { health, headline: words } = seen({ targets }, { 'db frm_a': [late] });
    expect(formOf(health)).toMatchObject({
      state: 'waiting',
      title: 'Overdue',
      since: before(3 * MINUTE),
    });
    expect(health.state).toBe('waiting');
    expect(words).toBe('1 of 2 forms overdue');
  });
});

describe('waiting on the source', () => {
  const request = 'GET /submissions?formId=frm_a';
  const start = () => {
    const clock = new ManualClock();
    const events = new Events<SyncEvents>();
    return { clock, events, waits: new SourceWaits(events, clock) };
  };

  it('begin when an answer stays away, not only when it has failed to come', () => {
    const { clock, events, waits } = start();
    events.emit('forms.silent', { request: 'GET /forms', silentMs: 10_000 });
    expect(waits.current).toMatchObject({
      sinceMs: clock.now() - 10_000,
      untilMs: clock.now() + 20_000,
      reason: 'no answer for 10 s',
    });
    events.emit('forms.settled', { request: 'GET /forms' });
    expect(waits.current).toBeNull();
  });

  it('is a state with a name: throttled until, not answering since', async () => {
    const { clock, events, waits } = start();
    expect(waits.current).toBeNull();
    const reason = 'answered 429 (too many requests)';
    events.emit('forms.retry', { request, attempt: 1, delayMs: 40_000, reason });
    const throttled = seen({ sourceWait: waits.current });
    expect(throttled.health.state).toBe('waiting');
    expect(throttled.headline).toBe(
      'Waiting on the source: throttled until 2026-05-12 09:30:40 UTC',
    );
    expect(throttled.page).not.toMatch(/up to date|class="medal ok"/i);
    expect(throttled.health.problems).toMatchObject([{ code: 'SOURCE_WAITING', level: 'warning' }]);
    events.emit('forms.settled', { request });
    expect(waits.current).toBeNull();

    const silent = 'did not answer within 30 s';
    events.emit('forms.retry', { request, attempt: 1, delayMs: 500, reason: silent });
    await clock.advance(31_000);
    events.emit('forms.retry', { request, attempt: 2, delayMs: 1_000, reason: silent });
    const hanging = seen({ nowMs: clock.now(), sourceWait: waits.current });
    expect(hanging.headline).toBe(
      'Waiting on the source: not answering since 2026-05-12 09:30:00 UTC',
    );
    expect(hanging.report.problems[0]?.message).toContain(silent);
  });

  it('lasts until every request has ended, and is not kept by one that was forgotten', async () => {
    const { clock, events, waits } = start();
    const other = 'GET /forms';
    const reason = 'answered 503';
    events.emit('forms.retry', { request, attempt: 1, delayMs: 1_000, reason });
    events.emit('forms.retry', { request: other, attempt: 1, delayMs: 5_000, reason });
    events.emit('forms.settled', { request });
    expect(waits.current).toMatchObject({ untilMs: NOW + 5_000 });
    await clock.advance(10 * MINUTE);
    expect(waits.current).toBeNull();
    waits.stop();
  });
});
