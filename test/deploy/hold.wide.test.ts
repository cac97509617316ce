import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { OddServer, sendJson } from '../support/odd-server.ts';

const HOLD = resolve(import.meta.dirname, '../../bin/hold-on-exit-2.sh');

const SOON = { timeout: 30_000, interval: 20 };

/** Runs the script with these arguments, with the Node of the tests and only these settings. */
function hold(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const env = { ...settings, PATH: `${resolve(process.execPath, '..')}:${process.env['PATH']}` };
  const child = spawn('sh', [HOLD, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => void (text += piece));
  return {
    child,
    ended: new Promise<number | null>((done) => void child.once('exit', done)),
    /** Resolves when stderr contains `part`. */
    says: (part: string) => vi.waitFor(() => expect(text).toContain(part), SOON),
  };
}

describe.concurrent('a container with wrong settings', () => {
  it('waits after exit code 2 instead of ending, until it is stopped', async ({
    onTestFinished,
  }) => {
    const held = hold(['sync']);
    onTestFinished(() => void held.child.kill('SIGKILL'));
    await held.says('FORMS_API_URL is missing');
    await held.says('not restarted');
    held.child.kill('SIGTERM');
    expect(await held.ended).toBe(2);
  });

  it('passes any other exit code on', async () => {
    expect(await hold(['--version']).ended).toBe(0);
    await using server = await OddServer.start((_request, response) => sendJson(response, {}, 401));
    const settings = { FORMS_API_URL: server.url, FORMS_API_KEY: 'fk_0123456789' };
    expect(await hold(['forms'], settings).ended).toBe(1);
  });

  it('passes on a stop, and ends after the program', async ({ onTestFinished }) => {
    const held = hold(['sandbox', '--port', '0', '--submissions', '1']);
    onTestFinished(() => void held.child.kill('SIGKILL'));
    await held.says('Ctrl-C');
    held.child.kill('SIGTERM');
    expect(await held.ended).toBe(0);
  });
});
