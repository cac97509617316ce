import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import type { App } from '../../src/app.ts';
import { readWaitElsewhere } from '../../src/cli/process-record.ts';
import { ProcessFiles, type ProcessRecord } from '../../src/health/process-records.ts';
import { scratchFolder } from '../support/scratch.ts';

it('L17: what other processes wait for is heard of, as long as they live; what this one does is known', async () => {
  const dataDir = scratchFolder('records');
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const app = { config: { dataDir } } as unknown as App;
  const nowMs = Date.UTC(2026, 5, 1);
  const at = new Date(nowMs).toISOString();
  const files = new ProcessFiles(dataDir);
  const record = (pid: number, sinceMs: number): ProcessRecord => ({
    host: hostname(),
    pid,
    role: 'worker',
    startedAt: at,
    at,
    sourceWait: { sinceMs, untilMs: nowMs + 20_000, throttled: true, reason: 'answered 429' },
    queueAwaySince: null,
  });
  expect(await readWaitElsewhere(app, nowMs)).toBeNull();
  await files.write(record(process.pid, nowMs - 9_000));
  // No process has this ID.
  await files.write(record(2 ** 22 + 1, nowMs - 8_000));
  expect(await readWaitElsewhere(app, nowMs)).toBeNull();
  await files.write(record(process.ppid, nowMs - 7_000));
  expect(await readWaitElsewhere(app, nowMs)).toMatchObject({ sinceMs: nowMs - 7_000 });
  expect(await readWaitElsewhere(app, nowMs + 60_000)).toBeNull();
});
