import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { runCli, startCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { layQueue } from '../support/lent-server.ts';

/** A line of the log. */
type Line = Record<string, unknown> & { level: number; msg: string };

const WARN = 40;

function linesOf(text: string): Line[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

it('each line names process and host, lines of a run its ID and job, and a failed run is logged once', async () => {
  const { env, sandbox } = await openPlace({
    submissions: 60,
    faults: [{ method: 'GET', path: '/submissions', status: 429, retryAfter: 1, times: 1 }],
  });
  await layQueue(env['DATA_DIR']!);
  const { TARGET_URL, ...rest } = env;
  const running = startCli(['start'], {
    ...rest,
    PORT: '0',
    LOG_LEVEL: 'debug',
    TARGETS: 'good,bad',
    TARGET_GOOD_URL: TARGET_URL,
    TARGET_BAD_URL: 'sqlite:/dev/null/copy.sqlite',
  });
  const forms = sandbox.store.forms().length;
  const ended = (target: string): Line[] =>
    linesOf(running.stderr.text).filter((line) => line['target'] === target && 'outcome' in line);
  const jobs = (): Line[] =>
    linesOf(running.stderr.text).filter(({ msg }) => /job failed/i.test(msg));
  await expect.poll(() => Math.min(ended('good').length, jobs().length)).toBe(forms);
  running.send('SIGTERM');
  await running.done;
  expect(running.stderr.text.split('\n').filter((line) => !line.startsWith('{'))).toEqual(['']);
  const lines = linesOf(running.stderr.text);
  expect(lines.map(({ msg }) => msg)).toContain('Stopping after the current batch.');
  for (const line of lines) expect(line).toMatchObject({ pid: process.pid, hostname: hostname() });
  const failed = ended('bad');
  expect(new Set(failed.map((line) => line['runId'])).size).toBe(failed.length);
  for (const { runId, jobId } of failed) {
    const told = lines.filter((line) => line['jobId'] === jobId && line.level >= WARN);
    expect(told.filter((line) => line['runId'] === runId)).toEqual([
      expect.objectContaining({
        form: expect.any(String),
        slug: expect.any(String),
        code: 'TARGET_DENIED',
        msg: expect.stringContaining('Check that the path names a file'),
      }),
    ]);
    // Every warning and error of the job belongs to one of its runs.
    expect(told.filter((line) => line['runId'] === undefined)).toEqual([]);
  }
  const wait = lines.find(({ msg }) => msg.startsWith('Waiting for the source'));
  expect(wait?.level).toBe(WARN);
  const waited = ended('good').filter((line) => line['runId'] === wait?.['runId']);
  expect(waited).toMatchObject([{ outcome: 'ok', jobId: wait?.['jobId'] }]);
});

it('L12: a restart continues with the known forms although a name in the settings matches nothing', async () => {
  const { env } = await openPlace({ submissions: 30 });
  expect((await runCli(['sync'], env)).code).toBe(0);
  await layQueue(env['DATA_DIR']!);
  const start = startCli(['start'], { ...env, TARGET_FORMS: 'customer-feedback,nosuch' });
  await expect.poll(() => start.stderr.text).toMatch(/status page is open/);
  start.send('SIGTERM');
  expect((await start.done).code).toBe(0);
});
