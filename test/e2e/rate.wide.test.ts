import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Child } from '../support/child.ts';
import { PlainFormsServer } from '../support/plain-forms-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { redisMissing, startRedis } from '../support/servers.ts';

const QUOTA = 120;
const MINUTE_MS = 60_000;
/** In so long two that each take the whole of it send half as much again as is allowed here; so late a slot may be used. */
const [SPAN_MS, LATE_MS] = [20_000, 5_000];

/** Eight forms of 25 pages. */
function fill({ forms, submissions }: PlainFormsServer): void {
  const createdAt = '2025-12-01T00:00:00.000Z';
  for (let form = 0; form < 8; form++) {
    const id = `frm-${form}`;
    const schema = { sections: [{ fields: [{ id: 'field_1_a', label: 'a' }] }], logic: [] };
    forms.push({ id, name: id, slug: id, isPublished: true, createdAt, schema });
    for (let n = 0; n < 2_500; n++) {
      const at = new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
      const data = { field_1_a: `answer ${n}` };
      submissions.push({ id: `s-${form}-${n}`, formId: id, status: 'NEW', createdAt: at, data });
    }
  }
}

describe.skipIf(redisMissing())('FORMS_API_RATE', { timeout: 240_000 }, () => {
  it('two processes, each with half of a quota, keep to it: none is refused, and it is used', async ({
    onTestFinished,
  }) => {
    const server = await PlainFormsServer.start();
    const redis = await startRedis();
    const folder = scratchFolder('rate');
    fill(server);
    server.quotaPerMinute = QUOTA;
    const settings = {
      FORMS_API_URL: server.url,
      FORMS_API_KEY: server.apiKey,
      FORMS_API_RATE: String(QUOTA / 2),
      QUEUE_URL: redis.url,
      TARGET_URL: `sqlite:${join(folder, 'copy.sqlite')}`,
      TARGET_FIELDS: '*',
      DATA_DIR: folder,
      PORT: '0',
    };
    const children = [
      Child.cli(['start'], { ...settings, FORMS_API_AUTH: 'bearer' }, folder),
      Child.cli(['worker'], { ...settings, FORMS_API_AUTH: 'x-api-key' }, folder),
    ];
    onTestFinished(async () => {
      await Promise.all(children.map((child) => child.end('SIGKILL')));
      await server[Symbol.asyncDispose]();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const { arrivals } = server;
    await vi.waitFor(() => expect(arrivals.length).toBeGreaterThan(0.6 * QUOTA), {
      timeout: 200_000,
      interval: 200,
    });
    expect(arrivals.filter(({ status }) => status !== 200)).toEqual([]);
    const inSpanFrom = (fromMs: number): number =>
      arrivals.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + SPAN_MS).length;
    const most = Math.max(...arrivals.map(({ atMs }) => inSpanFrom(atMs)));
    const allowed = (QUOTA * SPAN_MS) / MINUTE_MS;
    expect(most).toBeLessThanOrEqual((allowed * (SPAN_MS + LATE_MS)) / SPAN_MS);
    expect(most).toBeGreaterThan(0.8 * allowed);
    const share = arrivals.filter(({ auth }) => auth === 'bearer').length / arrivals.length;
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.75);
  });
});
