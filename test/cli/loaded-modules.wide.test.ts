import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/forms-api/sample-workspace.ts';
import { Child, type Finally } from '../support/child.ts';
import { ChildPlace } from '../support/child-place.ts';

const ROOT = `${pathToFileURL(resolve(import.meta.dirname, '../..')).href}/`;
const TRACER = `${ROOT}test/support/traced-child.ts`;

/** What exists for trying things out: neither the worker nor the help may load it. */
const TRIAL = /^src\/(sandbox|cli\/(demo|sandbox))|google-sheets-emulator/;
/** What single commands need, or nobody who did not ask for it: nothing that every long run loads. */
const OF_COMMANDS = /^node_modules\/(csv-stringify|nodemailer|yaml)\//;
/** What shows the jobs of the queue: for whoever opens that page. */
const OF_BOARD = /^src\/queue\/board\.ts|^node_modules\/(@bull-board|ejs|valibot|redis-info)\//;

interface TracedCli {
  readonly child: Child;
  /** The modules that it loaded until it ended, as paths in this repository. */
  loaded(): Promise<string[]>;
}

async function startTraced(
  onFinished: Finally,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<TracedCli> {
  const place = await ChildPlace.open(onFinished, {
    store: createSampleWorkspace({ submissions: 250 }),
  });
  const trace = join(place.folder, 'modules.txt');
  const tracing = { NODE_OPTIONS: `--import ${TRACER}`, MODULE_TRACE: trace };
  const child = place.start(args, { ...settings, ...tracing });
  return {
    child,
    async loaded() {
      await child.ended;
      const urls = readFileSync(trace, 'utf8').split('\n');
      return urls.filter((url) => url.startsWith(ROOT)).map((url) => url.slice(ROOT.length));
    },
  };
}

describe.concurrent('the modules that a process loads', () => {
  it('start and worker load none of the sandbox, the demo or the emulator', async ({
    onTestFinished,
  }) => {
    // No Redis is there: the worker exits once all that it needs is loaded.
    const queue = { QUEUE_URL: 'redis://127.0.0.1:1' };
    const worker = await startTraced(onTestFinished, ['worker'], queue);
    const start = await startTraced(onTestFinished, ['start']);
    await start.child.shows(/"outcome":"ok"/, 'stderr');
    await start.child.shows(/The status page is open/, 'stderr');
    await start.child.end('SIGTERM');
    for (const [cli, needed] of [
      [start, ['src/cli/start.ts', 'src/queue/runtime.ts', 'src/web/server.ts']],
      [worker, ['src/cli/worker.ts', 'src/queue/runtime.ts', 'src/app.ts']],
    ] as const) {
      const loaded = await cli.loaded();
      expect(loaded).toEqual(expect.arrayContaining([...needed]));
      expect(loaded.filter((path) => TRIAL.test(path) || OF_COMMANDS.test(path))).toEqual([]);
      expect(loaded.filter((path) => OF_BOARD.test(path))).toEqual([]);
    }
  });

  it('start loads the page of the queue when somebody first opens it', async ({
    onTestFinished,
  }) => {
    const start = await startTraced(onTestFinished, ['start']);
    await start.child.shows(/The status page is open/, 'stderr');
    const [, url = ''] = /"url":"(http[^"]+)"/.exec(start.child.stderr) ?? [];
    const answer = await fetch(`${url}/queue/api/queues?page=1&jobsPerPage=5`);
    expect(((await answer.json()) as { queues: unknown[] }).queues.length).toBeGreaterThan(2);
    await start.child.end('SIGTERM');
    expect((await start.loaded()).filter((path) => OF_BOARD.test(path))).not.toEqual([]);
  });

  it('sandbox loads the emulator only when --sheets asks for it', async ({ onTestFinished }) => {
    const plain = await startTraced(onTestFinished, [
      'sandbox',
      '--port',
      '0',
      '--submissions',
      '5',
    ]);
    await plain.child.shows(/FORMS_API_URL/);
    await plain.child.end('SIGINT');
    const loaded = await plain.loaded();
    expect(loaded).toContain('src/sandbox/forms-api/sandbox.ts');
    expect(loaded.filter((path) => path.includes('google-sheets-emulator'))).toEqual([]);
  });

  it('the help loads no command, and of the libraries only the one that reads the command line', async ({
    onTestFinished,
  }) => {
    const loaded = await (await startTraced(onTestFinished, ['--help'])).loaded();
    expect(loaded).toContain('src/cli/commands.ts');
    expect(loaded.filter((path) => TRIAL.test(path))).toEqual([]);
    const libraries = loaded.flatMap((path) => /^node_modules\/([^/]+)/.exec(path)?.[1] ?? []);
    expect([...new Set(libraries)]).toEqual(['commander']);
  });

  it('are compiled once, and kept beside the code for the next process', async ({
    onTestFinished,
  }) => {
    const env = { NODE_COMPILE_CACHE: undefined, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const helped = async (): Promise<string> => {
      const child = Child.cli(['--help'], env).killedAfter(onTestFinished);
      await child.ended;
      return child.stderr;
    };
    await helped();
    const told = await helped();
    expect(told).toContain(resolve(import.meta.dirname, '../../node_modules/.cache/compile'));
    expect(told).toMatch(/src\/cli\.ts was accepted/);
  });
});
