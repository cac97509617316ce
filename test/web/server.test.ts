import { networkInterfaces } from 'node:os';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MirrorError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Metrics } from '../../src/web/metrics.ts';
import type { BoardAnswer } from '../../src/web/pages.ts';
import { type ListenPlace, startServer } from '../../src/web/server.ts';
import { FORM_A, formReport, reportOf } from './fixtures.ts';
import { LOCAL, startPage } from './start-page.ts';

/** The status of a request with its own Host header, which fetch does not allow. */
async function getAs(url: string, host: string, method: 'GET' | 'POST' = 'GET'): Promise<number> {
  const { statusCode, body } = await request(url, { method, headers: { host } });
  await body.dump();
  return statusCode;
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
  });

  it('says what to set if the port is in use, the host is not ours, or everyone could get in', async () => {
    await using page = await startPage();
    const port = Number(new URL(page.server.url).port);
    const refusal = async (changes: Parameters<typeof startPage>[1]): Promise<MirrorError> => {
      const error = await startPage(reportOf(), changes).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(MirrorError);
      return error as MirrorError;
    };
    const taken = await refusal({ place: { ...LOCAL, port } });
    expect(taken.code).toBe('SETTINGS');
    expect(taken.message).toContain(`PORT ${port}`);
    expect(taken.message).toContain('set another PORT');
    const foreign = await refusal({ place: { ...LOCAL, host: '192.0.2.1' }, adminPassword: 'x' });
    expect(foreign.message).toContain('such as 127.0.0.1');
    const open = await refusal({ place: { ...LOCAL, host: '0.0.0.0' } });
    expect(open.message).toContain('ADMIN_PASSWORD');
  });

  it.skipIf(!hasIpv6)('at an IPv6 address, with or without brackets', async () => {
    for (const host of ['::1', '[::1]']) {
      await using page = await startPage(reportOf(), { place: { ...LOCAL, host } });
      expect(page.server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
      expect((await page.get('/')).status).toBe(200);
    }
  });
});

describe('health', () => {
  it('is about this process, and needs no password: a failing copy does not change it, a failing queue does', async () => {
    const form = formReport(FORM_A, 'db', { state: 'failed' });
    await using page = await startPage(reportOf([form]), { adminPassword: 'pw' });
    const health = await page.get('/health');
    expect([health.status, await health.json()]).toEqual([200, { ok: true, mirror: 'failed' }]);
    expect(health.headers.get('cache-control')).toBe('no-store');
    const message = 'The queue (redis://queue.internal:6379) does not answer.';
    // Also if it answers: it may be unfit for use.
    page.queue = { isReachable: true, problem: { code: 'QUEUE_FAILED', message, sinceMs: null } };
    for (const path of ['/health', '/ready']) {
      const response = await page.get(path);
      // The routes are open to everyone, so they name no place.
      const body = { ok: false, reason: 'The queue does not work.', mirror: 'failed' };
      expect([response.status, await response.json()]).toEqual([503, body]);
    }
    // Not a reason to kill the process: a restart does not bring the queue back.
    expect((await page.get('/live')).status).toBe(200);
  });

  it('is ready once targets were read', async () => {
    await using page = await startPage();
    page.hasRead = false;
    expect((await page.get('/health')).status).toBe(200);
    const response = await page.get('/ready');
    expect([response.status, await response.json()]).toEqual([
      503,
      { ok: false, reason: 'Starting.', mirror: 'ok' },
    ]);
  });
});

describe('a page', () => {
  it('is the report as JSON, too', async () => {
    await using page = await startPage();
    expect(await (await page.get('/api/status')).json()).toEqual(page.report);
  });

  it('stays out of caches, frames and other origins, and runs only its own script', async () => {
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
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const second = await page.get('/');
    expect(second.headers.get('content-security-policy')).not.toBe(policy);
  });

  it('that does not exist is answered with 404', async () => {
    await using page = await startPage();
    const none = await page.get('/forms/none');
    expect(none.status).toBe(404);
    expect(await none.text()).toContain('There is nothing at this address');
    expect((await page.get('/forms/%E0%A4%A')).status).toBe(400);
    expect((await fetch(`${page.server.url}/`, { method: 'POST' })).status).toBe(404);
  });

  it('L15: shows no details if it breaks', async () => {
    const broken = {
      refresh: () => Promise.reject(new Error('secret inside')),
      current: reportOf,
      hasRead: true,
      expire: () => undefined,
    };
    await using page = await startPage(reportOf(), { reports: broken });
    const response = await page.get('/');
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('This failed; the log has the reason.');
  });
});

describe('whom it answers', () => {
  it.each([
    ['localhost:8080', 200],
    ['127.8.8.8:1', 200],
    ['[::1]:8080', 200],
    ['evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost@evil.example', 421],
  ])('without a password, a page for host "%s" is %d', async (host, status) => {
    await using page = await startPage();
    expect(await getAs(`${page.server.url}/`, host)).toBe(status);
    // With a name that another person has pointed here (DNS rebinding), nobody can act either.
    const isTold = (await getAs(`${page.server.url}/actions`, host, 'POST')) === 421;
    expect(isTold).toBe(status === 421);
    expect(await getAs(`${page.server.url}/health`, host)).toBe(200);
  });

  it('with a password, any name is accepted', async () => {
    await using page = await startPage(reportOf(), { adminPassword: 'pw' });
    expect(await getAs(`${page.server.url}/`, 'mirror.example')).toBe(401);
  });

  it.each(['/', '/api/status', '/metrics', '/forms/frm_a', '/none', '/favicon.ico', '/queue/x'])(
    'with a password, %s needs it',
    async (path) => {
      await using page = await startPage(reportOf(), { adminPassword: 'pá:ss' });
      const refused = await page.get(path);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
      expect(await refused.text()).not.toContain('Form A');
      const login = Buffer.from('admin:pá:ss').toString('base64');
      const admitted = await page.get(path, { authorization: `Basic ${login}` });
      expect(admitted.status).not.toBe(401);
    },
  );
});

describe('the page of the queue', () => {
  it('is answered by the board, read-only', async () => {
    const asked: string[] = [];
    const board = async (path: string): Promise<BoardAnswer> => {
      asked.push(path);
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      return { statusCode: 200, headers, rawPayload: Buffer.from(`<p>${path}`) };
    };
    await using page = await startPage(reportOf(), { board });
    for (const path of ['/queue', '/queue/api/queues?page=2&status=active', '/queue/static/x.js']) {
      const answer = await page.get(path);
      expect([answer.status, await answer.text()]).toEqual([200, `<p>${path}`]);
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await fetch(`${page.server.url}/queue/api/queues/pause`, { method });
      expect(answer.status).toBe(404);
    }
    expect(asked).toHaveLength(3);
    const { headers } = await page.get('/queue');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*|font-src|unsafe-eval/);
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).toBe("'self'");
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('L15: says only that the queue is unreachable if the board fails or hangs', async () => {
    for (const board of [
      () => Promise.reject(new Error('redis://user:secret@host')),
      () => new Promise<never>(() => undefined),
      async () => ({ statusCode: 500, headers: {}, rawPayload: Buffer.from('its own message') }),
    ]) {
      await using page = await startPage(reportOf(), { board });
      const answer = await page.get('/queue');
      expect(answer.status).toBe(503);
      expect(await answer.text()).toBe('The queue does not answer. The status page has more.');
    }
  });
});

describe('the server of a worker', () => {
  const start = (place: Partial<ListenPlace> = {}) =>
    startServer(
      {
        place: { ...LOCAL, variable: 'WORKER_PORT', ...place },
        adminPassword: 'open sesame, please',
        queue: async () => ({ isReachable: true, problem: null }),
        metrics: new Metrics({ version: '1.2.3', role: 'worker' }),
        logger: silentLogger,
      },
      () => undefined,
    );

  it('has probes, metrics behind the password, and no page', async () => {
    const server = await start();
    onTestFinished(() => server.stop());
    for (const path of ['/live', '/health', '/ready'])
      expect(await (await fetch(server.url + path)).json()).toEqual({ ok: true });
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
    const headers = { authorization: 'Bearer open sesame, please' };
    const metrics = await fetch(`${server.url}/metrics`, { headers });
    expect(metrics.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await metrics.text()).toMatch(/^forms_mirror_queue_up 1$/m);
    expect((await fetch(server.url, { headers })).status).toBe(404);
    const port = Number(new URL(server.url).port);
    await expect(start({ port })).rejects.toThrow('set another WORKER_PORT');
  });
});
