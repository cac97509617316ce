import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import type { StatusReport } from '../../src/health/report.ts';
import type { TargetOverview } from '../../src/health/facts.ts';
import {
  FakeSource,
  QUEUE,
  before,
  formOverview,
  passRecord,
  passReport,
} from '../health/fake-source.ts';
import { calmSource, IDLE_ACTOR, startPage } from './start-page.ts';
import { FORM_A } from '../health/health-of.ts';
import { startWebhook } from '../alerts/webhook-stand-in.ts';

/** A GET with a Host header of one's own, which fetch does not allow. */
function getAs(url: string, host: string): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((done, fail) => {
    const sent = request({ hostname, port, path: pathname, headers: { host } }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    });
    sent.on('error', fail);
    sent.end();
  });
}

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1');

describe('the status page listens', () => {
  it('on a free port, and no longer after its stop, which may be called twice', async () => {
    const page = await startPage();
    expect(page.server.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
    expect((await page.get('/health')).status).toBe(200);
    await Promise.all([page.server.stop(), page.server.stop()]);
    await expect(page.get('/health')).rejects.toThrow('fetch failed');
    expect(page.clock.sleepers).toBe(0);
  });

  it('several times in one process', async () => {
    await using first = await startPage();
    await using second = await startPage();
    expect((await first.get('/metrics')).status).toBe(200);
    expect((await second.get('/metrics')).status).toBe(200);
  });

  it('says what to set when the port is taken, the host is not ours, or nobody would be kept out', async () => {
    await using page = await startPage();
    const port = Number(new URL(page.server.url).port);
    const refusal = async (changes: Parameters<typeof startPage>[1]): Promise<MirrorError> => {
      const error = await startPage(calmSource(), changes).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(MirrorError);
      return error as MirrorError;
    };
    const taken = await refusal({ port });
    expect(taken.code).toBe('SETTINGS');
    expect(taken.message).toContain(`PORT ${port}`);
    expect(taken.message).toContain(`PORT=${port + 1}`);
    const foreign = await refusal({ host: '192.0.2.1', adminPassword: 'x' });
    expect(foreign.message).toContain('HOST=127.0.0.1');
    const open = await refusal({ host: '0.0.0.0' });
    expect(open.message).toContain('ADMIN_PASSWORD');
  });

  it.skipIf(!hasIpv6)('at an IPv6 address, with or without brackets', async () => {
    for (const host of ['::1', '[::1]']) {
      await using page = await startPage(calmSource(), { host });
      expect(page.server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
      expect((await page.get('/')).status).toBe(200);
    }
  });

  it('can be reached by everybody when there is a password', async () => {
    await using page = await startPage(calmSource(), { host: '0.0.0.0', adminPassword: 'pw' });
    expect(page.server.url).toMatch(/^http:\/\/localhost:/);
    const { port } = new URL(page.server.url);
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  });
});

describe('health', () => {
  it('is good while the scheduler ticks, and asks for no password', async () => {
    await using page = await startPage(calmSource(), { adminPassword: 'pw' });
    for (const path of ['/live', '/health', '/ready']) {
      const response = await page.get(path);
      const mirror = path === '/live' ? {} : { mirror: 'ok' };
      expect([response.status, await response.json()]).toEqual([200, { ok: true, ...mirror }]);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    expect((await fetch(`${page.server.url}/health`, { method: 'HEAD' })).status).toBe(200);
  });

  it.each([
    ['the queue does not answer', { ...QUEUE, reachable: false }],
    ['the queue fails', new MirrorError('QUEUE_FAILED', 'redis://user:pw@host is away')],
    [
      'a schedule is lost',
      { ...QUEUE, schedules: [{ kind: 'full' as const, nextRunAt: null, overdue: false }] },
    ],
    [
      'ticks stay away',
      { ...QUEUE, schedules: [{ kind: 'full' as const, nextRunAt: before(9e6), overdue: true }] },
    ],
  ])('is 503 with a reason when %s, and gives nothing away (L15)', async (_, queueState) => {
    await using page = await startPage();
    page.source.queueState = queueState;
    await page.reread();
    const response = await page.get('/health');
    const body = (await response.json()) as { ok: boolean; reason: string };
    expect(response.status).toBe(503);
    expect(body).toEqual({
      ok: false,
      mirror: expect.any(String),
      reason: expect.stringMatching(/queue|scheduler/i),
    });
    expect(JSON.stringify(body)).not.toContain('pw');
    // No reason to kill the process: a restart brings no queue back.
    expect((await page.get('/live')).status).toBe(200);
  });

  it('does not wait for a target', async () => {
    const source = calmSource();
    source.overviews.set('slow', new Promise<TargetOverview>(() => {}));
    await using page = await startPage(source);
    expect((await page.get('/health')).status).toBe(200);
    expect((await page.get('/ready')).status).toBe(503);
  });
});

describe('a page', () => {
  it('L12: shows the other targets when one hangs, and knows the hanging one as it was', async () => {
    const source = calmSource();
    source.hold('sheet', [formOverview(FORM_A)], 'google-sheets');
    await using page = await startPage(source);
    source.overviews.set('db', new Promise<TargetOverview>(() => {}));
    await page.clock.advance(5_000);
    const begunMs = page.clock.now();
    expect(await page.whileTimePasses(page.text('/'))).toContain('Form B');
    expect(page.clock.now() - begunMs).toBeLessThan(5_000);
    // Until it has been given up twice.
    await page.whileTimePasses(page.clock.sleep(90_000));
    const looking = page.get('/api/status').then((response) => response.json());
    const report = (await page.whileTimePasses(looking)) as StatusReport;
    expect(report.targets).toMatchObject([
      { name: 'db', readable: false, problem: { code: 'TARGET_UNREACHABLE' } },
      { name: 'sheet', readable: true, problem: null },
    ]);
    expect(report.forms).toHaveLength(3);
    // However often it was tried, it was asked once before it hung and once since.
    expect(source.reads.get('db')).toBe(2);
  });

  it('keeps the pages out of caches, frames and other origins, and lets only its own script run', async () => {
    await using page = await startPage();
    const first = await page.get('/');
    const policy = first.headers.get('content-security-policy') ?? '';
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1];
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(await first.text()).toContain(`<script nonce="${nonce}">`);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    const second = await page.get('/');
    expect(second.headers.get('content-security-policy')).not.toBe(policy);
  });

  it('of a form shows its passes, what was rejected and why, and is found by any ID', async () => {
    const form = { id: 'a/b ü?', slug: 'odd', name: 'Odd <b>' };
    const source = new FakeSource();
    source.hold('db', [formOverview(form, { rejected: 1 })]);
    source.histories.set(`db/${form.id}`, [passRecord(5_000, { inserted: 7 })]);
    const item = { submissionId: 'sub_<1>', reason: 'No date.', stored: true };
    const seen = { firstSeenAt: before(9_000), lastSeenAt: before(5_000) };
    source.rejected.set(`db/${form.id}`, { total: 41, items: [{ ...item, ...seen }] });
    await using page = await startPage(source);
    const overview = await page.text('/');
    const link = /href="(\/forms\/[^"#]+)"/.exec(overview)?.[1] ?? '';
    const html = await page.text(link);
    expect(html).toContain('Odd &lt;b&gt;');
    expect(html).toContain('sub_&lt;1&gt;');
    expect(html).toContain('the newest 1 of 41');
    expect(overview).toContain(`${link}#rejected-db`);
    const json = (await (await page.get(`/api${link}`)).json()) as {
      passes: { inserted: number }[];
    }[];
    expect(json[0]?.passes[0]?.inserted).toBe(7);
  });

  it('that does not exist is said so, as a page or as JSON', async () => {
    await using page = await startPage();
    const asPage = await page.get('/forms/none', { accept: 'text/html' });
    expect(asPage.status).toBe(404);
    expect(await asPage.text()).toContain('There is nothing at this address');
    const asJson = await page.get('/api/forms/none', { accept: 'text/html' });
    expect([asJson.status, await asJson.json()]).toEqual([
      404,
      { error: 'There is nothing at this address.' },
    ]);
    expect((await page.get('/forms/%E0%A4%A')).status).toBe(400);
    expect((await fetch(`${page.server.url}/`, { method: 'POST' })).status).toBe(404);
  });

  it('follows the passes of this process without reading again', async () => {
    await using page = await startPage();
    const failure = new MirrorError('TARGET_UNREACHABLE', 'Target db does not answer.');
    const pass = passRecord(0, { outcome: 'failed', error: failure.message });
    page.events.emit('pass.ended', passReport(FORM_A, 'db', pass, failure));
    expect(await page.text('/')).toContain('1 form has failed');
  });

  it('that breaks says so without details', async () => {
    const source = calmSource();
    await using page = await startPage(source);
    source.plan = () => {
      throw new Error('secret inside');
    };
    const response = await page.get('/');
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('This failed; the log says more.');
  });
});

describe('whom it answers', () => {
  it.each([
    ['localhost:8080', 200],
    ['127.0.0.1', 200],
    ['127.8.8.8:1', 200],
    ['[::1]:8080', 200],
    ['evil.example', 421],
    ['localhost.evil.example:8080', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost@evil.example', 421],
  ])('without a password, a page for host "%s" is %d', async (host, status) => {
    await using page = await startPage();
    expect(await getAs(`${page.server.url}/`, host)).toBe(status);
    expect(await getAs(`${page.server.url}/health`, host)).toBe(200);
  });

  it('with a password, any name will do', async () => {
    await using page = await startPage(calmSource(), { adminPassword: 'pw' });
    expect(await getAs(`${page.server.url}/`, 'mirror.example')).toBe(401);
  });

  const basic = (user: string, password: string): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

  it.each([
    '/',
    '/api/status',
    '/metrics',
    '/forms/frm_a',
    '/api/forms/frm_a',
    '/none',
    '/favicon.ico',
  ])('with a password, %s needs it', async (path) => {
    await using page = await startPage(calmSource(), { adminPassword: 'pá:ss' });
    const refused = await page.get(path);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(await refused.text()).not.toContain('Form A');
    const admitted = await page.get(path, { authorization: basic('admin', 'pá:ss') });
    expect(admitted.status).not.toBe(401);
  });

  it('takes the password as a bearer token, and no other user or password', async () => {
    await using page = await startPage(calmSource(), { adminPassword: 'pass word' });
    const status = async (authorization: string): Promise<number> => {
      const answer = await page.whileTimePasses(page.get('/', { authorization }));
      return answer.status;
    };
    expect(await status('Bearer pass word')).toBe(200);
    expect(await status('Bearer pass wor')).toBe(401);
    expect(await status(basic('root', 'pass word'))).toBe(401);
    expect(await status('Digest pass word')).toBe(401);
  });
});

describe('alerts of a page', () => {
  it('are sent as passes end, and a webhook that refuses them is shown', async () => {
    await using webhook = await startWebhook();
    webhook.answer = (_request, response) => response.writeHead(410).end();
    await using page = await startPage(calmSource(), {
      alerts: { url: webhook.url },
      actor: IDLE_ACTOR,
    });
    expect(await page.text('/')).toContain('/act?do=alert');
    const pass = passRecord(0, { kind: 'full', outcome: 'withheld', withheld: 30 });
    page.events.emit('pass.ended', passReport(FORM_A, 'db', pass));
    await webhook.came(1);
    expect(webhook.bodies[0]).toMatchObject({ code: 'DELETIONS_HELD', form: { id: 'frm_a' } });
    await expect
      .poll(() => page.text('/'), { timeout: 60_000 })
      .toContain('Alerts are not delivered');
  });
});
