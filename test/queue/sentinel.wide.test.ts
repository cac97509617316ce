import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { scratchFolder } from '../support/scratch.ts';
import { freePort, redisMissing, startRedis } from '../support/servers.ts';
import { FakeHandlers } from './fake-handlers.ts';
import { startAt } from './harness.ts';

const SERVER = 'redis-server';
const PASSWORD = 'kZ4vQ1mW-group';

it.skipIf(redisMissing() || 'TEST_REDIS_URL' in process.env)(
  'L15: a Redis is found through its sentinel, each with its own password, and neither is shown',
  { timeout: 60_000 },
  async ({ onTestFinished }) => {
    const folder = scratchFolder('sentinel');
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const redis = await startRedis(['--requirepass', PASSWORD]);
    onTestFinished(() => redis.stop());
    const port = await freePort();
    const file = join(folder, 'sentinel.conf');
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor mirror 127.0.0.1 ${new URL(redis.url).port} 1`,
      `sentinel auth-pass mirror ${PASSWORD}`,
      'requirepass sentinels',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const sentinel = spawn(SERVER, [file, '--sentinel'], { stdio: 'ignore' });
    onTestFinished(async () => {
      sentinel.kill('SIGKILL');
      await once(sentinel, 'exit');
    });
    const queueUrl = `redis+sentinel://:${PASSWORD}@127.0.0.1:${port}/mirror?sentinelPassword=sentinels`;
    const handlers = new FakeHandlers(['a', 'b']);
    // Opening waits for a server that is still starting.
    const queue = await startAt({ queueUrl, dataDir: '/nonexistent' }, handlers, {
      schedule: { everyMs: 200 },
    });
    onTestFinished(() => queue.stop());
    await vi.waitFor(() => expect(handlers.syncs.length).toBeGreaterThan(1), 30_000);
    expect(JSON.stringify(await queue.status())).not.toMatch(/kZ4v|sentinels/);
  },
);
