import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { parseEnv } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPlace } from '../support/cli-sandbox.ts';
import { spawnCli } from '../support/cli-process.ts';

describe('demo', () => {
  it('shows a copy grow, proves it, says how to open it, and ends by itself', async () => {
    const demo = spawnCli(['demo', '--seconds', '3', '--submissions', '200'], {}, tmpdir());
    expect(await demo.ended).toBe(0);
    expect(demo.stdout()).toMatch(/3 forms and 200 submissions/);
    expect(demo.stdout()).toMatch(/^status +created_at +/m);
    expect(demo.stdout()).toMatch(/Compared row by row with the source: \d+ rows, all the same/);
    expect(demo.stdout()).toMatch(/sqlite3 .*forms\.sqlite/);
    expect(demo.stderr()).not.toMatch(/"level":[56]0/);
  });

  it('ends in good order on Ctrl-C', async () => {
    const demo = spawnCli(['demo', '--keep-running', '--submissions', '100'], {}, tmpdir());
    await demo.until(/What arrives in the table/);
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(0);
    expect(demo.stdout()).toContain('all the same');
  });
});

describe('start', () => {
  it('mirrors on its own, and on SIGTERM finishes what is in hand and exits 0', async () => {
    const { env, rows, sandbox } = await openPlace();
    const start = spawnCli(['start'], { ...env, SYNC_EVERY: '1s', PORT: '0' }, tmpdir());
    await start.until(/("outcome":"ok"[\s\S]*){3}/);
    await start.until(/The status page is open/);
    const [, page = ''] = /"url":"(http[^"]+)"/.exec(start.stderr()) ?? [];
    expect((await fetch(`${page}/health`)).status).toBe(200);
    expect(await (await fetch(page)).text()).toContain('customer-feedback');
    start.child.kill('SIGTERM');
    expect(await start.ended).toBe(0);
    expect(rows('SELECT sum(distinct_seen) AS n FROM mirror_passes WHERE inserted > 0')).toEqual([
      { n: 250 },
    ]);
    expect(start.stdout()).toBe('');
    expect(start.stderr()).not.toContain(sandbox.apiKey);
  });

  it('says what is wrong before anything runs, and exits', async () => {
    const { env } = await openPlace();
    const wrongKey = spawnCli(['start'], { ...env, FORMS_API_KEY: 'wrong' }, tmpdir());
    expect(await wrongKey.ended).toBe(1);
    expect(wrongKey.stderr()).toContain('FORMS_UNAUTHORIZED');
    const open = spawnCli(['start'], { ...env, HOST: '0.0.0.0' }, tmpdir());
    expect(await open.ended).toBe(2);
    expect(open.stderr()).toContain('ADMIN_PASSWORD is missing');
  });
});

describe('worker', () => {
  it('without a queue to share says so and exits 2', async () => {
    const { env } = await openPlace();
    const worker = spawnCli(['worker'], env, tmpdir());
    expect(await worker.ended).toBe(2);
    expect(worker.stderr()).toContain('QUEUE_URL');
  });
});

describe('the process', () => {
  it('sandbox and sync work together as README has it, and Ctrl-C ends the sandbox with 0', async () => {
    const { env } = await openPlace();
    const sandbox = spawnCli(['sandbox', '--port', '0', '--json'], {}, tmpdir());
    await sandbox.until(/"forms":/);
    const { url, key } = JSON.parse(sandbox.stdout()) as { url: string; key: string };
    const sync = spawnCli(
      ['sync', '--json'],
      { ...env, FORMS_API_URL: url, FORMS_API_KEY: key },
      tmpdir(),
    );
    expect(await sync.ended).toBe(0);
    sandbox.child.kill('SIGINT');
    expect(await sandbox.ended).toBe(0);
  });

  it('sync mirrors into the stand-in for Google Sheets that sandbox --sheets offers', async () => {
    const sandbox = spawnCli(
      ['sandbox', '--port', '0', '--sheets', '--submissions', '60'],
      {},
      tmpdir(),
    );
    await sandbox.until(/TARGET_URL=sheets:\S+\n/);
    const env = parseEnv(sandbox.stdout());
    const sync = spawnCli(['sync', '--form', 'customer-feedback', '--json'], env, tmpdir());
    expect(await sync.ended).toBe(0);
    expect(JSON.parse(sync.stdout())).toMatchObject({ passes: [{ outcome: 'ok', inserted: 12 }] });
    const [, view = ''] = /shows its sheet at (\S+)/.exec(sandbox.stderr()) ?? [];
    expect(await (await fetch(view)).text()).toContain('Customer feedback');
  });

  it('a second signal ends it at once', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    onTestFinished(() => void (silent.closeAllConnections(), silent.close()));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const env = {
      FORMS_API_URL: `http://127.0.0.1:${port}`,
      FORMS_API_KEY: 'k',
      TARGET_FIELDS: '*',
    };
    const sync = spawnCli(['forms'], env, tmpdir());
    await new Promise((done) => silent.once('connection', done));
    sync.child.kill('SIGINT');
    await sync.until(/Stopping/);
    sync.child.kill('SIGINT');
    // The signal's own end, when it comes as the process is leaving already.
    expect([130, 'SIGINT']).toContain(await sync.ended);
  });

  it('a reader that goes away is no error', async () => {
    const { env } = await openPlace();
    const fields = spawnCli(['fields'], env, tmpdir());
    fields.child.stdout?.destroy();
    expect(await fields.ended).toBe(0);
    expect(fields.stderr()).toBe('');
  });
});
