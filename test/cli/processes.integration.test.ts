import { rmSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { Child, type Finally } from '../support/child.ts';
import { ChildPlace } from '../support/child-place.ts';
import { scratchFolder } from '../support/scratch.ts';
import { OddServer } from '../support/odd-server.ts';
import { redisMissing, startRedis } from '../support/servers.ts';

const DONE = { code: 0, signal: null };
const SOON = { timeout: 60_000, interval: 50 };

const openPlace = (onFinished: Finally): Promise<ChildPlace> =>
  ChildPlace.open({ store: createSampleWorkspace({ submissions: 250 }) }, onFinished);

/** A command with these variables as its whole environment, and without a sandbox. */
const startCli = (onFinished: Finally, args: readonly string[], env = {}): Child =>
  Child.cli(args, env).killedAfter(onFinished);

/** A demo, whose table stays for later, in a temporary folder. */
function startDemo(onFinished: Finally, ...args: string[]): Child {
  const folder = scratchFolder('demo', 128);
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return startCli(onFinished, ['demo', ...args], { TMPDIR: folder });
}

// Most of the time is spent waiting for a process to start or end.
describe.concurrent('demo', () => {
  it('shows a copy grow, verifies it, says how to open it, and exits', async ({
    onTestFinished,
  }) => {
    const demo = startDemo(onTestFinished, '--seconds', '3');
    expect(await demo.ended).toEqual(DONE);
    expect(demo.stdout).toMatch(/1,250 submissions/);
    expect(demo.stdout.match(/: the same as of .*; \d+ submissions compared$/gm)).toHaveLength(3);
    expect(demo.stdout).toMatch(/sqlite3 .*forms\.sqlite/);
    expect(demo.stderr).not.toMatch(/"level":[56]0/);
  });
});

describe.concurrent('the process', () => {
  it.skipIf(redisMissing())(
    'worker serves its probes at WORKER_PORT, also while its queue is unreachable',
    async ({ onTestFinished }) => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const place = await openPlace(onTestFinished);
      const worker = place.start(['worker'], { QUEUE_URL: redis.url, WORKER_PORT: '0' });
      await worker.shows(/at WORKER_PORT/, 'stderr');
      const [, url = ''] = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(worker.stderr) ?? [];
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/^forms_mirror_build_info\{.*role="worker"\} 1$/m);
      const health = async (): Promise<number> => (await fetch(`${url}/health`)).status;
      expect(await health()).toBe(200);
      redis.process?.kill('SIGKILL');
      await vi.waitFor(async () => expect(await health()).toBe(503), SOON);
    },
  );

  it('sync mirrors into the Sheets emulator that sandbox --sheets starts', async ({
    onTestFinished,
  }) => {
    const args = ['sandbox', '--port', '0', '--sheets', '--submissions', '60'];
    const sandbox = startCli(onTestFinished, args);
    await sandbox.shows(/TARGET_URL=sheets:\S+\n/);
    const env = parseEnv(sandbox.stdout);
    const sync = startCli(onTestFinished, ['sync', '--form', 'customer-feedback', '--json'], env);
    expect(await sync.ended).toEqual(DONE);
    expect(JSON.parse(sync.stdout)).toMatchObject({ runs: [{ outcome: 'ok', inserted: 12 }] });
    const [, view = ''] = await sandbox.shows(/shows its sheet at (\S+)/, 'stderr');
    expect(await (await fetch(view)).text()).toContain('Customer feedback');
  });

  it('ends at once on a second signal', async ({ onTestFinished }) => {
    const asked = Promise.withResolvers<void>();
    await using silent = await OddServer.start(() => asked.resolve());
    const source = { FORMS_API_URL: silent.url, FORMS_API_KEY: 'k', TARGET_FIELDS: '*' };
    const env = { ...source, LOG_LEVEL: 'info' };
    const forms = startCli(onTestFinished, ['forms'], env);
    await asked.promise;
    forms.process.kill('SIGINT');
    await forms.shows(/Stopping/, 'stderr');
    // Without a terminal, it is a line of the log.
    expect(forms.stderr).toMatch(/"msg":"Stopping/);
    expect(forms.stderr).not.toContain('Ctrl-C');
    const { code, signal } = await forms.end('SIGINT');
    // The signal itself ends the process if it is already exiting.
    expect([130, 'SIGINT']).toContain(code ?? signal);
  });

  it('does not fail if its reader disconnects', async ({ onTestFinished }) => {
    const place = await openPlace(onTestFinished);
    const forms = place.start(['forms']);
    forms.process.stdout?.destroy();
    expect(await forms.ended).toEqual(DONE);
    expect(forms.stderr).toBe('');
  });
});
