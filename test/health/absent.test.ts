import { describe, expect, it } from 'vitest';
import { coverageText } from '../../src/health/coverage.ts';
import type { HealthFacts } from '../../src/health/facts.ts';
import { assessForm } from '../../src/health/form-health.ts';
import { addPass, summaryOf } from '../../src/health/pass-summary.ts';
import { describeHealth } from '../../src/health/recorded-health.ts';
import { headline, summary } from '../../src/health/headline.ts';
import { lastPassText, reportOf } from '../../src/health/report.ts';
import { formMain } from '../../src/web/form-page.ts';
import { overviewMain } from '../../src/web/overview-page.ts';
import { formOverview, NOW, passRecord } from './fake-source.ts';
import { FORM_A, FORM_B, formOf, healthOf, reading } from './health-of.ts';

/** The first form as the target holds it, of which the source no longer counts so many rows. */
function overviewWith(absent: number) {
  const overview = formOverview(FORM_A);
  return { ...overview, checkpoint: overview.checkpoint && { ...overview.checkpoint, absent } };
}

function seen(absent: number, changes: Partial<HealthFacts> = {}) {
  const forms = [overviewWith(absent), formOverview(FORM_B)];
  const overview = { kind: 'postgres', address: 'postgres://db', forms };
  const health = healthOf({}, { targets: [reading({ overview })], ...changes });
  return { health, report: reportOf(health, '1') };
}

describe('a form of which deletions are known that no pass has found', () => {
  it('L17: is not up to date on any surface, and asks nothing of anybody', () => {
    const { health, report } = seen(3);
    const form = formOf(health);
    expect(form).toMatchObject({ state: 'waiting', title: '3 deletions to look for' });
    expect(form.problems).toEqual([]);
    expect(health.state).toBe('waiting');
    expect(headline(report)).toBe('Deletions to look for in 1 of 2 forms');
    expect(summary(report)).toContain(
      'submissions as of 20 s ago except for 3 no longer counted, statuses and answers as of 2 h ago',
    );
    expect(report.forms.map(lastPassText)).toEqual(['complete except for deletions', 'complete']);
    const page = overviewMain(report).text;
    expect(page).toContain('except for 3 no longer counted');
    expect(page).toContain('medal waiting');
    expect(page).toContain('finds out which, the next full one at the latest, in 4 h');
    expect(formMain(report, report.forms.slice(0, 1), []).text).toContain(
      'By its count the source has 3 submissions fewer than are stored here',
    );
  });

  it('L17: is not up to date while its next pass runs', () => {
    const running = { kind: 'incremental', startedAtMs: NOW, heardAtMs: NOW, seen: 0, total: 0 };
    const { health, report } = seen(1, { running: () => ({ ...running, kind: 'incremental' }) });
    expect(formOf(health)).toMatchObject({ state: 'working' });
    expect([health.state, headline(report)]).toEqual([
      'waiting',
      'Deletions to look for in 1 of 2 forms',
    ]);
  });

  it('L17: is known by the pass that has just ended, before the target is read again', () => {
    const known = { ...formOf(seen(0).health), running: null, wanted: true };
    const context = { nowMs: NOW, stale: null, isShared: () => false, nextRunAt: null };
    const alone = { ...context, nextFullAt: null, shared: null, overdueSince: null };
    const after = (absent: number) =>
      assessForm(
        { ...known, summary: addPass(known.summary, { ...passRecord(1_000), absent }) },
        alone,
      );
    expect(after(2)).toMatchObject({ state: 'waiting', covers: { absent: 2 } });
    expect(after(0)).toMatchObject({ state: 'ok', title: 'Up to date (submissions)' });
  });

  it('L17: is said so on the Mirror tab, in words that stay the same while nothing changes', () => {
    const describeForm = describeHealth('default', 45);
    const shown = describeForm(overviewWith(1), NOW);
    expect(shown).toMatchObject({
      state: 'waiting',
      title: '1 deletion to look for',
      remedy: null,
    });
    expect(shown.message).toContain(
      'By its count the source has 1 submission fewer than are stored here',
    );
    expect(describeForm(overviewWith(1), NOW + 600_000)).toEqual(shown);
  });
});

describe('a form whose deletions were withheld', () => {
  const withheld = passRecord(3_600_000, { kind: 'full', outcome: 'withheld', withheld: 250 });
  const carried = passRecord(20_000, { outcome: 'withheld', withheld: 250 });

  it('L17: needs attention after every incremental pass that follows, whatever the full ones do', () => {
    const failed = passRecord(60_000, { kind: 'full', outcome: 'failed', code: 'FORMS_FAILED' });
    for (const passes of [
      [withheld, carried],
      [withheld, passRecord(20_000)],
      [failed, carried],
    ]) {
      const form = formOf(healthOf({ 'db frm_a': passes }));
      expect(form.state).toBe('attention');
      expect(form.problems.map(({ code }) => code)).toContain('DELETIONS_HELD');
      expect(coverageText(form.covers, NOW)).toContain('as of 20 s ago except for 250 withheld');
    }
  });

  it('is well again after a full pass that settled them', () => {
    const settled = [withheld, carried, passRecord(1_000, { kind: 'full' })];
    expect(formOf(healthOf({ 'db frm_a': settled })).state).toBe('ok');
    expect(summaryOf(settled, NOW).withheld).toBe(0);
  });
});

describe('a copy that was damaged', () => {
  it('has times that are not known, not times that never were', () => {
    const forms = [formOverview(FORM_A, { losses: [{ what: 'rows', missing: 4 }] })];
    const overview = { kind: 'postgres', address: 'postgres://db', forms };
    const report = reportOf(healthOf({}, { targets: [reading({ overview })] }), '1');
    const page = overviewMain(report).text;
    expect(page).toContain('unknown');
    expect(page).not.toContain('never');
  });
});
