import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import {
  FakeSource,
  QUEUE,
  before,
  formOverview,
  passRecord,
  passReport,
} from '../health/fake-source.ts';
import { projectText } from '../support/readme.ts';
import { realisticSource } from './realistic-source.ts';
import { calmSource, startPage } from './start-page.ts';
import { FORM_A, FORM_B } from '../health/health-of.ts';

/** The samples by name and labels; labels in the order in which they are written. */
async function samples(text: Promise<string>): Promise<Map<string, number>> {
  const lines = (await text).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

const ours = (all: Map<string, number>): string[] =>
  [...all.keys()].filter((name) => name.startsWith('forms_mirror_'));

describe('metrics', () => {
  it('count passes of this process and of other workers, each once', async () => {
    await using page = await startPage();
    const full = passRecord(0, {
      kind: 'full',
      inserted: 7,
      updated: 2,
      deleted: 1,
      rejected: 3,
      requests: 12,
    });
    page.events.emit('pass.ended', passReport(FORM_A, 'db', full));
    const passes = [
      passRecord(-8_000),
      passRecord(-4_000, { outcome: 'incomplete' }),
      passRecord(20_000),
    ];
    page.source.histories.set('db/frm_b', passes);
    page.source.hold('db', [formOverview(FORM_A, {}, [full]), formOverview(FORM_B, {}, passes)]);
    await page.reread();
    await page.reread();
    const all = await samples(page.text('/metrics'));
    const passesTotal = (form: string, kind: string, outcome: string): number | undefined =>
      all.get(
        `forms_mirror_passes_total{form="${form}",target="db",kind="${kind}",outcome="${outcome}"}`,
      );
    expect(passesTotal('frm_a', 'full', 'ok')).toBe(1);
    expect(passesTotal('frm_b', 'incremental', 'ok')).toBe(1);
    expect(passesTotal('frm_b', 'incremental', 'incomplete')).toBe(1);
    const change = (name: string): number | undefined =>
      all.get(`forms_mirror_row_changes_total{form="frm_a",target="db",change="${name}"}`);
    expect(['inserted', 'updated', 'deleted', 'rejected'].map(change)).toEqual([7, 2, 1, 3]);
    expect(all.get('forms_mirror_api_requests_total{form="frm_a",target="db"}')).toBe(12);
    expect(all.get('forms_mirror_pass_duration_seconds_sum{target="db",kind="full"}')).toBe(0.8);
    expect(
      all.get('forms_mirror_pass_duration_seconds_count{target="db",kind="incremental"}'),
    ).toBe(2);
  });

  it('count retries and marks', async () => {
    await using page = await startPage();
    const retry = { request: 'GET /forms', attempt: 1, delayMs: 5, reason: 'answered 503' };
    page.events.emit('forms.retry', retry);
    page.events.emit('forms.retry', retry);
    page.events.emit('mark.ended', {
      form: FORM_A,
      outcome: 'partial',
      marked: 4,
      adopted: 0,
      refused: 1,
      failed: 3,
      waiting: 2,
      remembered: 5,
      unmarked: [],
      wouldMark: [],
      failure: new MirrorError('FORMS_FAILED', '3 submissions could not be set to DONE.'),
    });
    const all = await samples(page.text('/metrics'));
    expect(all.get('forms_mirror_api_retries_total')).toBe(2);
    expect(all.get('forms_mirror_marks_total{form="frm_a",outcome="marked"}')).toBe(4);
    expect(all.get('forms_mirror_marks_total{form="frm_a",outcome="refused"}')).toBe(1);
    expect(all.get('forms_mirror_marks_total{form="frm_a",outcome="failed"}')).toBe(3);
    expect(all.get('forms_mirror_marking_runs_total{form="frm_a",outcome="partial"}')).toBe(1);
  });

  it('count what passes write and ask from zero, so that the first one shows in a rate', async () => {
    await using page = await startPage();
    const first = await samples(page.text('/metrics'));
    const inserted = 'forms_mirror_row_changes_total{form="frm_a",target="db",change="inserted"}';
    const asked = 'forms_mirror_api_requests_total{form="frm_a",target="db"}';
    expect([first.get(inserted), first.get(asked)]).toEqual([0, 0]);
    page.events.emit('pass.ended', passReport(FORM_A, 'db', passRecord(0, { inserted: 7 })));
    const second = await samples(page.text('/metrics'));
    expect(second.get(inserted)).toBe(7);
  });

  it('tell of refused marks as targets record them, whichever process marked', async () => {
    const source = new FakeSource();
    const marking = { since: before(60_000), code: null, error: null, refused: 5 };
    const name = 'forms_mirror_marks_refused';
    source.hold('db', [formOverview(FORM_A, { marking }), formOverview(FORM_B)]);
    source.hold('sheet', [formOverview(FORM_A, { marking: { ...marking, refused: 3 } })]);
    await using page = await startPage(source);
    const told = async () =>
      ours(await samples(page.text('/metrics'))).filter((one) => one.startsWith(name));
    expect(await told()).toEqual([`${name}{form="frm_a"}`]);
    expect((await samples(page.text('/metrics'))).get(`${name}{form="frm_a"}`)).toBe(5);
    // What one process met when it last marked, another may have settled since.
    source.hold('db', [formOverview(FORM_A), formOverview(FORM_B)]);
    source.hold('sheet', [formOverview(FORM_A)]);
    await page.reread();
    expect(await told()).toEqual([]);
  });

  it('show lag, rows, states, targets and the queue as they stand', async () => {
    await using page = await startPage(realisticSource());
    const all = await samples(page.text('/metrics'));
    expect(all.get('forms_mirror_lag_seconds{form="frm_7f2k1q",target="warehouse"}')).toBe(22);
    expect(all.get('forms_mirror_rows{form="frm_7f2k1q",target="warehouse",state="live"}')).toBe(
      18_204,
    );
    expect(all.get('forms_mirror_rows{form="frm_7f2k1q",target="warehouse",state="deleted"}')).toBe(
      12,
    );
    expect(all.get('forms_mirror_withheld_deletions{form="frm_9s0dd2",target="warehouse"}')).toBe(
      312,
    );
    expect(all.get('forms_mirror_rejected_submissions{form="frm_1aa0z8",target="warehouse"}')).toBe(
      3,
    );
    expect(
      all.get('forms_mirror_form_state{form="frm_44hq0x",target="warehouse",state="failed"}'),
    ).toBe(1);
    expect(
      all.get('forms_mirror_form_state{form="frm_44hq0x",target="warehouse",state="ok"}'),
    ).toBe(0);
    expect(all.get('forms_mirror_target_up{target="team-sheet"}')).toBe(1);
    expect(all.get('forms_mirror_queue_up')).toBe(1);
    expect(
      all.get('forms_mirror_queue_jobs{step="mark",target="",kind="",state="waiting_for_passes"}'),
    ).toBe(2);
    expect(all.get('forms_mirror_schedule_overdue{kind="full"}')).toBe(0);
    expect(
      [...all.keys()].some((name) => name.startsWith('forms_mirror_build_info{version="1.2.3"')),
    ).toBe(true);
    expect(all.has('process_cpu_seconds_total')).toBe(true);
    // One that is gone falls behind for ever; nobody wants to be called for that.
    expect(all.has('forms_mirror_lag_seconds{form="frm_old123",target="warehouse"}')).toBe(false);
  });

  it('forget forms that a target no longer holds, and say when the queue is away', async () => {
    await using page = await startPage();
    page.source.hold('db', [formOverview(FORM_A)]);
    page.source.queueState = { ...QUEUE, reachable: false };
    await page.reread();
    const all = await samples(page.text('/metrics'));
    expect(ours(all).filter((name) => name.includes('frm_b'))).toEqual([]);
    expect(all.get('forms_mirror_queue_up')).toBe(0);
    expect(ours(all).filter((name) => name.startsWith('forms_mirror_queue_jobs'))).toEqual([]);
  });

  it('L11: hold form IDs, target names and words of fixed lists; nothing else gets in', async () => {
    await using page = await startPage(realisticSource());
    const error = 'The answer "secret" of sub_9';
    page.events.emit(
      'pass.ended',
      passReport(FORM_A, 'db', passRecord(0, { outcome: 'failed', error })),
    );
    const all = await samples(page.text('/metrics'));
    const labels = ours(all)
      .filter((name) => !/^forms_mirror_(build|form)_info/.test(name))
      .flatMap((name) =>
        [...name.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => `${label}=${value}`),
      );
    const ids = labels.filter((label) => label.startsWith('form='));
    expect(ids.every((label) => /^form=frm_\w+$/.test(label))).toBe(true);
    const names = new Set(
      labels.filter((label) => !label.startsWith('form=')).map((label) => label.split('=')[0]),
    );
    const known = new Set('change for kind le outcome state status step target'.split(' '));
    expect(names).toEqual(known);
    expect(labels.join()).not.toMatch(/secret|sub_|Kontakt|Form A/);
  });

  it('name each form once, on one line, for others to join', async () => {
    const source = new FakeSource();
    const odd = { ...FORM_A, name: `A "form"\n\u001b[31m${'x'.repeat(300)}` };
    source.hold('db', [formOverview(odd)]);
    source.hold('sheet', [formOverview(FORM_A), formOverview(FORM_B)]);
    await using page = await startPage(source);
    const lines = (await page.text('/metrics'))
      .split('\n')
      .filter((line) => line.startsWith('forms_mirror_form_info{'));
    expect(lines).toEqual([
      `forms_mirror_form_info{form="frm_a",slug="${FORM_A.slug}",name="${FORM_A.name}"} 1`,
      `forms_mirror_form_info{form="frm_b",slug="${FORM_B.slug}",name="${FORM_B.name}"} 1`,
    ]);
    source.hold('sheet', [formOverview(FORM_B)]);
    await page.reread();
    const [line = ''] = (await page.text('/metrics')).match(/^forms_mirror_form_info.*$/m) ?? [];
    expect(line).toMatch(/name="A \\"form\\" ␛\[31mx+"\} 1$/);
    expect(line.length).toBeLessThan(200);
  });

  it('say since when the next job of each queue waits', async () => {
    await using page = await startPage();
    const [plan, mark] = QUEUE.queues;
    const queues = [
      { ...plan!, waitingSinceMs: null },
      { ...mark!, waitingSinceMs: 1_778_578_000_500 },
    ];
    page.source.queueState = { ...QUEUE, queues };
    await page.reread();
    const all = await samples(page.text('/metrics'));
    const named = ours(all).filter((name) => name.includes('oldest_waiting'));
    const only =
      'forms_mirror_queue_oldest_waiting_timestamp_seconds{step="mark",target="",kind=""}';
    expect(named).toEqual([only]);
    expect(all.get(only)).toBe(1_778_578_000.5);
  });

  it('are as many for 200 forms as docs/operating.md says', async () => {
    const source = new FakeSource();
    const forms = Array.from({ length: 200 }, (_, index) => ({
      id: `frm_${index}`,
      slug: `form-${index}`,
      name: `Form ${index}`,
    }));
    source.hold(
      'db',
      forms.map((form) => formOverview(form)),
    );
    await using page = await startPage(source);
    for (const form of forms) {
      for (const kind of ['incremental', 'full', 'compare'] as const) {
        page.events.emit('pass.ended', passReport(form, 'db', passRecord(0, { kind })));
      }
    }
    const all = await samples(page.text('/metrics'));
    const told = /200 forms in one target have ([\d,]+) series/.exec(
      projectText('docs/operating.md'),
    );
    expect(ours(all).length).toBe(Number(told?.[1]?.replaceAll(',', '')));
  });

  it('are plain Prometheus text', async () => {
    await using page = await startPage(calmSource());
    const response = await page.get('/metrics');
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect((await response.text()).endsWith('\n')).toBe(true);
  });
});
