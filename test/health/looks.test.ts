import { describe, expect, it } from 'vitest';
import { coverageText } from '../../src/health/coverage.ts';
import type { HealthFacts } from '../../src/health/facts.ts';
import { assessRecorded } from '../../src/health/recorded-health.ts';
import { headline } from '../../src/health/headline.ts';
import { reportOf } from '../../src/health/report.ts';
import type { FormLook } from '../../src/mirror/target.ts';
import { NO_PASSES } from '../../src/health/pass-summary.ts';
import { overviewMain } from '../../src/web/overview-page.ts';
import { before, formOverview, NOW, passRecord } from './fake-source.ts';
import { FORM_A, FORM_B, formOf, healthOf, reading } from './health-of.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A form whose last pass ended two hours ago, and that a look has found so since. */
function overviewWith(form: typeof FORM_A, look: FormLook | null) {
  const passes = [passRecord(2 * HOUR), passRecord(5 * HOUR, { kind: 'full' })];
  const overview = formOverview(form, { look }, passes);
  const statuses = new Map([['NEW', 100]]);
  const countsAt = before(3 * HOUR);
  const { checkpoint } = overview;
  return { ...overview, checkpoint: checkpoint && { ...checkpoint, statuses, countsAt } };
}

const lookAgo = (agoMs: number, isOpen = false): FormLook => ({ at: before(agoMs), isOpen });

function seen(look: FormLook | null, changes: Partial<HealthFacts> = {}) {
  const forms = [overviewWith(FORM_A, look), overviewWith(FORM_B, lookAgo(10_000))];
  const overview = { kind: 'postgres', address: 'postgres://db', forms };
  const summary = () => NO_PASSES;
  const health = healthOf({}, { targets: [reading({ overview })], summary, ...changes });
  return { health, form: formOf(health), report: reportOf(health, '1') };
}

describe('a form that no pass has visited since looks find it unchanged', () => {
  it('L17: is as fresh as the last look, and says what that tells and what not', () => {
    const { form, report, health } = seen(lookAgo(20_000));
    expect(form).toMatchObject({
      state: 'ok',
      title: 'Up to date (submissions, statuses)',
      provenAt: before(20_000),
      overdueSince: null,
      covers: {
        membership: before(20_000),
        statuses: before(20_000),
        answers: before(5 * HOUR),
      },
    });
    expect(health.state).toBe('ok');
    expect(headline(report)).toBe(
      'Up to date: submissions and statuses as of 20 s ago, answers as of 5 h ago',
    );
    expect(report.forms[0]).toMatchObject({
      lagSeconds: 20,
      differsSince: null,
      fullProvenAt: before(5 * HOUR),
    });
    expect(overviewMain(report).text).toContain('answers: ');
  });

  it('L17: is overdue, and stale, once the looks have ended', () => {
    expect(seen(lookAgo(5 * MINUTE)).form).toMatchObject({ state: 'waiting', title: 'Overdue' });
    expect(seen(lookAgo(40 * MINUTE)).form.problems).toMatchObject([{ code: 'STALE' }]);
    expect(seen(lookAgo(20_000)).form.problems).toEqual([]);
  });

  it('L17: is no fresher by a look that it was not settled for', () => {
    const { form } = seen(null);
    expect(form.covers).toMatchObject({
      membership: before(2 * HOUR),
      statuses: before(3 * HOUR),
      answers: before(5 * HOUR),
    });
    expect(coverageText(form.covers, NOW)).toBe(
      'submissions as of 2 h ago, statuses as of 3 h ago, answers as of 5 h ago',
    );
  });

  it('is judged so by commands, too', () => {
    const forms = [overviewWith(FORM_A, lookAgo(20_000))];
    const overview = { kind: 'postgres', address: 'postgres://db', forms };
    const facts = { nowMs: NOW, nextRunMs: (ms: number) => ms + MINUTE };
    const health = assessRecorded([{ name: 'db', overview, failure: null }], facts);
    expect(formOf(health)).toMatchObject({ state: 'ok', provenAt: before(20_000) });
  });
});

describe('a form that a look found to differ', () => {
  it('L17: is not current until a pass has settled it', () => {
    const { form, health, report } = seen(lookAgo(90_000, true), {
      nextRunMs: (ms) => ms + 10 * HOUR,
    });
    expect(form).toMatchObject({
      state: 'waiting',
      title: 'Changes to read',
      differsSince: before(90_000),
      problems: [],
      covers: { membership: before(2 * HOUR) },
    });
    expect(health.state).toBe('waiting');
    expect(headline(report)).toBe('Changes to read in 1 of 2 forms');
    expect(overviewMain(report).text).toContain('Changes to read');
  });

  it('does not make the mirror wait while its pass is about to begin', () => {
    const long = { nextRunMs: (ms: number) => ms + 10 * HOUR };
    const { form, health } = seen(lookAgo(5_000, true), long);
    expect([form.state, health.state]).toEqual(['waiting', 'ok']);
    // A look that finds it still so makes it no younger.
    const soon = { nextRunMs: (ms: number) => ms + 61 * MINUTE };
    expect(seen(lookAgo(5_000, true), soon).health.state).toBe('ok');
    const late = { nextRunMs: (ms: number) => ms + 59.7 * MINUTE };
    const held = seen(lookAgo(5_000, true), late);
    expect([held.form.overdueSince, held.health.state]).toEqual([null, 'waiting']);
  });

  it('L17: is not settled by a pass that compares no counts, where these differ', () => {
    const summary = () => ({ ...NO_PASSES, provenMs: NOW - 1_000, coversMs: NOW - 2_000 });
    const look = { ...lookAgo(90_000, true), isDiffering: true };
    expect(seen(look, { summary }).form).toMatchObject({
      state: 'waiting',
      differsSince: before(90_000),
    });
    const full = () => ({ ...summary(), fullCoversMs: NOW - 2_000 });
    expect(seen(look, { summary: full }).form).toMatchObject({ state: 'ok', differsSince: null });
  });

  it('is settled by a pass of this process before the target is read again', () => {
    const summary = () => ({ ...NO_PASSES, provenMs: NOW - 1_000, coversMs: NOW - 2_000 });
    const { form } = seen(lookAgo(90_000, true), { summary });
    expect(form).toMatchObject({ state: 'ok', differsSince: null, provenAt: before(2_000) });
  });
});
