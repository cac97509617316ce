import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../settings/config.ts';
import { createSampleWorkspace } from '../sandbox/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { runTraffic } from '../sandbox/traffic.ts';
import type { CommandCall, ExitCode, Host } from './host.ts';
import { openApp } from './open-app.ts';
import { type SandboxSheet, startSandboxSheet } from './sandbox.ts';
import { runLines } from './sync-report.ts';
import { serve } from './start.ts';
import { sync } from './sync.ts';
import { verify } from './verify.ts';

/** Submissions and status changes at the source. */
const TRAFFIC_PER_MINUTE = 90;
/** The longest time for the comparison at the end. */
const LAST_MS = 5 * 60_000;

interface DemoOptions {
  readonly seconds: number;
  readonly keepRunning?: boolean;
  readonly sheets?: boolean;
}

/** `demo`: the commands `sync`, `start` and `verify` over a sample Forms API, without any settings. */
export async function demo({
  host: started,
  options,
}: CommandCall<DemoOptions>): Promise<ExitCode> {
  const watchMs = options.keepRunning ? Number.POSITIVE_INFINITY : options.seconds * 1_000;
  await using opened = new AsyncDisposableStack();
  const sheet = options.sheets ? opened.use(await startSandboxSheet()) : undefined;
  const file = join(mkdtempSync(join(tmpdir(), 'forms-mirror-demo-')), 'forms.sqlite');
  const sandbox = opened.use(await startSandbox(createSampleWorkspace()));
  const needs = { source: true, serves: 'PORT' } as const;
  const config = loadConfig(settings(sandbox, file, sheet), noFiles, needs);
  const host: Host = { ...started, loadConfig: () => Promise.resolve(config) };
  const { terminal, stop } = host;
  terminal.print(`A sample Forms API with 1,250 submissions is mirrored into ${file}`);
  if (sheet !== undefined) terminal.print(`and into a sheet. Watch it here: ${sheet.viewUrl}`);
  terminal.print('');
  const first = await sync({ host, args: [], options: {} });
  // Ctrl-C is a regular way to end the demo.
  if (first !== 0) return stop.signal.aborted ? 0 : first;
  terminal.print('');
  await watch(host, sandbox, watchMs);
  // The source no longer changes. This also runs after Ctrl-C, which ended the traffic.
  const last = { ...host, stop: { ...stop, signal: AbortSignal.timeout(LAST_MS) } };
  terminal.print('', 'Everything is read and compared once more:', '');
  const synced = await sync({ host: last, args: [], options: { full: true } });
  terminal.print('');
  const same = await verify({ host: last, args: [], options: {} });
  const query = 'SELECT * FROM customer_feedback_labelled LIMIT 5';
  terminal.print('', `Look at it: sqlite3 -header -column ${file} '${query}'`);
  return synced === 0 ? same : synced;
}

/** The settings of the demo, which ignores the environment and .env. */
function settings(
  { url, apiKey }: Sandbox,
  file: string,
  sheet: SandboxSheet | undefined,
): Record<string, string> {
  const table = `sqlite:${file}`;
  return {
    FORMS_API_URL: url,
    FORMS_API_KEY: apiKey,
    TARGET_FIELDS: '*',
    DATA_DIR: join(file, '..'),
    SYNC_EVERY: '2s',
    RECONCILE_EVERY: '6s',
    LOG_LEVEL: 'error',
    PORT: '0',
    ...(sheet === undefined
      ? { TARGET_URL: table }
      : {
          TARGETS: 'table,sheet',
          TARGET_TABLE_URL: table,
          TARGET_SHEET_URL: sheet.env.TARGET_URL,
          SHEETS_EMULATOR_URL: sheet.env.SHEETS_EMULATOR_URL,
        }),
  };
}

function noFiles(path: string): never {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
}

/** Generates traffic at the source for a while, and shows each run that changes something. */
async function watch(host: Host, { store }: Sandbox, watchMs: number): Promise<void> {
  const { terminal, stop, clock } = host;
  await using app = await openApp(host, { source: true, reportsRuns: true });
  app.events.on('run.ended', (report) => {
    if (report.inserted + report.updated + report.deleted > 0) terminal.print(...runLines(report));
  });
  terminal.print(
    'Now people fill in forms and colleagues change statuses. These runs copy the changes:',
  );
  const over = new AbortController();
  const signal = AbortSignal.any([stop.signal, over.signal]);
  const page = Promise.withResolvers<string>();
  const serving = serve({ ...host, stop: { ...stop, signal } }, app, page.resolve);
  const url = await Promise.race([page.promise, serving.then(() => null)]);
  if (url !== null) terminal.print(`The status page shows them too: ${url}`, '');
  const traffic = runTraffic(store, { perMinute: TRAFFIC_PER_MINUTE, signal });
  // The wait also ends with Ctrl-C, and when the work fails.
  await Promise.race([clock.sleep(watchMs, signal).catch(() => {}), serving]);
  over.abort();
  await Promise.all([traffic, serving]);
}
