import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe('pause and resume', () => {
  it('exclude a form from `sync`, show it in every command that reads, and let it continue', async () => {
    const { env } = await openPlace({ submissions: 60 });
    expect((await runCli(['sync'], env)).code).toBe(0);
    const at = 'Customer feedback 💬';
    const paused = await runCli(['pause', '--form', at, '--reason', 'a new tab'], env);
    expect([paused.code, paused.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^✓ customer-feedback → default is paused since .* by command line, \S+@\S+ \(a new tab\)\./,
      ),
    ]);
    const sync = await runCli(['sync'], env);
    expect(sync.code).toBe(1);
    expect(sync.stdout).toMatch(/customer-feedback → default: paused \(PAUSED\); nothing written/);
    expect(sync.stdout).toContain(
      'To go on, run: forms-mirror resume --form customer-feedback --target default',
    );
    expect(sync.stdout).toContain('1 of 3 runs did not complete');
    const asJson = json(
      (await runCli(['sync', '--form', 'customer-feedback', '--json'], env)).stdout,
    );
    expect(asJson).toMatchObject({ runs: [{ outcome: 'paused', code: 'PAUSED' }] });
    const status = await runCli(['status'], env);
    expect(status.stdout).toMatch(/customer-feedback → default: Paused; .*\n.*: paused since /);
    expect(status.stdout).toContain('(a new tab)');
    expect(status.stdout).toContain('→ To resume: forms-mirror resume --form');
    const exported = await runCli(['export', 'customer-feedback'], env);
    expect([exported.code, exported.stderr]).toEqual([
      0,
      expect.stringMatching(/paused since .*\(a new tab\)/),
    ]);
    const verified = await runCli(['verify', '--form', 'customer-feedback'], env);
    expect(verified.stdout).toMatch(/→ To resume: forms-mirror resume --form/);
    const resumed = await runCli(['resume', '--form', 'customer-feedback'], env);
    expect([resumed.code, resumed.stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ customer-feedback → default is resumed; it was paused since/),
    ]);
    expect((await runCli(['sync'], env)).code).toBe(0);
    expect((await runCli(['status'], env)).stdout).not.toMatch(/paused/i);
  });

  it('need no source, and name the first person if another person pauses again', async () => {
    const { env, sandbox } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    await sandbox.stop();
    for (const args of [['--form', 'customer-feedback'], []]) {
      expect((await runCli(['pause', ...args], env)).code).toBe(0);
    }
    const again = await runCli(['pause', '--target', 'default'], env);
    expect(again.stdout).toMatch(/✓ Target default is paused since/);
    const resumed = await runCli(['resume'], env);
    expect(resumed.stdout).toMatch(/✓ Target default is resumed/);
    expect((await runCli(['resume'], env)).stdout).toMatch(/✓ Target default was not paused/);
  });

  it('L17: name the parts of a resumed target or form that are still paused', async () => {
    const { env } = await openPlace({ submissions: 10 });
    const form = ['--form', 'customer-feedback'];
    await runCli(['pause', ...form], env);
    expect((await runCli(['resume'], env)).stdout).toMatch(
      /^✓ Target default was not paused\. 1 form there is still paused: forms-mirror status /,
    );
    await runCli(['pause'], env);
    const resumed = await runCli(['resume', ...form], env);
    expect(resumed.stdout).toMatch(/✓ .* is resumed; .* Target default is still paused since/);
  });

  it('pause the others if one target cannot be reached, and exit 1', async () => {
    const { env } = await openPlace({ submissions: 10 });
    const { TARGET_URL, ...rest } = env;
    const two = { ...rest, TARGETS: 'a,b', TARGET_B_URL: TARGET_URL };
    const broken = { ...two, TARGET_A_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const paused = await runCli(['pause'], broken);
    expect(paused.code).toBe(1);
    expect(paused.stdout).toMatch(/✗ Target a is not paused: .*postgres/);
    expect(paused.stdout).toMatch(/✓ Target b is paused since/);
    const resumed = await runCli(['resume'], broken);
    expect(resumed.code).toBe(1);
    expect(resumed.stdout).toMatch(/✗ Target a is not resumed: .*postgres/);
    expect(resumed.stdout).toMatch(/✓ Target b is resumed/);
  });

  it('end pauses of forms that are no longer selected, and start none for them', async () => {
    const { env } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    await runCli(['pause', '--form', 'customer-feedback'], env);
    const others = { ...env, TARGET_FORMS: 'order-form' };
    const ended = await runCli(['resume', '--form', 'customer-feedback'], others);
    expect([ended.code, ended.stdout]).toEqual([
      0,
      expect.stringContaining('customer-feedback → default is resumed'),
    ]);
    const again = await runCli(['pause', '--form', 'customer-feedback'], others);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('does not select it')]);
    expect((await runCli(['status'], env)).stdout).not.toMatch(/paused/i);
  });

  it('resume a form that is gone from the source and was never copied', async () => {
    const { env, sandbox } = await openPlace({ submissions: 10 });
    const { id = '' } = sandbox.store.formBySlug('customer-feedback') ?? {};
    await runCli(['pause', '--form', id], env);
    sandbox.store.deleteForm(id);
    const resumed = await runCli(['resume', '--form', id], env);
    expect([resumed.code, resumed.stdout]).toEqual([
      0,
      expect.stringContaining(`✓ ${id} → default is resumed`),
    ]);
  });

  it('resume without a target that does not mirror the form', async () => {
    const { env } = await openPlace({ submissions: 10 });
    const { TARGET_URL, ...rest } = env;
    const two = { ...rest, TARGETS: 'a,b', TARGET_B_URL: TARGET_URL, TARGET_A_FORMS: 'order-form' };
    const form = ['--form', 'customer-feedback'];
    await runCli(['pause', ...form], two);
    const away = { ...two, TARGET_A_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const resumed = await runCli(['resume', ...form], away);
    expect([resumed.code, resumed.stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ customer-feedback → b is resumed[^\n]*\n$/),
    ]);
  });

  it('name a form by its slug, also if it is paused in a target that has no copy of it yet', async () => {
    const { env, file } = await openPlace({ submissions: 30 });
    const places = { TARGET_A_URL: `sqlite:${file}`, TARGET_B_URL: `sqlite:${file}.b` };
    const two = { ...env, TARGETS: 'a,b', ...places };
    await runCli(['sync', '--target', 'a'], two);
    await runCli(['pause', '--form', 'customer-feedback'], two);
    const { stdout } = await runCli(['status'], two);
    expect(stdout).toContain('customer-feedback → b: Paused');
    expect(stdout).toContain('resume --form customer-feedback --target b');
    const unknown = await runCli(['resume', '--form', 'nope'], two);
    expect(unknown.stderr).not.toContain('form_');
    const away = { ...two, FORMS_API_URL: 'http://127.0.0.1:1/v1' };
    const resumed = await runCli(['resume', '--form', 'customer-feedback'], away);
    expect([resumed.code, resumed.stdout]).toEqual([
      0,
      expect.stringMatching(/→ a is resumed.*\n.*→ b is resumed/),
    ]);
  });

  it('refuse an unknown form and target', async () => {
    const { env } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    for (const command of ['pause', 'resume']) {
      const form = await runCli([command, '--form', 'custommer-feedback'], env);
      expect([form.code, form.stderr]).toEqual([
        2,
        expect.stringContaining('Did you mean customer-feedback'),
      ]);
      const target = await runCli([command, '--target', 'x'], env);
      expect([target.code, target.stderr]).toEqual([
        2,
        expect.stringContaining('There is no target x'),
      ]);
    }
  });

  it('L18: do not prevent erasing', async () => {
    const { env, rows } = await openPlace({ submissions: 30 });
    await runCli(['sync'], env);
    await runCli(['pause'], env);
    const [row] = rows('SELECT id FROM customer_feedback LIMIT 1');
    const id = String(row?.['id']);
    expect((await runCli(['forget', id, '--yes'], env)).code).toBe(0);
    expect(rows(`SELECT id FROM customer_feedback WHERE id = '${id}'`)).toEqual([]);
    expect((await runCli(['purge', '--deleted-before', '1d', '--yes'], env)).code).toBe(0);
    expect((await runCli(['status'], env)).stdout).toMatch(/paused since/);
  });
});
