import { describe, expect, it } from 'vitest';
import { CostPlace } from '../support/large-source/cost-place.ts';
import { costOfBackfill } from '../support/large-source/worker-costs.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { createDatabase, postgresMissing, redisMissing, startRedis } from '../support/servers.ts';

/** Each has a window in hand. The third loses its own where the one that was killed ran the pass: it helped that one. */
const WORKERS = 3;

describe.skipIf(redisMissing() || postgresMissing())(
  'three workers over one form',
  { timeout: 400_000 },
  () => {
    it('L5, L13: one is killed with -9 and one stopped in the middle; the copy is whole, and at most a window a worker is read again', async ({
      onTestFinished,
    }) => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const place = await CostPlace.open({ forms: 1, submissions: 60_000 }, { SYNC_EVERY: '5s' });
      onTestFinished(() => place[Symbol.asyncDispose]());
      const targetUrl = await createDatabase(await lentPostgres());
      const { windowsAgain, ...costs } = await costOfBackfill(place, {
        workers: WORKERS,
        targetUrl,
        queueUrl: redis.url,
        latencyMs: 20,
        strikesAfter: 250,
      });
      process.stdout.write(`three workers: ${JSON.stringify({ windowsAgain, ...costs })}\n`);
      expect(await place.differences(targetUrl)).toBe(0);
      expect(windowsAgain).toBeLessThanOrEqual(WORKERS);
    });
  },
);
