import { describe, expect, it } from 'vitest';
import { Events } from '../../src/base/events.ts';
import { jobFeed } from '../../src/cli/job-feed.ts';
import type { QueueEventMap } from '../../src/queue/events.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import { ProcessMetrics } from '../../src/web/process-metrics.ts';

function open() {
  const events = new Events<SyncEvents>();
  const queue = new Events<QueueEventMap>();
  const jobs = jobFeed(queue);
  const metrics = new ProcessMetrics({ events, version: '1.2.3', role: 'worker', jobs });
  const lines = async (part: string): Promise<string[]> =>
    (await metrics.text(true))
      .split('\n')
      .filter((line) => line.startsWith(`forms_mirror_${part}`));
  return { events, queue, metrics, lines };
}

const SENT = { status: 200, ms: 80, waitedMs: 0, perMinute: null };

describe('the metrics of a process', () => {
  it('count requests to the source by what was answered, in six words whatever the server makes up', async () => {
    const { events, lines } = open();
    for (const status of [200, 204, 302, 404, 401, 418, 429, 500, 599, null]) {
      events.emit('forms.sent', { ...SENT, status });
    }
    expect(await lines('source_responses_total')).toEqual([
      'forms_mirror_source_responses_total{status="2xx"} 2',
      'forms_mirror_source_responses_total{status="3xx"} 1',
      'forms_mirror_source_responses_total{status="4xx"} 3',
      'forms_mirror_source_responses_total{status="429"} 1',
      'forms_mirror_source_responses_total{status="5xx"} 2',
      'forms_mirror_source_responses_total{status="none"} 1',
    ]);
    expect(await lines('source_request_duration_seconds_bucket{le="0.1"}')).toEqual([
      'forms_mirror_source_request_duration_seconds_bucket{le="0.1"} 10',
    ]);
    expect(await lines('source_request_duration_seconds_bucket{le="0.05"}')).toEqual([
      'forms_mirror_source_request_duration_seconds_bucket{le="0.05"} 0',
    ]);
  });

  it('add up what requests waited for, and show the rate while there is one', async () => {
    const { events, lines } = open();
    expect(await lines('source_wait')).toEqual([
      'forms_mirror_source_wait_seconds_total{for="turn"} 0',
      'forms_mirror_source_wait_seconds_total{for="retry"} 0',
    ]);
    expect(await lines('source_rate')).toEqual([]);
    events.emit('forms.sent', { ...SENT, waitedMs: 1_500, perMinute: 600 });
    events.emit('forms.retry', { request: 'GET /forms', attempt: 1, delayMs: 250, reason: 'x' });
    expect(await lines('source_wait')).toEqual([
      'forms_mirror_source_wait_seconds_total{for="turn"} 1.5',
      'forms_mirror_source_wait_seconds_total{for="retry"} 0.25',
    ]);
    expect(await lines('source_rate')).toEqual(['forms_mirror_source_rate_per_minute 600']);
    events.emit('forms.sent', SENT);
    expect(await lines('source_rate')).toEqual([]);
  });

  it('count jobs without naming forms, failures by their code, and what was recovered', async () => {
    const { queue, lines } = open();
    const job = { step: 'sync', kind: 'full', formId: 'frm_a', target: 'db' } as const;
    queue.emit('job.completed', { ...job, outcome: 'ok', ms: 1_500 });
    queue.emit('job.completed', { ...job, formId: 'frm_b', outcome: 'ok', ms: 500 });
    queue.emit('job.failed', {
      ...job,
      code: 'TARGET_FULL',
      message: 'The disk of "secret" is full.',
      willRetry: true,
      ms: 1_000,
    });
    const mark = { step: 'mark', kind: null, formId: 'frm_a', target: null } as const;
    queue.emit('job.completed', { ...mark, outcome: 'done', ms: 250 });
    queue.emit('job.recovered', { queue: 'sync.db' });
    queue.emit('queue.error', { error: 'ECONNREFUSED' });
    expect([...(await lines('job')), ...(await lines('queue'))]).toEqual([
      'forms_mirror_jobs_total{step="sync",target="db",kind="full",outcome="ok"} 2',
      'forms_mirror_jobs_total{step="sync",target="db",kind="full",outcome="failed"} 1',
      'forms_mirror_jobs_total{step="mark",target="",kind="",outcome="done"} 1',
      'forms_mirror_job_seconds_total{step="sync",target="db",kind="full"} 3',
      'forms_mirror_job_seconds_total{step="mark",target="",kind=""} 0.25',
      'forms_mirror_job_failures_total{step="sync",target="db",code="TARGET_FULL"} 1',
      'forms_mirror_jobs_recovered_total 1',
      'forms_mirror_queue_up 1',
      'forms_mirror_queue_errors_total 1',
    ]);
  });

  it('are those of memory and event loop, too, and end with the process', async () => {
    const { metrics, events } = open();
    const text = await metrics.text(false);
    expect(text).toContain('forms_mirror_queue_up 0');
    expect(text).toMatch(
      /^forms_mirror_build_info\{version="1\.2\.3",node="v[\d.]+",role="worker"\} 1$/m,
    );
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']) {
      expect(text).toMatch(new RegExp(`^${name} [\\d.e-]+$`, 'm'));
    }
    metrics.stop();
    events.emit('forms.sent', SENT);
    expect(await metrics.text(true)).toBe('\n');
  });
});
