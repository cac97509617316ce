import { describe, expect, it } from 'vitest';
import type { JobBoard } from '../../src/web/queue-route.ts';
import { calmSource, startPage } from './start-page.ts';

/** A board that repeats what it is asked for. */
function board(): JobBoard & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async get(path) {
      asked.push(path);
      return { status: 200, type: 'text/html; charset=utf-8', body: Buffer.from(`<p>${path}`) };
    },
  };
}

describe('the page of the queue', () => {
  it('is answered by the board, and by nothing where there is none', async () => {
    const jobs = board();
    await using page = await startPage(calmSource(), { board: jobs });
    for (const path of ['/queue', '/queue/api/queues?page=2&status=active', '/queue/static/x.js']) {
      const answer = await page.get(path);
      expect([answer.status, await answer.text()]).toEqual([200, `<p>${path}`]);
    }
    expect(jobs.asked).toHaveLength(3);
    await using without = await startPage();
    expect((await without.get('/queue')).status).toBe(404);
  });

  it('loads nothing from elsewhere, and nothing frames it', async () => {
    await using page = await startPage(calmSource(), { board: board() });
    const { headers } = await page.get('/queue');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*|font-src|unsafe-eval/);
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).toBe("'self'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-frame-options')).toBe('DENY');
    // Its rules are not those of the other pages.
    const usual = (await page.get('/')).headers.get('content-security-policy');
    expect(usual).not.toContain('unsafe-inline');
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('lets nobody act: %s', async (method) => {
    const jobs = board();
    await using page = await startPage(calmSource(), { board: jobs });
    const answer = await fetch(`${page.server.url}/queue/api/queues/pause`, { method });
    expect(answer.status).toBe(404);
    expect(jobs.asked).toEqual([]);
  });

  it('is behind the password, like every page', async () => {
    const jobs = board();
    await using page = await startPage(calmSource(), { board: jobs, adminPassword: 'pw' });
    for (const path of ['/queue', '/queue/', '/queue/api/queues', '/queue/static/js/main.js']) {
      expect((await page.get(path)).status).toBe(401);
    }
    expect(jobs.asked).toEqual([]);
    const authorization = 'Bearer pw';
    expect((await page.get('/queue', { authorization })).status).toBe(200);
  });

  it('L15: says no more than that the queue is away when the board fails or hangs', async () => {
    const failing = () => Promise.reject(new Error('redis://user:secret@host'));
    await using broken = await startPage(calmSource(), { board: { get: failing } });
    const answer = await broken.get('/queue');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toBe('The queue does not answer. The status page says more.');
    await using hung = await startPage(calmSource(), {
      board: { get: () => new Promise<never>(() => {}) },
    });
    expect((await hung.whileTimePasses(hung.get('/queue'))).status).toBe(503);
  });
});
