import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { assessRecorded, describeHealth, readRecorded } from '../../src/health/recorded-health.ts';
import { summary } from '../../src/health/headline.ts';
import { reportOf } from '../../src/health/report.ts';
import { overviewMain } from '../../src/web/overview-page.ts';
import { NOW, before, formOverview, passRecord } from './fake-source.ts';
import { FORM_A, FORM_B } from './health-of.ts';
import { ManualClock, settle } from './manual-clock.ts';

const say = describeHealth('sheet', 45);
const failed = passRecord(60_000, { outcome: 'failed', error: 'The Forms API did not answer.' });
const wellBefore = passRecord(3_600_000);

describe('a form in words, by its overview alone', () => {
  it('is up to date, waits, or has failed, with why and what to do', () => {
    expect(say(formOverview(FORM_A), NOW)).toEqual({
      state: 'ok',
      title: 'All submissions at last success',
      message: 'Answers as of 2026-05-12 07:30:00 UTC.',
      remedy: null,
      staleAfterMinutes: 45,
      staleTitle: 'Stale',
    });
    // L17: what is listed is not stored, or not as the source has it.
    expect(say(formOverview(FORM_A, { rejected: 2 }), NOW)).toMatchObject({
      state: 'ok',
      title: 'All submissions but those listed, at last success',
    });
    expect(say(formOverview(FORM_A, {}, []), NOW)).toMatchObject({
      state: 'waiting',
      title: 'Waiting for the first pass',
    });
    expect(say(formOverview(FORM_A, {}, [failed, wellBefore]), NOW)).toMatchObject({
      state: 'failed',
      title: 'The last pass failed',
      message: 'The Forms API did not answer.',
      remedy: expect.stringContaining('forms-mirror check'),
    });
  });

  it('names the command that releases deletions, with form and target', () => {
    const full = passRecord(60_000, { kind: 'full', outcome: 'withheld', withheld: 7 });
    expect(say(formOverview(FORM_A, {}, [full]), NOW)).toMatchObject({
      state: 'attention',
      title: 'Deletions withheld',
      remedy: expect.stringContaining('--accept-deletes --form frm_a --target sheet'),
    });
  });

  it('says nothing of a pass that was stopped on request, and is not told by it', () => {
    const stopped = passRecord(1_000, {
      outcome: 'cancelled',
      code: 'CANCELLED',
      error: 'Stopped on request.',
    });
    const told = say(formOverview(FORM_A, {}, [stopped, wellBefore]), NOW);
    expect(told).toMatchObject({ state: 'ok', title: 'All submissions at last success' });
    expect(JSON.stringify(told)).not.toContain('Stopped');
  });

  it('counts a pass once that is the last one and the last full one too', () => {
    const full = passRecord(60_000, { kind: 'full', outcome: 'incomplete' });
    expect(say(formOverview(FORM_A, {}, [full, wellBefore]), NOW)).toMatchObject({
      title: 'Not proven complete',
    });
  });

  it('notifies a form that is gone news for a week, then ended', () => {
    const gone = (ms: number) =>
      formOverview(FORM_A, { goneAt: before(ms) }, [passRecord(ms, { outcome: 'gone' })]);
    expect(say(gone(60_000), NOW)).toMatchObject({
      state: 'attention',
      title: 'Gone at the source',
    });
    expect(say(gone(8 * 86_400_000), NOW).state).toBe('ended');
  });
});

describe('the mirror, by what its targets record alone', () => {
  const nextRunMs = (afterMs: number): number => afterMs + 60_000;
  const held = (form: Parameters<typeof formOverview>[0], agoMs: number) =>
    formOverview(form, {}, [passRecord(agoMs), passRecord(agoMs + 9, { kind: 'full' })]);
  const db = (forms: ReturnType<typeof formOverview>[]) => ({
    name: 'db',
    overview: { kind: 'sqlite' as const, address: 'x', forms },
    failure: null,
  });

  it('says when the next pass is due, and which copy is stale, though no process runs', () => {
    const targets = [db([held(FORM_A, 3_600_000), held(FORM_B, 20_000)])];
    const { forms } = assessRecorded(targets, { nowMs: NOW, nextRunMs });
    expect(forms).toMatchObject([
      { state: 'failed', since: before(3_600_000), problems: [{ code: 'STALE' }] },
      { state: 'ok', nextRunAt: before(20_000 + 800 - 60_000) },
    ]);
  });

  it('takes a form without a pass for waiting, not for stale', () => {
    const targets = [db([formOverview(FORM_A, {}, [])])];
    const { forms } = assessRecorded(targets, { nowMs: NOW, nextRunMs });
    expect(forms).toMatchObject([{ state: 'waiting', since: null, nextRunAt: null }]);
  });

  it('names a target that cannot be read, with code and remedy, beside the others', () => {
    const failure = { code: 'TARGET_DENIED' as const, message: 'Wrong password.' };
    const targets = [db([held(FORM_A, 1)]), { name: 'sheet', overview: null, failure }];
    const health = assessRecorded(targets, { nowMs: NOW, nextRunMs });
    expect(health.targets).toMatchObject([
      { readable: true, state: 'ok', problem: null },
      { readable: false, state: 'failed', problem: { code: 'TARGET_DENIED' } },
    ]);
    expect(health.targets[1]?.problem?.remedy).toContain('forms-mirror check');
  });

  it('L17: counts nothing in a target that cannot be read, and calls it neither empty nor never mirrored', () => {
    const failure = { code: 'TARGET_FAILED' as const, message: 'The database is damaged.' };
    const failed = { ...passRecord(1_000, { outcome: 'failed' }), code: failure.code };
    const kept = {
      passes: [{ target: 'db', form: FORM_A, first: failed, last: failed }],
      source: null,
      unmatched: [],
    };
    const unread = { name: 'db', overview: null, failure };
    const report = reportOf(assessRecorded([unread], { nowMs: NOW, nextRunMs, kept }), 'any');
    const nothing = { rows: null, deletedRows: null, rejected: null, withheld: null };
    expect(report.forms).toMatchObject([{ state: 'failed', ...nothing }]);
    const page = overviewMain(report).text;
    expect(page).toContain('unknown');
    expect(page).not.toMatch(/>never<|>0</);
    const all = reportOf(assessRecorded([unread, db([])], { nowMs: NOW, nextRunMs }), 'any');
    expect(summary(all)).toMatch(/^Not every target can be read/);
    const read = reportOf(assessRecorded([db([])], { nowMs: NOW, nextRunMs, kept }), 'any');
    expect(read.forms).toMatchObject([{ rows: 0, deletedRows: 0, rejected: 0, withheld: 0 }]);
  });
});

describe('a target that is read once', () => {
  it('L12: that keeps silent is given up after 20 s, and named', async () => {
    const clock = new ManualClock();
    const read = readRecorded('sales', () => new Promise<never>(() => {}), clock);
    await settle();
    await clock.advance(20_000);
    expect(await read).toMatchObject({
      name: 'sales',
      overview: null,
      failure: {
        code: 'TARGET_UNREACHABLE',
        message: expect.stringMatching(/Target sales takes longer than 20 s .* locked/),
      },
    });
  });

  it('says why it cannot be read, or what it holds, and leaves no timer', async () => {
    const clock = new ManualClock();
    const overview = { kind: 'sqlite', address: 'a.sqlite', forms: [] } as const;
    expect(await readRecorded('a', async () => overview, clock)).toEqual({
      name: 'a',
      overview,
      failure: null,
    });
    const denied = Promise.reject(new MirrorError('TARGET_DENIED', 'Wrong password.'));
    expect(await readRecorded('a', () => denied, clock)).toMatchObject({
      failure: { code: 'TARGET_DENIED', message: 'Wrong password.' },
    });
    expect(clock.sleepers).toBe(0);
  });
});
