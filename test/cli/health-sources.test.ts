import { expect, it, onTestFinished } from 'vitest';
import { rmSync } from 'node:fs';
import type { App } from '../../src/app.ts';
import { healthSources } from '../../src/cli/health-sources.ts';
import { DataDir } from '../../src/health/data-dir.ts';
import type { QueueRuntime } from '../../src/queue/runtime.ts';
import { NOW, WAIT } from '../health/facts.ts';
import { scratchFolder } from '../support/scratch.ts';
import { TestClock } from '../support/test-clock.ts';

it('`start` shows that another process waits for the source', async () => {
  const folder = scratchFolder('health');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const dataDir = new DataDir(folder);
  const troubles = [WAIT];
  const worker = { host: 'web-7', pid: 42, role: 'worker', atMs: NOW, troubles };
  await dataDir.processes.of(worker.host, worker.pid).write({ ...worker, role: 'worker' });
  const app = { config: {}, clock: new TestClock(NOW), dataDir } as unknown as App;
  const running = { queue: {} as QueueRuntime, troubles: () => [] };
  const sources = healthSources(app, { version: '1' }, running, []);
  expect((await sources.files()).troubles).toEqual(troubles);
});
