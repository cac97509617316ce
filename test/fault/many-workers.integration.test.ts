import { describe, expect, it } from 'vitest';
import { CostPlace } from '../support/large-source/cost-place.ts';
import { costOfBackfill } from '../support/large-source/worker-costs.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { createDatabase, postgresMissing, redisMissing, startRedis } from '../support/servers.ts';

/** Pages of one window: more than that nobody has to read again after a worker was struck down. */
const WINDOW_PAGES = 200;

describe.skipIf(redisMissing() || postgresMissing())(
  'three workers over one form',
  { timeout: 400_000 },
  () => {
    it('L5, L13: one is killed with -9 and one stopped in the middle; the copy is whole, and two windows at most are read again', async ({
      onTestFinished,
    }) => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const place = await CostPlace.open({ forms: 1, submissions: 100_000 }, { SYNC_EVERY: '5s' });
      onTestFinished(() => place[Symbol.asyncDispose]());
      const targetUrl = await createDatabase(await lentPostgres());
      const { requests, again, ms } = await costOfBackfill(place, {
        workers: 3,
        targetUrl,
        queueUrl: redis.url,
        latencyMs: 20,
        strikesAfter: 400,
      });
      process.stdout.write(`three workers: ${JSON.stringify({ requests, again, ms })}\n`);
      expect(await place.differences(targetUrl)).toBe(0);
      expect(again).toBeLessThanOrEqual(2 * WINDOW_PAGES);
    });
  },
);
