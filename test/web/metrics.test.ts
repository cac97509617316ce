import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { nothingWritten } from '../../src/sync/write-back.ts';
import { type CountedRun, Metrics } from '../../src/web/metrics.ts';
import { projectText } from '../support/readme.ts';
import {
  CONTACT,
  failingReport,
  FORM_A,
  FORM_B,
  formReport,
  NOW,
  realisticReport,
  reportOf,
} from './fixtures.ts';
import { run } from '../health/facts.ts';
import { startPage } from './start-page.ts';

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

const open = (role: 'start' | 'worker' = 'start'): Metrics =>
  new Metrics({ version: '1.2.3', role });

const ours = (all: Map<string, number>): string[] =>
  [...all.keys()].filter((name) => name.startsWith('forms_mirror_'));

/** Those whose name begins so, with their values. */
const beginning = async (metrics: Metrics, part: string): Promise<string[]> =>
  [...(await samples(metrics.text(true)))]
    .filter(([name]) => name.startsWith(`forms_mirror_${part}`))
    .map(([name, value]) => `${name.replace('forms_mirror_', '')} ${value}`);

const aRun = (changes: Partial<CountedRun> = {}): CountedRun => {
  const counts = { requests: 12, inserted: 7, updated: 2, deleted: 1, rejected: 3 };
  return { ...run(0, counts), form: FORM_A, target: 'db', ...changes };
};

const SENT = { status: 200, ms: 80, waitedMs: 0, perMinute: null };

describe('the metrics of a process', () => {
  it('count its runs and write-backs', async () => {
    const metrics = open('worker');
    metrics.run(aRun());
    metrics.run(aRun({ outcome: 'incomplete', inserted: 0, requests: 3 }));
    const counts = { written: 4, refused: 1, failed: 3 };
    metrics.writeBack({
      ...nothingWritten(FORM_A, new MirrorError('FORMS_FAILED', '')),
      ...counts,
    });
    expect(await beginning(metrics, 'runs_total')).toEqual([
      'runs_total{form="frm_a",target="db",outcome="ok"} 1',
      'runs_total{form="frm_a",target="db",outcome="incomplete"} 1',
    ]);
    expect(await beginning(metrics, 'row_changes_total')).toEqual([
      'row_changes_total{form="frm_a",target="db",change="inserted"} 7',
      'row_changes_total{form="frm_a",target="db",change="updated"} 4',
      'row_changes_total{form="frm_a",target="db",change="deleted"} 2',
      'row_changes_total{form="frm_a",target="db",change="rejected"} 6',
    ]);
    expect(await beginning(metrics, 'api_requests_total')).toEqual([
      'api_requests_total{form="frm_a",target="db"} 15',
    ]);
    expect(await beginning(metrics, 'run_duration_seconds_sum')).toEqual([
      'run_duration_seconds_sum{target="db"} 1.6',
    ]);
    expect(await beginning(metrics, 'status_changes_total')).toEqual([
      'status_changes_total{form="frm_a",outcome="written"} 4',
      'status_changes_total{form="frm_a",outcome="refused"} 1',
      'status_changes_total{form="frm_a",outcome="failed"} 3',
    ]);
    expect(await beginning(metrics, 'write_backs_total')).toEqual([
      'write_backs_total{form="frm_a",outcome="failed"} 1',
    ]);
  });

  it('count requests to the source by answer, in six words, with any answer of the server', async () => {
    const metrics = open();
    for (const status of [200, 204, 302, 404, 401, 418, 429, 500, 599, null]) {
      metrics.sent({ ...SENT, status });
    }
    expect(await beginning(metrics, 'source_responses_total')).toEqual([
      'source_responses_total{status="2xx"} 2',
      'source_responses_total{status="3xx"} 1',
      'source_responses_total{status="4xx"} 3',
      'source_responses_total{status="429"} 1',
      'source_responses_total{status="5xx"} 2',
      'source_responses_total{status="none"} 1',
    ]);
    const buckets = await beginning(metrics, 'source_request_duration_seconds_bucket');
    expect(buckets.slice(0, 2)).toEqual([
      'source_request_duration_seconds_bucket{le="0.05"} 0',
      'source_request_duration_seconds_bucket{le="0.1"} 10',
    ]);
  });

  it('add up what requests waited for, and show the rate while there is one', async () => {
    const metrics = open();
    const waits = () => beginning(metrics, 'source_wait');
    const rate = () => beginning(metrics, 'source_rate');
    expect(await waits()).toEqual([
      'source_wait_seconds_total{for="turn"} 0',
      'source_wait_seconds_total{for="retry"} 0',
    ]);
    expect(await rate()).toEqual([]);
    metrics.sent({ ...SENT, waitedMs: 1_500, perMinute: 600 });
    metrics.retried({ delayMs: 250 });
    expect(await waits()).toEqual([
      'source_wait_seconds_total{for="turn"} 1.5',
      'source_wait_seconds_total{for="retry"} 0.25',
    ]);
    expect(await rate()).toEqual(['source_rate_per_minute 600']);
    metrics.sent(SENT);
    expect(await rate()).toEqual([]);
  });

  it('count the bytes that a target billed', async () => {
    const metrics = open();
    metrics.billed({ target: 'db', bytes: 10_485_760 });
    metrics.billed({ target: 'db', bytes: 1 });
    expect(await beginning(metrics, 'target_billed_bytes_total')).toEqual([
      'target_billed_bytes_total{target="db"} 10485761',
    ]);
  });

  it('count jobs without naming forms, failures by their code, and recoveries', async () => {
    const metrics = open();
    const job = { step: 'sync', target: 'db', code: null, formId: 'frm_a' };
    metrics.job({ ...job, outcome: 'ok' });
    metrics.job({ ...job, outcome: 'ok' });
    metrics.job({ ...job, outcome: 'failed', code: 'TARGET_FULL' });
    metrics.job({ ...job, step: 'write-back', target: null, outcome: 'done' });
    metrics.jobRecovered();
    metrics.queueFailed();
    expect(await beginning(metrics, 'job')).toEqual([
      'jobs_total{step="sync",target="db",outcome="ok"} 2',
      'jobs_total{step="sync",target="db",outcome="failed"} 1',
      'jobs_total{step="write-back",target="",outcome="done"} 1',
      'job_failures_total{step="sync",target="db",code="TARGET_FULL"} 1',
      'jobs_recovered_total 1',
    ]);
    expect(await beginning(metrics, 'queue_errors')).toEqual(['queue_errors_total 1']);
  });

  it('are those of memory and event loop, too; a worker shows nothing of the mirror', async () => {
    const text = await open('worker').text(false, realisticReport());
    expect(text).toContain('forms_mirror_queue_up 0');
    expect(text).toMatch(
      /^forms_mirror_build_info\{version="1\.2\.3",node="v[\d.]+",role="worker"\} 1$/m,
    );
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'])
      expect(text).toMatch(new RegExp(`^${name} [\\d.e-]+$`, 'm'));
    expect(text).not.toContain('forms_mirror_form_state');
  });
});

describe('the metrics of start', () => {
  it('show the report: claims, rows, states, problems, targets and the queue', async () => {
    await using page = await startPage(realisticReport());
    const all = await samples(page.text('/metrics'));
    const of = (name: string, form: string, more = ''): number | undefined =>
      all.get(`forms_mirror_${name}{form="${form}",target="warehouse"${more}}`);
    expect(of('submissions_timestamp_seconds', CONTACT.id)).toBe(NOW / 1_000 - 20);
    expect(of('statuses_timestamp_seconds', CONTACT.id)).toBe(NOW / 1_000 - 20);
    expect(of('answers_timestamp_seconds', CONTACT.id)).toBe(NOW / 1_000 - 7_200);
    expect(of('answers_timestamp_seconds', 'frm_new5lt')).toBeUndefined();
    expect(of('rows', CONTACT.id, ',state="live"')).toBe(18_204);
    expect(of('rows', CONTACT.id, ',state="deleted"')).toBe(12);
    expect(of('held_deletions', 'frm_9s0dd2')).toBe(312);
    expect(of('undecided_rows', 'frm_9s0dd2')).toBe(0);
    expect(of('rejected_submissions', 'frm_1aa0z8')).toBe(3);
    expect(of('form_state', 'frm_44hq0x', ',state="failed"')).toBe(1);
    expect(of('form_state', 'frm_44hq0x', ',state="ok"')).toBe(0);
    const held = 'code="DELETIONS_HELD",form="frm_9s0dd2",target="warehouse"';
    expect(all.get(`forms_mirror_problem{${held}}`)).toBe(1);
    expect(all.get('forms_mirror_target_up{target="team-sheet"}')).toBe(1);
    expect(all.get('forms_mirror_queue_up')).toBe(1);
    expect(all.get('forms_mirror_queue_jobs{state="waiting"}')).toBe(2);
    expect(all.get('forms_mirror_queue_jobs{state="active"}')).toBe(1);
  });

  it('show a problem of the source or a target once, and forget it once it is over', async () => {
    await using page = await startPage(failingReport());
    const problems = async (): Promise<string[]> =>
      ours(await samples(page.text('/metrics'))).filter((name) => name.includes('_problem{'));
    expect(await problems()).toEqual([
      'forms_mirror_problem{code="FORMS_UNREACHABLE",form="",target=""}',
      'forms_mirror_problem{code="TARGET_UNREACHABLE",form="",target="warehouse"}',
    ]);
    expect(await page.text('/metrics')).toContain('forms_mirror_target_up{target="warehouse"} 0');
    const { queue } = page.report;
    page.report = reportOf([], { queue: queue && { ...queue, isReachable: false } });
    expect(await problems()).toEqual([]);
    const all = await samples(page.text('/metrics'));
    expect(ours(all).filter((name) => /state|queue_jobs/.test(name))).toEqual([]);
    expect(all.get('forms_mirror_queue_up')).toBe(0);
  });

  it('count what runs write and ask from zero, so that the first one shows in a rate', async () => {
    await using page = await startPage();
    const inserted = 'forms_mirror_row_changes_total{form="frm_a",target="db",change="inserted"}';
    const asked = 'forms_mirror_api_requests_total{form="frm_a",target="db"}';
    const first = await samples(page.text('/metrics'));
    expect([first.get(inserted), first.get(asked)]).toEqual([0, 0]);
    page.metrics.run(aRun());
    expect((await samples(page.text('/metrics'))).get(inserted)).toBe(7);
  });

  it('show refused status changes from the target that knows of most', async () => {
    const name = 'forms_mirror_status_changes_refused';
    await using page = await startPage(
      reportOf([
        formReport(FORM_A, 'db', { refused: 3 }),
        formReport(FORM_A, 'sheet', { refused: 5 }),
        formReport(FORM_B, 'db', { refused: null }),
      ]),
    );
    const all = await samples(page.text('/metrics'));
    expect(ours(all).filter((one) => one.startsWith(name))).toEqual([`${name}{form="frm_a"}`]);
    expect(all.get(`${name}{form="frm_a"}`)).toBe(5);
  });

  it('L11: hold form IDs, target names and words of fixed lists; nothing else gets in', async () => {
    await using page = await startPage(realisticReport());
    page.metrics.run(Object.assign(aRun(), { error: 'The answer "secret" of sub_9' }));
    const labels = ours(await samples(page.text('/metrics')))
      .filter((name) => !/^forms_mirror_(build|form)_info/.test(name))
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

  it('name each form once, on one line, for others to join', async () => {
    const odd = { ...FORM_A, name: `A "form"\n\u001b[31m${'x'.repeat(300)}` };
    await using page = await startPage(
      reportOf([formReport(odd), formReport(FORM_A, 'sheet'), formReport(FORM_B, 'sheet')]),
    );
    const lines = async (): Promise<string[]> =>
      (await page.text('/metrics')).match(/^forms_mirror_form_info\{.*$/gm) ?? [];
    expect(await lines()).toEqual([
      'forms_mirror_form_info{form="frm_a",slug="a",name="Form A"} 1',
      'forms_mirror_form_info{form="frm_b",slug="b",name="Form B"} 1',
    ]);
    page.report = reportOf([formReport(odd)]);
    const [line = ''] = await lines();
    expect(line).toMatch(/name="A \\"form\\" ␛\[31mx+"\} 1$/);
    expect(line.length).toBeLessThan(200);
  });

  it('are as many for 200 forms as docs/operating.md says', async () => {
    const forms = Array.from({ length: 200 }, (_, at) => ({
      id: `frm_${at}`,
      slug: `form-${at}`,
      name: `Form ${at}`,
    }));
    await using page = await startPage(reportOf(forms.map((form) => formReport(form))));
    for (const form of forms) page.metrics.run(aRun({ form }));
    const all = await samples(page.text('/metrics'));
    const said = /200 forms in one target have ([\d,]+) series/.exec(
      projectText('docs/operating.md'),
    );
    expect(ours(all).length).toBe(Number(said?.[1]?.replaceAll(',', '')));
  });

  it('are plain Prometheus text', async () => {
    await using page = await startPage();
    const response = await page.get('/metrics');
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect((await response.text()).endsWith('\n')).toBe(true);
  });
});
