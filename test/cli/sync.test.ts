import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli, startCli, syncDocument } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

describe('sync', () => {
  it('shows a line for each run, and a summary line', async () => {
    const { env } = await openPlace();
    const { code, stdout, stderr } = await runCli(['sync', '--form', 'customer-feedback'], env);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^✓ customer-feedback → default: complete; 50 new \(\d+ requests, /);
    expect(stdout).toMatch(
      /✓ The copy is complete: submissions.* answers as of [^.]+\. 50 new, 0 changed, 0 deleted\.\n$/,
    );
  });

  it('names the command that accepts held deletions once', async () => {
    const { env, sandbox } = await openPlace();
    const args = ['sync', '--form', 'customer-feedback'];
    await runCli(args, env);
    const { store } = sandbox;
    const { id = '' } = store.formBySlug('customer-feedback') ?? {};
    for (const submission of store.ids(id).slice(0, 30)) store.delete(submission);
    const { code, stdout } = await runCli(args, env);
    const lines = stdout.trim().split('\n');
    expect([code, lines.filter((line) => line.endsWith(':'))]).toEqual([1, []]);
    const command = `forms-mirror sync --full --accept-deletes --form ${id}`;
    expect(lines.filter((line) => line.includes(command))).toHaveLength(1);
  });

  it('--dry-run writes nothing, neither here nor at the source', async () => {
    const { env, file, sandbox } = await openPlace();
    await runCli(['sync'], env);
    const before = sandbox.requests.length;
    const { code } = await runCli(['sync', '--dry-run'], { ...env, MARK_STATUS: 'DONE' });
    expect(code).toBe(0);
    expect(sandbox.requests.slice(before).filter(({ method }) => method !== 'GET')).toEqual([]);
    const fresh = await runCli(['sync', '--dry-run', '--json'], {
      ...env,
      TARGET_URL: `sqlite:${file}.other`,
    });
    const inserted = syncDocument(fresh).runs.map((run) => run.inserted);
    expect(inserted.reduce((sum, each) => sum + each)).toBe(250);
    expect(existsSync(`${file}.other`)).toBe(false);
  });

  it('L17: status reports a table that people dropped as incomplete, and sync fills it again and says why', async () => {
    const place = await openPlace();
    const env = { ...place.env, TARGET_FORMS: 'customer-feedback' };
    expect((await runCli(['sync'], env)).code).toBe(0);
    place.change('DROP VIEW customer_feedback_labelled; DROP TABLE customer_feedback');
    const why = 'The table customer_feedback is missing; it is filled again.';
    const status = await runCli(['status'], env);
    expect([status.code, status.stdout]).toEqual([1, expect.stringContaining(why)]);
    for (const args of [['sync', '--dry-run'], ['sync']]) {
      const { code, stdout } = await runCli(args, env);
      expect([code, stdout]).toEqual([0, expect.stringContaining(why)]);
    }
    expect((await runCli(['verify'], env)).code).toBe(0);
  });

  it('L12: a target that cannot be opened delays no other; exit 1', async () => {
    const { env, rows } = await openPlace();
    const { TARGET_URL, ...rest } = env;
    const result = await runCli(['sync', '--json'], {
      ...rest,
      TARGETS: 'good,bad',
      TARGET_GOOD_URL: TARGET_URL,
      TARGET_BAD_URL: 'sqlite:/dev/null/copy.sqlite',
    });
    expect(result.code).toBe(1);
    const { runs } = syncDocument(result);
    for (const { outcome, code } of runs) {
      expect(code).toBe(outcome === 'ok' ? null : 'TARGET_DENIED');
    }
    const outcomes = runs.map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(['failed', 'failed', 'failed', 'ok', 'ok', 'ok']);
    expect(rows('SELECT count(*) AS n FROM customer_feedback')).toEqual([{ n: 50 }]);
    const shown = await runCli(['sync'], { ...env, TARGET_URL: 'sqlite:/dev/null/copy.sqlite' });
    // An error that all runs share is reported once.
    expect(shown.stdout.match(/✗ 3 runs: .*/g)).toHaveLength(1);
    expect(shown.stdout.match(/failed \(TARGET_DENIED\); nothing written/g)).toHaveLength(3);
    expect(shown.stdout).toMatch(/✗ 3 of 3 runs did not complete/);
  });

  it('stops on a signal, and exits with its code', async () => {
    const { env, sandbox } = await openPlace({
      faults: [{ path: '/submissions', after: 2, times: Infinity, delayMs: 60_000 }],
    });
    const running = startCli(['sync', '--full', '--json'], env);
    await expect.poll(() => sandbox.requests.length).toBeGreaterThanOrEqual(4);
    running.send('SIGTERM');
    const result = await running.done;
    expect(result.code).toBe(143);
    expect(syncDocument(result).runs.at(-1)?.outcome).toBe('stopped');
  });
});

describe('errors before sync begins', () => {
  it('TARGET_FIELDS missing: concerns only the target of --target', async () => {
    const { env, file } = await openPlace({ submissions: 10 });
    const { TARGET_FIELDS: all, ...rest } = env;
    const places = { TARGET_A_URL: `sqlite:${file}`, TARGET_B_URL: `sqlite:${file}.b` };
    const both = { ...rest, TARGETS: 'a,b', ...places, TARGET_A_FIELDS: all };
    for (const command of ['sync', 'verify']) {
      expect((await runCli([command, '--target', 'a'], both)).code).toBe(0);
      const { code, stderr } = await runCli([command, '--target', 'b'], both);
      expect([code, stderr]).toEqual([2, expect.stringContaining('TARGET_B_FIELDS is missing')]);
    }
  });

  it('TARGET_FIELDS missing: names the setting and the command that lists the fields; exit 2', async () => {
    const { env } = await openPlace();
    const { code, stdout, stderr } = await runCli(['sync'], { ...env, TARGET_FIELDS: '' });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /TARGET_FIELDS is missing: .*forms-mirror forms <form> .* Example: TARGET_FIELDS='contact:\*'/,
    );
  });

  it.each([
    [['--form', 'custmer-feedback'], {}, 2, 'Did you mean customer-feedback?'],
    [['--target', 'sheet'], {}, 2, 'There is no target sheet. The settings name: default.'],
    // A mistake in the command needs no response from the source.
    [
      ['--target', 'sheet'],
      { FORMS_API_KEY: 'revoked_key_1234567890' },
      2,
      'There is no target sheet.',
    ],
    [['--fulll'], {}, 2, 'Did you mean --full?'],
    [[], { FORMS_API_URL: '' }, 2, 'FORMS_API_URL is missing'],
  ])('sync %j %j: one clear line, exit %d', async (args, changes, exit, message) => {
    const { env } = await openPlace();
    const { code, stdout, stderr } = await runCli(['sync', ...args], { ...env, ...changes });
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at |Error:/);
  });

  it('--json prints them as a document', async () => {
    const { env } = await openPlace();
    const { code, stdout } = await runCli(['sync', '--json'], {
      ...env,
      SYNC_EVERY: '5',
      PORT: 'x',
    });
    expect(code).toBe(2);
    const { error } = JSON.parse(stdout) as {
      error: { code: string; problems: { variable: string }[] };
    };
    expect([error.code, error.problems.map(({ variable }) => variable)]).toEqual([
      'SETTINGS',
      ['SYNC_EVERY', 'PORT'],
    ]);
  });
});
