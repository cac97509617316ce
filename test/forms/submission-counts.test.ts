import { describe, expect, it } from 'vitest';
import { SourceCounts } from '../../src/forms/submission-counts.ts';
import { OddServer, sendJson } from '../support/odd-server.ts';
import { makeClient } from './make-client.ts';

/** Counts of a server that answers each request with the `total` that `totalOf` gives it. */
async function withCounts(
  totalOf: (query: URLSearchParams, nth: number) => number,
  test: (counts: SourceCounts, asked: URLSearchParams[]) => Promise<void>,
): Promise<void> {
  const asked: URLSearchParams[] = [];
  await using server = await OddServer.start((request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    asked.push(query);
    const total = totalOf(query, asked.length);
    sendJson(response, { items: [], total, page: 1, limit: 1, totalPages: total });
  });
  await using client = makeClient(server.url, { concurrency: 1 });
  await test(new SourceCounts(client, {}), asked);
}

const of = (counts: Record<string, number>, total: number) => (query: URLSearchParams) => {
  const status = query.get('status');
  return status === null ? total : (counts[status] ?? 0);
};

describe('counts of submissions', () => {
  it('L16: asks for one item of what it counts', async () => {
    await withCounts(
      () => 1_000,
      async (counts, asked) => {
        const span = { dateFrom: '2026-01-01T00:00:00.000Z', dateTo: '2026-01-31T23:59:59.999Z' };
        expect(await counts.count({ formId: 'f', status: 'NEW', ...span })).toBe(1_000);
        expect(Object.fromEntries(asked[0] ?? [])).toEqual({
          formId: 'f',
          status: 'NEW',
          ...span,
          page: '1',
          limit: '1',
        });
      },
    );
  });

  it('L16: counts the workspace by status, and what has none of the documented ones', async () => {
    await withCounts(of({ NEW: 5, PAID: 2 }, 8), async (counts, asked) => {
      expect(await counts.byStatus({})).toEqual({
        total: 8,
        statuses: new Map([
          ['NEW', 5],
          ['PAID', 2],
        ]),
        other: 1,
        verdict: 'fits',
      });
      expect(asked).toHaveLength(7);
      expect(asked.some((query) => query.has('formId'))).toBe(false);
    });
  });

  it('L16: does not ask for a total that was just read', async () => {
    await withCounts(of({ NEW: 5 }, 5), async (counts, asked) => {
      expect(await counts.byStatus({ formId: 'f' }, 5)).toMatchObject({
        total: 5,
        verdict: 'fits',
      });
      expect(asked).toHaveLength(6);
    });
  });

  it('L3: knows an API that ignores status', async () => {
    for (const all of [1, 40]) {
      await withCounts(
        () => all,
        async (counts) => {
          expect(await counts.byStatus({})).toMatchObject({ other: 0, verdict: 'ignored' });
        },
      );
    }
  });

  it('L3: takes an API that refuses status for one that ignores it', async () => {
    await using server = await OddServer.start((request, response) => {
      const isRefused = (request.url ?? '').includes('status=');
      sendJson(
        response,
        isRefused ? {} : { items: [], total: 8, page: 1, limit: 1, totalPages: 8 },
        isRefused ? 400 : 200,
      );
    });
    await using client = makeClient(server.url, { concurrency: 1 });
    const counts = await new SourceCounts(client, {}).byStatus({ formId: 'f' });
    expect(counts).toEqual({ total: 8, statuses: new Map(), other: 8, verdict: 'ignored' });
  });

  it('L16: reads again where statuses changed meanwhile', async () => {
    // Seven answers in which one submission was counted as NEW and, a moment later, as DONE.
    const moving = (query: URLSearchParams, nth: number): number =>
      of({ NEW: nth <= 7 ? 6 : 5, DONE: 5 }, 10)(query);
    await withCounts(moving, async (counts, asked) => {
      expect(await counts.byStatus({})).toMatchObject({ total: 10, verdict: 'fits' });
      expect(asked).toHaveLength(14);
    });
    await withCounts(of({ NEW: 6, DONE: 5 }, 10), async (counts, asked) => {
      expect((await counts.byStatus({})).verdict).toBe('moved');
      expect((await counts.byStatus({}, 10)).verdict).toBe('moved');
      expect(asked).toHaveLength(14 + 6);
    });
  });

  it('an empty list is no sign that status is ignored', async () => {
    await withCounts(
      () => 0,
      async (counts) => {
        const none = { total: 0, statuses: new Map(), other: 0, verdict: 'fits' };
        expect(await counts.byStatus({})).toEqual(none);
      },
    );
  });
});
