import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { writeBackReport } from '../../src/sync/write-back.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { Metrics } from '../../src/web/metrics.ts';
import { Events } from '../../src/base/events.ts';
import { projectText } from '../support/readme.ts';
import {
  failingReport,
  FORM_A,
  FORM_B,
  formReport,
  realisticReport,
  reportOf,
} from './fixtures.ts';
import { judge } from '../../src/health/judge.ts';
import { factsOf, HOUR, NOW, run } from '../health/facts.ts';
import { startPage } from './start-page.ts';

const open = (role: 'start' | 'worker' = 'start'): Metrics =>
  new Metrics({ version: '1.2.3', role });

/** Our samples, without the common prefix of their names. */
const samplesIn = (text: string): string[] =>
  text.split('\n').flatMap((line) => /^forms_mirror_(.*)$/.exec(line)?.[1] ?? []);

type CountedRun = SyncEvents['run.ended'];

const aRun = (changes: Partial<CountedRun> = {}): CountedRun => {
  const counts = { requests: 12, inserted: 7, updated: 2, deleted: 1, rejected: 3 };
  return { ...run(0, counts), form: FORM_A, target: 'db', ...changes } as CountedRun;
};

const SENT = { status: 200, ms: 80, waitedMs: 0 };

describe('the metrics of a process', () => {
  it('count its runs, write-backs, requests, jobs and bytes; a worker shows nothing about the mirror', async () => {
    const metrics = open('worker');
    const events = new Events<SyncEvents>();
    metrics.count(events);
    events.emit('run.ended', aRun());
    events.emit('run.ended', aRun({ outcome: 'incomplete', inserted: 0, requests: 3 }));
    events.emit('write-back.ended', {
      ...writeBackReport(FORM_A, new MirrorError('FORMS_FAILED', '')),
      written: 4,
      refused: 1,
      failed: 3,
    });
    for (const status of [200, 204, 302, 404, 401, 418, 429, 500, 599, null])
      events.emit('forms.sent', { ...SENT, status });
    events.emit('forms.sent', { ...SENT, waitedMs: 1_500 });
    events.emit('forms.retry', {
      request: 'x',
      attempt: 1,
      delayMs: 250,
      reason: 'answered 503',
    });
    events.emit('target.billed', { target: 'db', bytes: 10_485_760 });
    events.emit('target.billed', { target: 'db', bytes: 1 });
    const job = {
      step: 'sync',
      target: 'db',
      code: null,
      formId: 'frm_a',
      willRetry: false,
    } as const;
    events.emit('job.ended', job);
    events.emit('job.ended', { ...job, code: 'TARGET_FULL' });
    events.emit('job.recovered', { queue: 'sync.db' });
    const text = await metrics.text(false, realisticReport());
    expect(samplesIn(text).filter((name) => !name.includes('_bucket'))).toEqual([
      `build_info{version="1.2.3",node="${process.version}",role="worker"} 1`,
      'queue_up 0',
      'source_responses_total{status="2xx"} 3',
      'source_responses_total{status="3xx"} 1',
      'source_responses_total{status="4xx"} 3',
      'source_responses_total{status="429"} 1',
      'source_responses_total{status="5xx"} 2',
      'source_responses_total{status="none"} 1',
      expect.stringMatching(/^source_request_duration_seconds_sum 0\.8/),
      'source_request_duration_seconds_count 11',
      'source_wait_seconds_total{for="turn"} 1.5',
      'source_wait_seconds_total{for="retry"} 0.25',
      'runs_total{form="frm_a",target="db",outcome="ok"} 1',
      'runs_total{form="frm_a",target="db",outcome="incomplete"} 1',
      'run_duration_seconds_sum{target="db"} 1.6',
      'run_duration_seconds_count{target="db"} 2',
      'row_changes_total{form="frm_a",target="db",change="inserted"} 7',
      'row_changes_total{form="frm_a",target="db",change="updated"} 4',
      'row_changes_total{form="frm_a",target="db",change="deleted"} 2',
      'row_changes_total{form="frm_a",target="db",change="rejected"} 6',
      'status_changes_total{form="frm_a",outcome="written"} 4',
      'status_changes_total{form="frm_a",outcome="refused"} 1',
      'status_changes_total{form="frm_a",outcome="failed"} 3',
      'target_billed_bytes_total{target="db"} 10485761',
      'job_failures_total{step="sync",target="db",code="TARGET_FULL"} 1',
      'jobs_recovered_total 1',
    ]);
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'])
      expect(text).toMatch(new RegExp(`^${name} [\\d.e-]+$`, 'm'));
  });
});

describe('the metrics of start', () => {
  it('count changes from zero, so that the first run is part of a rate', async () => {
    await using page = await startPage();
    const all = samplesIn(await page.text('/metrics'));
    expect(all).toContain('row_changes_total{form="frm_a",target="db",change="inserted"} 0');
  });

  it('show targets, the queue and each problem of them once, and remove them once they are over', async () => {
    await using page = await startPage(realisticReport());
    const shown = async (pattern: RegExp): Promise<string[]> =>
      samplesIn(await page.text('/metrics')).filter((name) => pattern.test(name));
    expect(await shown(/^(queue|target_up)/)).toEqual(
      expect.arrayContaining([
        'target_up{target="team-sheet"} 1',
        'queue_up 1',
        'queue_jobs{state="waiting"} 2',
        'queue_jobs{state="active"} 1',
      ]),
    );
    page.report = failingReport();
    expect(await shown(/^(problem|target_up){/)).toEqual([
      'problem{code="FORMS_FAILED",form="",target=""} 1',
      'problem{code="TARGET_UNREACHABLE",form="",target="warehouse"} 1',
      'target_up{target="warehouse"} 0',
    ]);
    const { queue } = page.report;
    page.report = reportOf([], { queue: queue && { ...queue, isReachable: false } });
    page.queue = { isReachable: false, problem: null };
    expect(await shown(/^(problem|form_state|queue)/)).toEqual(['queue_up 0']);
  });

  it('L17: show the state, the claim and the rows of each form in each target', async () => {
    const tally = { rows: { NEW: 100 }, deleted: 7, rejected: 3, held: 5, undecided: 2 };
    const state = { statusesAsOfMs: NOW - HOUR };
    await using page = await startPage(judge(factsOf({ a: { tally, state } })));
    const ofForm = samplesIn(await page.text('/metrics')).filter(
      (name) => name.includes('form="frm_a"') && !/_info|_total| 0$/.test(name),
    );
    const seconds = (agoMs: number): number => (NOW - agoMs) / 1_000;
    expect(ofForm.map((name) => name.replace(/form="frm_a",target="db",?/, ''))).toEqual([
      'problem{code="DELETIONS_HELD",} 1',
      'form_state{state="attention"} 1',
      `submissions_timestamp_seconds{} ${seconds(20_000)}`,
      `statuses_timestamp_seconds{} ${seconds(HOUR)}`,
      `answers_timestamp_seconds{} ${seconds(2 * HOUR)}`,
      'rows{state="live"} 100',
      'rows{state="deleted"} 7',
      'rejected_submissions{} 3',
      'held_deletions{} 5',
      'undecided_rows{} 2',
    ]);
  });

  it('L11: contain only form IDs, target names and words of fixed lists', async () => {
    await using page = await startPage(realisticReport());
    const events = new Events<SyncEvents>();
    page.metrics.count(events);
    events.emit('run.ended', Object.assign(aRun(), { error: 'The answer "secret" of sub_9' }));
    const labels = samplesIn(await page.text('/metrics'))
      .filter((name) => !/^(build|form)_info/.test(name))
      .flatMap((name) =>
        [...name.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => `${label}=${value}`),
      );
    const ids = labels.filter((label) => label.startsWith('form='));
    expect(ids.every((label) => /^form=frm_\w+$/.test(label))).toBe(true);
    const names = new Set(labels.map((label) => label.split('=')[0]));
    expect(names).toEqual(
      new Set('change code for form le outcome state status target'.split(' ')),
    );
    expect(labels.join()).not.toMatch(/secret|sub_|Kontakt|Form A/);
  });

  it('name each form once, on one line, for joins', async () => {
    const odd = { ...FORM_A, name: `A "form"\n\u001b[31m${'x'.repeat(300)}` };
    await using page = await startPage(
      reportOf([formReport(odd), formReport(FORM_A, 'sheet'), formReport(FORM_B, 'sheet')]),
    );
    const lines = async (): Promise<string[]> =>
      samplesIn(await page.text('/metrics')).filter((name) => name.startsWith('form_info{'));
    expect(await lines()).toEqual([
      'form_info{form="frm_a",slug="a",name="Form A"} 1',
      'form_info{form="frm_b",slug="b",name="Form B"} 1',
    ]);
    page.report = reportOf([formReport(odd)]);
    const [line = ''] = await lines();
    expect(line).toMatch(/name="A \\"form\\" �\[31mx+"\} 1$/);
    expect(line.length).toBeLessThan(200);
  });

  it('are as many for 200 forms as docs/operating.md says', async () => {
    const forms = Array.from({ length: 200 }, (_, at) => ({
      id: `frm_${at}`,
      slug: `form-${at}`,
      name: `Form ${at}`,
    }));
    await using page = await startPage(reportOf(forms.map((form) => formReport(form))));
    const events = new Events<SyncEvents>();
    page.metrics.count(events);
    for (const form of forms) events.emit('run.ended', aRun({ form }));
    const said = /200 forms in one target have ([\d,]+) series/.exec(
      projectText('docs/operating.md'),
    );
    expect(samplesIn(await page.text('/metrics')).length).toBe(
      Number(said?.[1]?.replaceAll(',', '')),
    );
  });
});
