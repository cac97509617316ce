import { describe, expect, it } from 'vitest';
import { startSmtp } from '../notify/smtp-receiver.ts';
import { startWebhook } from '../notify/webhook-receiver.ts';
import { expectEnd, runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { LateClock } from '../support/test-clock.ts';

const ENV_LINE = /^TARGET_[A-Z]+='([^']*)'$/gm;
const FORM = 'customer-feedback';

describe('forms', () => {
  it('print lines that work if pasted into the settings', async () => {
    const { run } = await openPlace();
    const linesOf = async (command: string): Promise<string[]> => {
      const { stdout } = await run(command, { TARGET_FIELDS: '' });
      return [...stdout.matchAll(ENV_LINE)].map((match) => match[1] ?? '');
    };
    const [TARGET_FORMS] = await linesOf('forms');
    const [whole, single = ''] = await linesOf(`forms ${FORM}`);
    expect(whole).toBe(`${FORM}:*`);
    expect(single.split(',')).toHaveLength(10);
    const pasted = { TARGET_FORMS, TARGET_FIELDS: single };
    await expectEnd(run(`sync --form ${FORM}`, pasted), 0);
  });
});

describe('check', () => {
  it('passes if everything works', async () => {
    const { run } = await openPlace();
    await run('sync');
    const check = await expectEnd(
      run('check', { MARK_STATUS: 'DONE' }),
      0,
      '✓ source: answers, the key is right, 3 forms found',
      /✓ queue: embedded, in .*; not tried/,
    );
    expect(check.stdout).not.toContain('✗');
  });

  it('reports each failure with its remedy, and continues with the next', async () => {
    const { run } = await openPlace();
    const wrong = { FORMS_API_KEY: 'wrong', TARGET_URL: 'sqlite:/dev/null/copy.sqlite' };
    const check = await expectEnd(run('check', wrong), 1, /✗ source: .*401/, '✗ target default: ');
    // Once: the result of its own attempt is not reported again.
    expect(check.stdout.match(/target default: /g)).toHaveLength(1);
  });

  it('L17: fails for a target whose copies cannot be read, although it can be reached and written', async () => {
    const { run, change } = await openPlace();
    await run('sync');
    change(`UPDATE _mirror_state SET state = '{}'`);
    await expectEnd(run('check'), 1, /✓ target default: .* answers/, '✗ copies: ');
  });

  it('names the forms of which no answers are selected', async () => {
    const { run } = await openPlace({ submissions: 5 });
    await expectEnd(
      run('check', { TARGET_FIELDS: `${FORM}:*` }),
      0,
      /fields of default: selected; 3 forms to mirror, without answers: \S+ and \S+\n/,
    );
  });

  it('shows where alerts go without a secret', async () => {
    const { run } = await openPlace({ submissions: 5 });
    const receivers = {
      ALERT_SMTP_URL: 'smtps://mirror%40example.com:S3CRET@smtp.example.com',
      ALERT_EMAIL_TO: 'ops@example.com,jo@example.com',
      HEARTBEAT_URL: 'https://hc-ping.example.com/S3CRET',
    };
    const check = await expectEnd(
      run('check', receivers),
      0,
      '✓ notifications: go to ALERT_EMAIL_TO (smtp.example.com, 2 addresses)\n',
      '✓ heartbeat: goes to hc-ping.example.com while nothing has failed\n',
    );
    expect(check.stdout).not.toContain('S3CRET');
  });

  it('--alert sends a message to each receiver, and exits 1 if one fails, with the receiver and the reason', async () => {
    const { run } = await openPlace({ submissions: 1 });
    await using webhook = await startWebhook();
    webhook.handler = (_request, response) => response.writeHead(404).end();
    await using smtp = await startSmtp();
    const { stdout } = await expectEnd(
      run('check --alert --json', {
        ALERT_WEBHOOK_URL: webhook.url,
        ALERT_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
        ALERT_EMAIL_TO: 'ops@example.com',
        ALERT_EMAIL_FROM: 'mirror@example.com',
      }),
      1,
    );
    const { findings } = JSON.parse(stdout) as { findings: { subject: string }[] };
    expect(findings.filter(({ subject }) => subject === 'notifications')).toMatchObject([
      { ok: false, message: expect.stringMatching(/answers 404\. Check ALERT_WEBHOOK_URL\.$/) },
      { ok: true, message: expect.stringContaining('The test message was accepted.') },
    ]);
    // Once, because a person waits for the result.
    expect(webhook.requests.length).toBe(1);
    expect(smtp.mails.map(({ heads }) => heads.get('subject'))).toEqual([
      '🔵 forms-mirror: a test',
    ]);
  });

  it('--alert exits 2 if no receiver is set', async () => {
    const { run } = await openPlace({ submissions: 1 });
    const said = '✗ notifications: No test message was sent. Set ALERT_WEBHOOK_URL or';
    await expectEnd(run('check --alert'), 2, said);
  });
});

describe('verify', () => {
  it('reports that everything is the same, or the differences', async () => {
    const { run, change, sandbox } = await openPlace();
    await run('sync');
    await expectEnd(run('verify'), 0);
    change(
      `DELETE FROM customer_feedback WHERE rowid = 1; UPDATE customer_feedback SET status = 'ODD' WHERE rowid = 2`,
    );
    const { stdout } = await expectEnd(run(`verify --form ${FORM} --json`), 1);
    expect(JSON.parse(stdout)).toMatchObject({
      same: false,
      forms: [
        {
          form: sandbox.store.formBySlug(FORM)?.id,
          slug: FORM,
          outcome: 'different',
          missing: { count: 1 },
          extra: { count: 0 },
          differing: { count: 1, columns: { status: 1 } },
        },
      ],
    });
    const remedy = `sync --full --form ${FORM} --target default`;
    await expectEnd(
      run('verify'),
      1,
      /✗ customer-feedback → default: different[\s\S]*1 missing in the copy: sub_/,
      `      forms-mirror ${remedy}\n`,
    );
    await expectEnd(run(remedy), 0);
    await expectEnd(run('verify'), 0);
  });

  it('a submission of a moment ago is lag: exit 0, and the claim shows it', async () => {
    const { run, sandbox } = await openPlace();
    await run('sync');
    const { id: formId } = sandbox.store.formBySlug(FORM)!;
    const { id } = sandbox.store.insert({ formId, data: {}, createdAt: Date.now() });
    const only = `verify --form ${FORM}`;
    await expectEnd(
      run(only),
      0,
      /✓ customer-feedback → default: the same as of 2\d{3}-\S+ \S+ UTC, except for 1 that came just now; 51 submissions compared\n    1 too young to have been copied: sub_\w+\n$/,
    );
    expect(JSON.parse((await run(`${only} --json`)).stdout)).toMatchObject({
      same: false,
      ok: true,
      forms: [{ outcome: 'lagging', lagging: { count: 1, ids: [id] } }],
    });
    await run(`pause --form ${FORM}`);
    // No run will bring it.
    await expectEnd(run(only), 1);
  });

  it('L8: names held deletions and the command that accepts them; explain shows the same of each', async () => {
    const { run, sandbox } = await openPlace();
    await run('sync');
    const { id: formId } = sandbox.store.formBySlug(FORM)!;
    const gone = sandbox.store.ids(formId).slice(0, 30);
    for (const id of gone) sandbox.store.delete(id);
    await expectEnd(run('sync'), 1, 'DELETIONS_HELD');
    await expectEnd(run('status'), 1, /^! 1 form: Deletions are held/);
    const accept = `sync --full --accept-deletes --form ${FORM} --target default`;
    await expectEnd(
      run(`verify --form ${FORM}`),
      1,
      /30 gone from the source: sub_[^→]*→ 30 deletions are held\. .*accept them:\n/,
      `      forms-mirror ${accept}\n`,
    );
    const { stdout } = await run(`explain ${gone[0]}`);
    expect(stdout).toMatch(
      /default: stored, but the source does not have it, status \w+\n {4}its deletion is held since /,
    );
    await expectEnd(run(accept), 0);
    await expectEnd(run(`verify --form ${FORM}`), 0);
  });

  it('L12, L17: compares with the other targets if one does not answer, and exits 1', async () => {
    const { env, run } = await openPlace({ submissions: 10 });
    await run('sync');
    await expectEnd(
      run('verify', {
        TARGETS: 'a,b',
        TARGET_URL: undefined,
        TARGET_A_URL: 'postgres://nobody@127.0.0.1:1/none',
        TARGET_B_URL: env['TARGET_URL'],
      }),
      1,
      /✗ customer-feedback → a: .*does not answer/,
      '✓ customer-feedback → b: the same as of',
    );
  });
});

describe('status', () => {
  it('shows each form and its claim, and exits 1 until something is known to be current', async () => {
    const { env, run } = await openPlace();
    await expectEnd(run('status'), 1, 'hold no copy');
    await run('sync', { FORMS_API_KEY: 'another-key-1234567890' });
    await expectEnd(run('status'), 1, /^✗ The Forms API refuses the key\n/);
    await run('sync');
    await expectEnd(
      // It needs neither the address nor the key of the source.
      run('status', { FORMS_API_URL: undefined, FORMS_API_KEY: undefined }),
      0,
      /✓ customer-feedback → default: Up to date; 50 rows; submissions, statuses and answers as of [^;]*; last run complete, /,
    );
    const clock = new LateClock();
    clock.goOn(3_600_000);
    await expectEnd(runCli(['status'], env, false, clock), 1, 'customer-feedback → default: Stale');
  });
});

describe('explain', () => {
  it('shows the place of one submission', async () => {
    const { run, sandbox } = await openPlace();
    const { id } = sandbox.store.all()[0]!;
    expect((await run(`explain ${id}`)).stdout).toContain('default: not stored');
    await run('sync');
    const after = await run(`explain ${id} --json`, { MARK_STATUS: 'PAID' });
    expect(JSON.parse(after.stdout)).toMatchObject({
      submissionId: id,
      form: { slug: expect.any(String) },
      targets: [{ state: 'current' }],
    });
  });

  it.each([404, 410])('exits 1 if the source answers %i and no target has it', async (status) => {
    const { run, sandbox } = await openPlace();
    await run('sync');
    sandbox.faults.add({ path: '/submissions/sub_nobody', status });
    const said = ['answers 404 or 410', 'default: not stored'];
    await expectEnd(run('explain sub_nobody'), 1, ...said);
  });

  it('L12: shows it in the other targets if one does not answer; exit 1', async () => {
    const { env, run, sandbox } = await openPlace({ submissions: 10 });
    await run('sync');
    const two = {
      TARGETS: 'a,b',
      TARGET_URL: undefined,
      TARGET_A_URL: 'postgres://nobody@127.0.0.1:1/none',
      TARGET_B_URL: env['TARGET_URL'],
    };
    const { id } = sandbox.store.all()[0]!;
    const said = [/^b: stored, the same as the source/m, /^✗ a: .*does not answer/m];
    await expectEnd(run(`explain ${id}`, two), 1, ...said);
    expect(JSON.parse((await run(`explain ${id} --json`, two)).stdout)).toMatchObject({
      targets: [{ target: 'b', state: 'current' }],
      failed: [{ target: 'a', code: 'TARGET_UNREACHABLE' }],
    });
  });

  it('L17: shows the targets if the source refuses the ID or is down, and claims nothing about the source; exit 1', async () => {
    const { run, sandbox } = await openPlace({ submissions: 10 });
    await run('sync');
    const { id, formId } = sandbox.store.all()[0]!;
    sandbox.faults.add({ path: `/submissions/${id}`, status: 403 });
    const said = [/^default: stored; not compared with the source, status /m, /^✗ source: .* 403/m];
    const { stdout } = await expectEnd(run(`explain ${id}`), 1, ...said);
    expect(stdout).not.toMatch(/404|does not have it|never existed/);
    await sandbox.stop();
    expect(JSON.parse((await expectEnd(run(`explain ${id} --json`), 1)).stdout)).toMatchObject({
      source: null,
      sourceError: { code: 'FORMS_FAILED' },
      form: { id: formId },
      targets: [{ state: 'stored', differing: [] }],
    });
  });

  it('L17: does not report a row as the same if the source does not have it, or if it is never compared', async () => {
    const { run, sandbox } = await openPlace();
    await run('sync');
    const { id, formId } = sandbox.store.all()[0]!;
    const other = sandbox.store.forms().find((form) => form.id !== formId);
    const elsewhere = await run(`explain ${id}`, { TARGET_FORMS: other!.slug });
    expect(elsewhere.stdout).toContain('default: its form is not mirrored here');
    sandbox.store.delete(id);
    const gone = await run(`explain ${id}`);
    expect(gone.stdout).toContain('default: stored, but the source does not have it');
  });
});
