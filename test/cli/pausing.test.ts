import { describe, expect, it } from 'vitest';
import { expectEnd, expectMistake, syncDocument } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';

const FORM = ['--form', 'customer-feedback'];
const AWAY = 'postgres://nobody@127.0.0.1:1/none';

describe('pause and resume', () => {
  it('exclude a form from `sync`, show it in every command that reads, and let it continue', async () => {
    const { run } = await openPlace({ submissions: 60 });
    await expectEnd(run('sync'), 0);
    const pause = ['pause', '--form', 'Customer feedback 💬', '--reason', 'a new tab'];
    await expectEnd(
      run(pause),
      0,
      /^✓ customer-feedback → default is paused since .* by command line, \S+@\S+ \(a new tab\)\./,
    );
    await expectEnd(
      run('sync'),
      1,
      /customer-feedback → default: paused \(PAUSED\); nothing written/,
      'To go on, run: forms-mirror resume --form customer-feedback --target default',
      '1 of 3 runs did not complete',
    );
    const one = await run('sync --form customer-feedback');
    expect(one.stdout).toMatch(/^✗ 1 of 1 run did not complete\. 0 new/m);
    const { runs } = syncDocument(await run('sync --form customer-feedback --json'));
    expect(runs).toMatchObject([{ outcome: 'paused', code: 'PAUSED' }]);
    const status = (await run('status')).stdout;
    expect(status).toMatch(/customer-feedback → default: Paused; .*\n.*: paused since /);
    expect(status).toContain('(a new tab)');
    expect(status).toContain('→ To resume: forms-mirror resume --form');
    const exported = await expectEnd(run('export customer-feedback'), 0);
    expect(exported.stderr).toMatch(/paused since .*\(a new tab\)/);
    const verified = await run('verify --form customer-feedback');
    expect(verified.stdout).toMatch(/→ To resume: forms-mirror resume --form/);
    await expectEnd(
      run('resume --form customer-feedback'),
      0,
      /^✓ customer-feedback → default is resumed; it had been paused since/,
    );
    await expectEnd(run('sync'), 0);
    expect((await run('status')).stdout).not.toMatch(/paused/i);
  });

  it('need no source, and name the first person if another person pauses again', async () => {
    const { run, sandbox } = await openPlace({ submissions: 30 });
    await run('sync');
    await sandbox.stop();
    await expectEnd(run(['pause', ...FORM]), 0);
    await expectEnd(run('pause'), 0);
    await expectEnd(run('pause --target default'), 0, /✓ Target default is paused since/);
    await expectEnd(run('resume'), 0, /✓ Target default is resumed/);
    await expectEnd(run('resume'), 0, /✓ Target default was not paused/);
  });

  it('L17: name the parts of a resumed target or form that are still paused', async () => {
    const { run } = await openPlace({ submissions: 10 });
    await run(['pause', ...FORM]);
    expect((await run('resume')).stdout).toMatch(
      /^✓ Target default was not paused\. Other pauses there continue: forms-mirror status /,
    );
    await run('pause');
    const resumed = await run(['resume', ...FORM]);
    expect(resumed.stdout).toMatch(/✓ .* is resumed; .* Other pauses there continue/);
  });

  it('pause the others if one target cannot be reached, and exit 1', async () => {
    const { run, env } = await openPlace({ submissions: 10 });
    const broken = {
      TARGETS: 'a,b',
      TARGET_A_URL: AWAY,
      TARGET_B_URL: env['TARGET_URL'],
      TARGET_URL: undefined,
    };
    for (const [command, done] of [
      ['pause', 'paused since'],
      ['resume', 'resumed'],
    ] as const) {
      await expectEnd(
        run(command, broken),
        1,
        new RegExp(`✗ Target a is not ${command}d: .*postgres`),
        `✓ Target b is ${done}`,
      );
    }
  });

  it('end pauses of forms that are no longer selected, and start none for them', async () => {
    const { run } = await openPlace({ submissions: 30 });
    await run('sync');
    await run(['pause', ...FORM]);
    const others = { TARGET_FORMS: 'order-form' };
    await expectEnd(run(['resume', ...FORM], others), 0, 'customer-feedback → default is resumed');
    await expectMistake(run(['pause', ...FORM], others), 'does not select it');
    expect((await run('status')).stdout).not.toMatch(/paused/i);
  });

  it('refuse an unknown form and target', async () => {
    const { run } = await openPlace({ submissions: 30 });
    await run('sync');
    for (const command of ['pause', 'resume']) {
      const form = run([command, '--form', 'custommer-feedback']);
      await expectMistake(form, 'There is no form');
      await expectMistake(run([command, '--target', 'x']), 'There is no target x');
    }
  });

  it('L18: do not prevent erasing', async () => {
    const { run, rows } = await openPlace({ submissions: 30 });
    await run('sync');
    await run('pause');
    const [row] = rows('SELECT id FROM customer_feedback LIMIT 1');
    const id = String(row?.['id']);
    await expectEnd(run(['forget', id, '--yes']), 0);
    expect(rows(`SELECT id FROM customer_feedback WHERE id = '${id}'`)).toEqual([]);
    await expectEnd(run('purge --deleted-before 1d --yes'), 0);
    expect((await run('status')).stdout).toMatch(/paused since/);
  });
});
