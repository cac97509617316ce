import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const ENV_LINE = /^TARGET_[A-Z]+='([^']*)'$/gm;

describe('forms', () => {
  it('print lines that work if pasted into the settings', async () => {
    const { env: full } = await openPlace();
    const env = { ...full, TARGET_FIELDS: '' };
    const forms = await runCli(['forms'], env);
    const [[, slugs = ''] = []] = [...forms.stdout.matchAll(ENV_LINE)];
    const fields = await runCli(['forms', 'customer-feedback'], env);
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
    const form = await runCli(['forms', 'customer-feedback', '--json'], env);
    expect(JSON.parse(form.stdout)).toMatchObject({
      slug: 'customer-feedback',
      fields: expect.arrayContaining([{ id: expect.any(String), label: expect.any(String) }]),
    });
  });
});

describe('check', () => {
  it('passes if everything works', async () => {
    const { env } = await openPlace();
    await runCli(['sync'], env);
    const { code, stdout } = await runCli(['check'], { ...env, MARK_STATUS: 'DONE' });
    expect(code).toBe(0);
    expect(stdout).toContain('✓ source: answers, the key is right, 3 forms found');
    expect(stdout).toContain('✓ queue: embedded');
    expect(stdout).not.toContain('✗');
  });

  it('reports each failure with its remedy, and continues with the next', async () => {
    const { env } = await openPlace();
    const { code, stdout } = await runCli(['check'], {
      ...env,
      FORMS_API_KEY: 'wrong',
      TARGET_URL: 'sqlite:/dev/null/copy.sqlite',
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ source: .*401/);
    expect(stdout).toMatch(/✗ target default: /);
    // Once: the result of its own attempt is not reported again.
    expect(stdout.match(/target default: /g)).toHaveLength(1);
  });

  it('L17: fails for a target whose copies cannot be read, although it can be reached and written', async () => {
    const { env, file } = await openPlace();
    await runCli(['sync'], env);
    using database = new DatabaseSync(file);
    database.exec(`UPDATE _mirror_state SET state = '{}'`);
    const { code, stdout } = await runCli(['check'], env);
    expect(stdout).toMatch(/✓ target default: .* answers/);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/✗ copies: /)]);
  });
});

describe('verify', () => {
  it('reports that everything is the same, or the differences', async () => {
    const { env, file, sandbox } = await openPlace();
    await runCli(['sync'], env);
    expect((await runCli(['verify'], env)).code).toBe(0);
    const database = new DatabaseSync(file);
    database.exec(
      "DELETE FROM customer_feedback WHERE rowid = 1; UPDATE customer_feedback SET status = 'ODD' WHERE rowid = 2",
    );
    database.close();
    const { code, stdout } = await runCli(['verify', '--form', 'customer-feedback', '--json'], env);
    expect(code).toBe(1);
    const { id } = sandbox.store.formBySlug('customer-feedback')!;
    expect(JSON.parse(stdout)).toMatchObject({
      same: false,
      forms: [
        {
          form: id,
          slug: 'customer-feedback',
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
    const remedy = 'sync --full --form customer-feedback --target default';
    expect(shown.stdout).toContain(`      forms-mirror ${remedy}\n`);
    expect((await runCli(remedy.split(' '), env)).code).toBe(0);
    expect((await runCli(['verify'], env)).code).toBe(0);
  });

  it('a submission of a moment ago is lag: exit 0, and the claim shows it', async () => {
    const { env, sandbox } = await openPlace();
    await runCli(['sync'], env);
    const { id: formId } = sandbox.store.formBySlug('customer-feedback')!;
    const { id } = sandbox.store.insert({ formId, data: {}, createdAt: Date.now() });
    const only = ['verify', '--form', 'customer-feedback'];
    const { code, stdout } = await runCli(only, env);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /✓ customer-feedback → default: the same as of 2\d{3}-\S+ \S+ UTC, except for 1 that came just now; 51 submissions compared\n    1 too young to have been copied: sub_\w+\n$/,
    );
    const json = JSON.parse((await runCli([...only, '--json'], env)).stdout) as object;
    expect(json).toMatchObject({
      same: false,
      ok: true,
      forms: [{ outcome: 'lagging', lagging: { count: 1, ids: [id] } }],
    });
    await runCli(['pause', '--form', 'customer-feedback'], env);
    // No run will bring it.
    expect((await runCli(only, env)).code).toBe(1);
  });
});

describe('check', () => {
  it('counts the copies with problems', async () => {
    const { env } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    const { code, stdout } = await runCli(['check'], {
      ...env,
      TARGET_FIELDS: 'customer-feedback:*',
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /✗ copies: 2 forms: The copy must be read again\n.*forms-mirror status shows each copy/,
    );
  });
});

describe('status', () => {
  it('shows each form and its claim, and exits 1 until something is known to be current', async () => {
    const { env } = await openPlace();
    const first = await runCli(['status'], env);
    expect([first.code, first.stdout]).toEqual([1, expect.stringContaining('hold no copy')]);
    await runCli(['sync'], { ...env, FORMS_API_KEY: 'another-key-1234567890' });
    const failed = await runCli(['status'], env);
    expect(failed.stdout).toMatch(/^✗ The Forms API refuses the key\n(?! *→ To fill)/);
    await runCli(['sync'], env);
    const { code, stdout } = await runCli(['status'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /✓ customer-feedback → default: Up to date; 50 rows; submissions, statuses and answers as of [^;]*; last run complete, /,
    );
  });

  it('needs neither the address nor the key of the source', async () => {
    const { env } = await openPlace();
    await runCli(['sync'], env);
    const { FORMS_API_URL: _url, FORMS_API_KEY: _key, ...rest } = env;
    expect((await runCli(['status'], rest)).code).toBe(0);
  });
});

describe('explain', () => {
  it('shows the place of one submission', async () => {
    const { env, sandbox } = await openPlace();
    const { id } = sandbox.store.all()[0]!;
    const before = await runCli(['explain', id], env);
    expect(before.stdout).toContain('default: not stored');
    await runCli(['sync'], env);
    const after = await runCli(['explain', id, '--json'], { ...env, MARK_STATUS: 'PAID' });
    expect(JSON.parse(after.stdout)).toMatchObject({
      submissionId: id,
      form: { slug: expect.any(String) },
      targets: [{ state: 'current' }],
    });
  });

  it.each([404, 410])('exits 1 if the source answers %i and no target has it', async (status) => {
    const { env, sandbox } = await openPlace();
    await runCli(['sync'], env);
    sandbox.faults.add({ path: '/submissions/sub_nobody', status });
    const { code, stdout } = await runCli(['explain', 'sub_nobody'], env);
    expect([code, stdout]).toEqual([1, expect.stringContaining('answers 404 or 410')]);
    expect(stdout).toContain('default: not stored');
  });

  it('L12: shows it in the other targets if one does not answer; exit 1', async () => {
    const { env, sandbox } = await openPlace({ submissions: 10 });
    await runCli(['sync'], env);
    const { TARGET_URL, ...rest } = env;
    const away = { TARGET_A_URL: 'postgres://nobody@127.0.0.1:1/none', TARGET_B_URL: TARGET_URL };
    const two = { ...rest, TARGETS: 'a,b', ...away };
    const { id } = sandbox.store.all()[0]!;
    const { code, stdout } = await runCli(['explain', id], two);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^b: stored, the same as the source/m);
    expect(stdout).toMatch(/^✗ a: .*does not answer/m);
    const json = await runCli(['explain', id, '--json'], two);
    expect(JSON.parse(json.stdout)).toMatchObject({
      targets: [{ target: 'b', state: 'current' }],
      failed: [{ target: 'a', code: 'TARGET_UNREACHABLE' }],
    });
  });

  it('L17: does not report a row as the same if the source does not have it, or if it is never compared', async () => {
    const { env, sandbox } = await openPlace();
    await runCli(['sync'], env);
    const { id, formId } = sandbox.store.all()[0]!;
    const other = sandbox.store.forms().find((form) => form.id !== formId);
    const elsewhere = await runCli(['explain', id], { ...env, TARGET_FORMS: other!.slug });
    expect(elsewhere.stdout).toContain('default: its form is not mirrored here');
    sandbox.store.delete(id);
    const gone = await runCli(['explain', id], env);
    expect(gone.stdout).toContain('default: stored, but the source does not have it');
  });
});
