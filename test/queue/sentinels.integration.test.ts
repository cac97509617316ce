import { describe, expect, it, vi } from 'vitest';
import { SharedRate } from '../../src/queue/shared-rate.ts';
import { connectText, parseQueueUrl } from '../../src/queue/backends.ts';
import { startSentinels, type RedisGroup } from '../support/sentinels.ts';
import { redisMissing } from '../support/servers.ts';
import { FakeHandlers } from './fake-handlers.ts';
import { startAt } from './harness.ts';

const SOON = { timeout: 60_000, interval: 50 };
const FORMS = ['a', 'b', 'c'].map((formId) => ({ formId, targets: ['a'] }));

describe.skipIf(redisMissing())('a Redis that sentinels watch', () => {
  it('goes on when the master is killed', async () => {
    await using group: RedisGroup = await startSentinels();
    const place = { queueUrl: group.url, dataDir: '/nonexistent' };
    const handlers = new FakeHandlers(FORMS);
    const queue = await startAt(place, handlers, { incremental: { everyMs: 200 } });
    try {
      const passes = (): number => handlers.passes.length;
      await vi.waitFor(() => expect(passes()).toBeGreaterThan(6), SOON);
      expect(await queue.status()).toMatchObject({ reachable: true });
      expect((await queue.status()).address).not.toContain('kZ4v');
      await group.killMaster();
      const then = passes();
      await vi.waitFor(() => expect(passes()).toBeGreaterThan(then + 12), SOON);
      await vi.waitFor(async () => expect((await queue.status()).reachable).toBe(true), SOON);
      // What the workers share beside the queue is there, too.
      const connection = await connectText(parseQueueUrl(group.url));
      const rate = new SharedRate(connection!.text);
      const ask = { process: 'p', perMinute: 60, slots: 1, sent: 0, refusedForMs: null };
      expect(await rate.share(ask)).toMatchObject({ perMinute: 60 });
      await connection!.close();
    } finally {
      await queue.stop();
    }
  });
});
