import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import type { ListenPlace } from '../../src/web/listen.ts';
import { Metrics } from '../../src/web/metrics.ts';
import { type ServerOptions, startServer } from '../../src/web/server.ts';

const LOCAL: ListenPlace = { host: '127.0.0.1', port: 0, variable: 'WORKER_PORT' };

async function start(changes: Partial<ServerOptions> = {}) {
  const options = {
    place: LOCAL,
    adminPassword: undefined,
    queue: async () => ({ isReachable: true, trouble: null }),
    metrics: new Metrics({ version: '1.2.3', role: 'worker' }),
    logger: silentLogger,
  };
  const server = await startServer({ ...options, ...changes }, () => undefined);
  const get = (path: string, authorization?: string): Promise<Response> =>
    fetch(server.url + path, authorization === undefined ? {} : { headers: { authorization } });
  return { server, get, [Symbol.asyncDispose]: () => server.stop() };
}

describe('the report of a worker on itself', () => {
  it('is that it lives, that its queue answers, and its metrics; it has no page', async () => {
    await using worker = await start();
    for (const path of ['/live', '/health', '/ready']) {
      const response = await worker.get(path);
      expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
    }
    const metrics = await worker.get('/metrics');
    expect(metrics.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await metrics.text()).toMatch(/^forms_mirror_queue_up 1$/m);
    expect((await worker.get('/')).status).toBe(404);
  });

  it('is alive and not ready while the queue has failed, also where it answers', async () => {
    const message = 'The queue has failed.';
    const trouble = { code: 'QUEUE_FAILED', message, sinceMs: null } as const;
    await using worker = await start({ queue: async () => ({ isReachable: true, trouble }) });
    expect((await worker.get('/live')).status).toBe(200);
    for (const path of ['/health', '/ready']) {
      const response = await worker.get(path);
      expect([response.status, await response.json()]).toEqual([
        503,
        { ok: false, reason: message },
      ]);
    }
  });

  it('is behind the password where there is one, except for what supervisors ask', async () => {
    await using worker = await start({ adminPassword: 'open sesame, please' });
    expect((await worker.get('/metrics')).status).toBe(401);
    expect((await worker.get('/metrics', 'Bearer open sesame, please')).status).toBe(200);
    expect((await worker.get('/ready')).status).toBe(200);
  });

  it('says what to set where it cannot listen, or where others would read along', async () => {
    await using worker = await start();
    const port = Number(new URL(worker.server.url).port);
    await expect(start({ place: { ...LOCAL, port } })).rejects.toThrow(`WORKER_PORT=${port + 1}`);
    await expect(start({ place: { ...LOCAL, host: '0.0.0.0' } })).rejects.toThrow(
      /WORKER_PORT: set ADMIN_PASSWORD/,
    );
  });
});
