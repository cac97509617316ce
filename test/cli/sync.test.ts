import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectEnd, expectMistake, runIn, startCli, syncDocument } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const SLUG = 'customer-feedback';

describe('sync', () => {
  it('shows a line for each run, and a summary line', async () => {
    const { run } = await openPlace();
    const { stderr } = await expectEnd(
      run(`sync --form ${SLUG}`),
      0,
      /^✓ customer-feedback → default: complete; 50 new \(\d+ requests, /,
      /✓ 1 copy is complete: submissions.* answers as of [^.]+\. 50 new, 0 changed, 0 deleted\.\n$/,
    );
    expect(stderr).toBe('');
  });

  it('names the command that accepts held deletions once, and accepts no more than were shown', async () => {
    const { run, sandbox } = await openPlace();
    await run(`sync --form ${SLUG}`);
    const { store } = sandbox;
    const { id = '' } = store.formBySlug(SLUG) ?? {};
    for (const submission of store.ids(id).slice(0, 30)) store.delete(submission);
    const { stdout } = await expectEnd(run(`sync --form ${SLUG}`), 1);
    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => line.endsWith(':'))).toEqual([]);
    const command = `forms-mirror sync --full --accept-deletes --form ${id}`;
    expect(lines.filter((line) => line.includes(command))).toHaveLength(1);
    for (const submission of store.ids(id).slice(0, 2)) store.delete(submission);
    const accept = `sync --full --accept-deletes --form ${id}`;
    await expectEnd(run(accept), 1, 'does not show 32 rows');
    await expectEnd(run(accept), 0, '32 deleted');
  });

  it('L17: status reports a table that people dropped as incomplete, and sync fills it again and says why', async () => {
    const { env, change } = await openPlace();
    const run = runIn({ ...env, TARGET_FORMS: SLUG });
    await expectEnd(run('sync'), 0);
    change('DROP VIEW customer_feedback_labelled; DROP TABLE customer_feedback');
    const why = 'The table customer_feedback is missing; it is filled again';
    await expectEnd(run('status'), 1, why);
    await expectEnd(run('sync --dry-run'), 0, why);
    await expectEnd(run('sync'), 0, why);
    await expectEnd(run('verify'), 0);
  });

  it('L12: a target that cannot be opened delays no other; exit 1', async () => {
    const { env, run, rows } = await openPlace();
    const denied = 'sqlite:/dev/null/copy.sqlite';
    const two = {
      TARGETS: 'good,bad',
      TARGET_URL: undefined,
      TARGET_GOOD_URL: env['TARGET_URL'],
      TARGET_BAD_URL: denied,
    };
    const { runs } = syncDocument(await expectEnd(run('sync --json', two), 1));
    for (const { target, outcome, code } of runs)
      expect([outcome, code]).toEqual(
        target === 'good' ? ['ok', null] : ['failed', 'TARGET_DENIED'],
      );
    expect(runs.filter(({ target }) => target === 'good')).toHaveLength(3);
    expect(runs).toHaveLength(6);
    expect(rows('SELECT count(*) AS n FROM customer_feedback')).toEqual([{ n: 50 }]);
    const shown = await run('sync', { TARGET_URL: denied });
    // An error that all runs share is reported once.
    expect(shown.stdout.match(/✗ 3 runs: .*/g)).toHaveLength(1);
    expect(shown.stdout.match(/failed \(TARGET_DENIED\); nothing written/g)).toHaveLength(3);
    expect(shown.stdout).toMatch(/✗ 3 of 3 runs did not complete/);
  });

  it('leaves every row in one file, which can be mailed, and no command leaves another beside it', async () => {
    const { run, file } = await openPlace({ submissions: 30 });
    for (const command of ['sync', 'status', 'verify', 'check']) {
      await expectEnd(run(command), 0);
      const beside = readdirSync(dirname(file)).filter((name) => /-(wal|shm)$/.test(name));
      expect([command, beside]).toEqual([command, []]);
    }
  });

  it('stops on a signal, and exits with its code', async () => {
    const { env, sandbox } = await openPlace({
      faults: [{ path: '/submissions', after: 2, times: Infinity, delayMs: 60_000 }],
    });
    const running = startCli(['sync', '--full', '--json'], env);
    await expect.poll(() => sandbox.requests.length).toBeGreaterThanOrEqual(4);
    running.send('SIGTERM');
    const result = await expectEnd(running.done, 143);
    expect(syncDocument(result).runs.at(-1)?.outcome).toBe('stopped');
  });
});

describe('sync --dry-run', () => {
  it('names the actions of the following real run, and writes nothing, neither here nor at the source', async () => {
    const { env, change, file, sandbox } = await openPlace({ submissions: 60 });
    const run = runIn({ ...env, TARGET_FORMS: SLUG, MARK_STATUS: 'DONE' });
    const { store } = sandbox;
    const { id: formId = '', sections = [] } = store.formBySlug(SLUG) ?? {};
    const { id: field = '', label } = sections[0]?.[0] ?? {};
    const back = store.insert({ formId, data: { [field]: 'back' } });
    await expectEnd(run('sync --full'), 0);
    const [gone = '', moved = '', edited = ''] = store.ids(formId);
    change(
      `UPDATE customer_feedback SET _deleted_at = '2026-01-01T00:00:00.000Z' WHERE id = '${back.id}'`,
    );
    store.delete(gone);
    store.setStatus(moved, 'REJECTED');
    const answers = { ...store.get(edited)?.data, [field]: 'a secret answer 7f1' };
    store.distort(edited, { data: answers });
    const { id: added } = store.insert({ formId, data: { [field]: 'new' }, status: 'NEW' });
    const before = readFileSync(file);
    const requests = sandbox.requests.length;
    const dry = await run('sync --full --dry-run --json');
    expect(readFileSync(file).equals(before)).toBe(true);
    const sent = new Set(sandbox.requests.slice(requests).map(({ method }) => method));
    expect(sent).toEqual(new Set(['GET']));
    expect([dry.stdout, dry.stderr].join('\n')).not.toContain('secret answer');
    const changes = syncDocument(dry).changes ?? [];
    expect(changes.map(({ kind, id, columns }) => [kind, id, columns])).toEqual(
      expect.arrayContaining([
        ['inserted', added, []],
        ['updated', moved, ['status']],
        ['updated', edited, [label]],
        ['restored', back.id, ['_deleted_at']],
        ['deleted', gone, []],
      ]),
    );
    expect(changes).toHaveLength(5);
    expect(changes[0]).toMatchObject({ slug: SLUG, target: 'default' });
    await expectEnd(
      run('sync --full --dry-run'),
      0,
      `· ${SLUG} → default\n    `,
      `    ${added} would be new\n`,
      `    ${moved} would change: status\n`,
    );

    const real = syncDocument(await run('sync --full --json'));
    const [dryRun, realRun] = [syncDocument(dry).runs[0], real.runs[0]];
    const counts = { inserted: 1, updated: 3, deleted: 1 };
    expect([dryRun, realRun]).toMatchObject([counts, counts]);
    expect(real.changes).toBeUndefined();
    const after = syncDocument(await run('sync --full --dry-run --json'));
    expect(after.changes?.filter(({ kind }) => kind !== 'deleted')).toEqual([]);
  });

  it('makes no target', async () => {
    const { run, file } = await openPlace({ submissions: 60 });
    const fresh = syncDocument(await expectEnd(run('sync --dry-run --json'), 0));
    expect(fresh.runs.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(60);
    expect(existsSync(file)).toBe(false);
  });
});

describe('errors before sync begins', () => {
  it('TARGET_FIELDS missing: concerns only the target of --target', async () => {
    const { env, run, file } = await openPlace({ submissions: 10 });
    const both = {
      TARGETS: 'a,b',
      TARGET_A_URL: `sqlite:${file}`,
      TARGET_B_URL: `sqlite:${file}.b`,
      TARGET_A_FIELDS: env['TARGET_FIELDS'],
      TARGET_FIELDS: undefined,
    };
    for (const command of ['sync', 'verify']) {
      await expectEnd(run(`${command} --target a`, both), 0);
      await expectMistake(run(`${command} --target b`, both), 'TARGET_B_FIELDS is missing');
    }
  });

  it.each([
    ['sync --form custmer-feedback', {}, 'There is no form custmer-feedback: the forms are'],
    ['sync --target sheet', {}, 'There is no target sheet. The settings name: default.'],
    // A mistake in the command needs no response from the source.
    [
      'sync --target sheet',
      { FORMS_API_KEY: 'revoked_key_1234567890' },
      'There is no target sheet.',
    ],
    ['sync --fulll', {}, 'Did you mean --full?'],
    ['sync', { FORMS_API_URL: '' }, 'FORMS_API_URL is missing'],
    // It names the command that lists the fields.
    [
      'sync',
      { TARGET_FIELDS: '' },
      /TARGET_FIELDS is missing: .*forms-mirror forms <form> .* Example: TARGET_FIELDS='contact:\*'/,
    ],
  ])('%s %j: one clear line, exit 2', async (command, changes, message) => {
    const { run } = await openPlace();
    await expectMistake(run(command, changes), message, /^(?![^]*(\n\s+at |Error:))/);
  });

  it('--json prints them as a document', async () => {
    const { run } = await openPlace();
    const { stdout } = await expectEnd(run('sync --json', { SYNC_EVERY: '5', PORT: 'x' }), 2);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'SETTINGS', problems: [{ variable: 'SYNC_EVERY' }, { variable: 'PORT' }] },
    });
  });
});
