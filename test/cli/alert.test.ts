import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-host.ts';
import { openPlace } from '../support/cli-sandbox.ts';
import { startSmtp } from '../notify/smtp-receiver.ts';
import { startWebhook } from '../notify/webhook-receiver.ts';

describe('check --alert', () => {
  it('sends a message to each receiver, and exits 1 if one fails, with the receiver and the reason', async () => {
    const place = await openPlace({ submissions: 1 });
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(404).end();
    await using smtp = await startSmtp();
    const env = {
      ...place.env,
      ALERT_WEBHOOK_URL: webhook.url,
      ALERT_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      ALERT_EMAIL_TO: 'ops@example.com',
      ALERT_EMAIL_FROM: 'mirror@example.com',
    };
    const { code, stdout } = await runCli(['check', '--alert', '--json'], env);
    const { findings } = JSON.parse(stdout) as { findings: { subject: string }[] };
    expect(findings.filter(({ subject }) => subject === 'notifications')).toMatchObject([
      { ok: false, message: expect.stringMatching(/answers 404\. Check ALERT_WEBHOOK_URL\.$/) },
      { ok: true, message: expect.stringContaining('The test message was accepted.') },
    ]);
    expect(code).toBe(1);
    // Once, because a person waits for the result.
    expect(webhook.requests).toBe(1);
    expect(smtp.mails).toHaveLength(1);
    expect(smtp.mails[0]?.heads.get('subject')).toBe('[forms-mirror] a test');
  });

  it('exits 2 if no receiver is set', async () => {
    const { env } = await openPlace({ submissions: 1 });
    const { code, stdout } = await runCli(['check', '--alert'], env);
    expect(stdout).toContain('✗ notifications: No test message was sent. Set ALERT_WEBHOOK_URL or');
    expect(code).toBe(2);
  });
});

describe('check', () => {
  it('shows where alerts go without a secret', async () => {
    const place = await openPlace({ submissions: 5 });
    const env = {
      ...place.env,
      ALERT_SMTP_URL: 'smtps://mirror%40example.com:S3CRET@smtp.example.com',
      ALERT_EMAIL_TO: 'ops@example.com,jo@example.com',
      HEARTBEAT_URL: 'https://hc-ping.example.com/S3CRET',
    };
    const { code, stdout } = await runCli(['check'], env);
    expect(stdout).toContain('✓ notifications: go to e-mail (smtp.example.com, to 2 addresses)\n');
    expect(stdout).toContain('✓ heartbeat: goes to hc-ping.example.com while nothing has failed\n');
    expect(stdout).not.toContain('S3CRET');
    expect(code).toBe(0);
  });
});
