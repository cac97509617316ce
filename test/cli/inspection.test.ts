import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const ENV_LINE = /^TARGET_[A-Z]+='([^']*)'$/gm;

describe('forms and fields', () => {
  it('print what can be pasted into the settings and then works', async () => {
    const { env } = await openPlace();
    const forms = await runCli(['forms'], env);
    const [[, slugs = ''] = []] = [...forms.stdout.matchAll(ENV_LINE)];
    const fields = await runCli(['fields', 'customer-feedback'], env);
    const [whole, single] = [...fields.stdout.matchAll(ENV_LINE)].map((match) => match[1] ?? '');
    expect(whole).toBe('customer-feedback:*');
    expect(single?.split(',')).toHaveLength(10);
    const pasted = { ...env, TARGET_FORMS: slugs, TARGET_FIELDS: single ?? '' };
    expect((await runCli(['sync', '--form', 'customer-feedback'], pasted)).code).toBe(0);
  });

  it('--json prints one document', async () => {
    const { env, sandbox } = await openPlace();
    const forms = JSON.parse((await runCli(['forms', '--json'], env)).stdout) as {
      forms: { id: string }[];
    };
    expect(forms.forms.map(({ id }) => id).toSorted()).toEqual(
      sandbox.store
        .forms()
        .map(({ id }) => id)
        .toSorted(),
    );
    const fields = await runCli(['fields', '--json'], env);
    expect(JSON.parse(fields.stdout)).toMatchObject({ forms: [{}, {}, {}] });
  });

  it('need no TARGET_FIELDS', async () => {
    const { env } = await openPlace();
    expect((await runCli(['fields'], { ...env, TARGET_FIELDS: '' })).code).toBe(0);
  });
});

describe('check', () => {
  it('tries everything and finds it well', async () => {
    const { env } = await openPlace();
    await runCli(['sync'], env);
    const { code, stdout } = await runCli(['check'], env);
    expect(code).toBe(0);
    expect(stdout).toContain('✓ source: answers, the key is right, 3 forms found');
    expect(stdout).toContain('✓ queue: embedded');
    expect(stdout).not.toContain('✗');
  });

  it('names each fault with its remedy, and goes on to the next', async () => {
    const { env } = await openPlace();
    const { code, stdout } = await runCli(['check'], {
      ...env,
      FORMS_API_KEY: 'wrong',
      TARGET_URL: 'sqlite:/dev/null/copy.sqlite',
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ source: .*401/);
    expect(stdout).toMatch(/✗ target default: /);
  });

  it('points at names that no form has', async () => {
    const { env } = await openPlace();
    const changes = { TARGET_FORMS: 'nope', TARGET_FIELDS: 'field_1_nope' };
    const { code, stdout } = await runCli(['check', '--json'], { ...env, ...changes });
    expect(code).toBe(1);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { message: string }[] };
    expect(ok).toBe(false);
    expect(findings.map(({ message }) => message).join('\n')).toMatch(
      /TARGET_FORMS names nope[\s\S]*TARGET_FIELDS names field_1_nope/,
    );
  });
});

describe('verify', () => {
  it('says that all is the same, and tells what is not', async () => {
    const { env, file } = await openPlace();
    await runCli(['sync'], env);
    expect((await runCli(['verify'], env)).code).toBe(0);
    const database = new DatabaseSync(file);
    database.exec(
      "DELETE FROM customer_feedback WHERE rowid = 1; UPDATE customer_feedback SET status = 'ODD' WHERE rowid = 2",
    );
    database.close();
    const { code, stdout } = await runCli(['verify', '--form', 'customer-feedback', '--json'], env);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      same: false,
      forms: [
        {
          outcome: 'different',
          missing: { count: 1 },
          extra: { count: 0 },
          differing: { count: 1, columns: { status: 1 } },
        },
      ],
    });
    const shown = await runCli(['verify'], env);
    expect(shown.stdout).toMatch(
      /✗ customer-feedback → default: different[\s\S]*1 missing in the copy: sub_/,
    );
  });
});

describe('status', () => {
  it('shows each form, when it was proven, and when the next pass is due', async () => {
    const { env } = await openPlace();
    expect((await runCli(['status'], env)).stdout).toContain('Nothing has been mirrored yet');
    await runCli(['sync'], env);
    const { code, stdout } = await runCli(['status'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/customer-feedback +default +50 +0 +0 +complete, .* in \d+ [ms]/);
    const cron = { ...env, SYNC_CRON: '0 8 * * *', SYNC_TZ: 'Europe/Prague' };
    const json = JSON.parse((await runCli(['status', '--json'], cron)).stdout) as {
      forms: { rows: number; lagSeconds: number; nextDueAt: string }[];
    };
    expect(json.forms).toHaveLength(3);
    expect(json.forms[0]?.nextDueAt).toMatch(/T0[67]:00:00\.000Z$/);
  });

  it('needs neither address nor key, and tells a target that cannot be read', async () => {
    const { env } = await openPlace();
    const { FORMS_API_URL: _url, FORMS_API_KEY: _key, ...rest } = env;
    expect((await runCli(['status'], rest)).code).toBe(0);
  });
});

describe('explain', () => {
  it('tells one submission’s story', async () => {
    const { env, sandbox } = await openPlace();
    const { id } = sandbox.store.at(0);
    const before = await runCli(['explain', id], env);
    expect(before.stdout).toContain('default: not stored');
    await runCli(['sync'], env);
    const after = await runCli(['explain', id, '--json'], { ...env, MARK_STATUS: 'PAID' });
    expect(JSON.parse(after.stdout)).toMatchObject({
      submissionId: id,
      targets: [{ state: 'current' }],
    });
    const unknown = await runCli(['explain', 'sub_nobody'], env);
    expect([unknown.code, unknown.stdout]).toEqual([1, expect.stringContaining('answers 404')]);
  });
});
