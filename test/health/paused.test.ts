import { describe, expect, it } from 'vitest';
import { evaluateAll } from '../../src/alerts/grouping.ts';
import { NO_ALERTS } from '../../src/alerts/alert-state.ts';
import { assessRecorded, describeHealth } from '../../src/health/recorded-health.ts';
import { headline } from '../../src/health/headline.ts';
import { reportOf } from '../../src/health/report.ts';
import { newPause, type Pause } from '../../src/mirror/pauses.ts';
import { overviewMain } from '../../src/web/overview-page.ts';
import { before, formOverview, NOW, passRecord } from './fake-source.ts';
import { failedPass, FORM_A, FORM_B, formOf, healthOf, reading } from './health-of.ts';

const DAY = 24 * 3_600_000;

const pause = (formId: string | null, agoMs = 3_600_000): Pause =>
  newPause({ formId, since: before(agoMs), by: 'command line, ann@ops-1', reason: 'a new tab' });

/** A target that holds both forms, with these pauses. */
function paused(pauses: readonly Pause[], forms = [formOverview(FORM_A), formOverview(FORM_B)]) {
  return [reading({ overview: { kind: 'postgres', address: 'postgres://db', forms, pauses } })];
}

describe('the health of what people have paused', () => {
  it('L17: says since when and by whom, and keeps the time of what was last proven', () => {
    const health = healthOf({}, { targets: paused([pause(FORM_A.id)]) });
    expect(formOf(health)).toMatchObject({
      state: 'paused',
      since: before(3_600_000),
      title: 'Paused since 2026-05-12 08:30:00 UTC by command line, ann@ops-1',
      problems: [],
      provenAt: formOf(health, FORM_B).provenAt,
      nextRunAt: null,
      nextFullAt: null,
    });
    expect(formOf(health, FORM_B).state).toBe('ok');
    expect(health.state).toBe('paused');
    const report = reportOf(health, '1');
    expect(headline(report)).toMatch(/^Paused: 1 form; up to date: submissions/);
    expect(report.forms[0]?.pause).toEqual({
      since: before(3_600_000),
      by: 'command line, ann@ops-1',
      reason: 'a new tab',
      ofTarget: false,
      command: 'forms-mirror resume --form frm_a --target db',
    });
    const page = overviewMain(report).text;
    expect(page).toContain('Paused since 2026-05-12 08:30:00 UTC by command line, ann@ops-1');
  });

  it('L17: of a whole target is that of each form, and of the target itself', () => {
    const health = healthOf({}, { targets: paused([pause(null)]) });
    expect(health.forms.map(({ state }) => state)).toEqual(['paused', 'paused']);
    expect(health.targets).toMatchObject([
      { state: 'paused', paused: true, since: before(3_600_000) },
    ]);
    expect(headline(reportOf(health, '1'))).toBe(
      'Paused since 2026-05-12 08:30:00 UTC by command line, ann@ops-1',
    );
  });

  it('L17: shows a form that was paused before its first pass', () => {
    const facts = { nowMs: NOW, nextRunMs: (ms: number) => ms + 60_000 };
    const overview = {
      kind: 'sqlite',
      address: 'sqlite:x',
      forms: [formOverview(FORM_B)],
      pauses: [pause('frm_a')],
    };
    const health = assessRecorded([{ name: 'db', overview, failure: null }], facts);
    expect(health.forms.map(({ form, state }) => [form.id, state])).toEqual([
      ['frm_b', 'ok'],
      ['frm_a', 'paused'],
    ]);
    expect(health.state).toBe('paused');
  });

  it('is never stale, nor the cause of an alert, however long; the others are as ever', () => {
    const old = [passRecord(3 * DAY)];
    const passes = { 'db frm_a': old, 'db frm_b': old };
    const forms = [FORM_A, FORM_B].map((form) => formOverview(form, {}, old));
    const stale = healthOf(passes, { targets: paused([], forms) });
    expect(evaluateAll(NO_ALERTS, stale, true).alerts.map(({ problem }) => problem.code)).toEqual([
      'STALE',
    ]);
    const whole = healthOf(passes, { targets: paused([pause(null, 3 * DAY)], forms) });
    expect(whole.problems).toEqual([]);
    expect(evaluateAll(NO_ALERTS, whole, true).alerts).toEqual([]);
    const one = healthOf(passes, { targets: paused([pause(FORM_A.id, 3 * DAY)], forms) });
    expect(formOf(one).problems).toEqual([]);
    expect(formOf(one, FORM_B).problems).toMatchObject([{ code: 'STALE' }]);
  });

  it('announces no end of what failed before it was paused, and goes on when it is resumed', () => {
    const passes = { 'db frm_a': [failedPass(600_000, 'FORMS_FAILED', 'broken')] };
    const failing = healthOf(passes);
    let { state, alerts } = evaluateAll(NO_ALERTS, failing, true);
    for (let n = 0; n < 3 && alerts.length === 0; n++) {
      ({ state, alerts } = evaluateAll(state, { ...failing, nowMs: NOW + n * 300_000 }, true));
    }
    expect(alerts.map(({ status }) => status)).toEqual(['firing']);
    const resting = healthOf(passes, { targets: paused([pause(FORM_A.id)]) });
    expect(formOf(resting)).toMatchObject({
      state: 'paused',
      problems: [{ title: 'The last pass failed' }],
    });
    const later = evaluateAll(state, { ...resting, nowMs: NOW + 2 * DAY }, true);
    expect(later.alerts).toEqual([]);
    expect(later.state.subjects).toEqual(state.subjects);
    const fresh = [passRecord(-DAY)];
    const well = healthOf({ 'db frm_a': fresh, 'db frm_b': fresh }, { nowMs: NOW + DAY });
    const isOver = (from: typeof state): string[] => {
      const first = evaluateAll(from, well, true);
      const second = evaluateAll(first.state, { ...well, nowMs: well.nowMs + 600_000 }, true);
      return [...first.alerts, ...second.alerts].map(({ status }) => status);
    };
    expect(isOver(later.state)).toEqual(['resolved']);
  });

  it('a failure of the target from before it was paused is none any more', () => {
    const failed = [failedPass(600_000, 'TARGET_FULL', 'There is no room.')];
    const passes = { 'db frm_a': failed, 'db frm_b': failed };
    expect(healthOf(passes).targets[0]?.problem).toMatchObject({ code: 'TARGET_FULL' });
    const resting = healthOf(passes, { targets: paused([pause(null)]) });
    expect(resting.targets[0]).toMatchObject({ problem: null, state: 'paused' });
  });

  it('a sheet shows it in place of its state, and never calls it stale', () => {
    const describe = describeHealth('sheet', 45);
    expect(describe(formOverview(FORM_A), NOW, { ...pause(null) })).toMatchObject({
      state: 'paused',
      title: 'Paused since 2026-05-12 08:30:00 UTC by command line, ann@ops-1',
      message: 'a new tab',
      remedy: 'To go on: forms-mirror resume --target sheet',
    });
    expect(describe(formOverview(FORM_A), NOW, null).state).toBe('ok');
  });
});
