import { mkdtempSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LinkedSignal } from '../base/clock.ts';
import { plural } from '../base/format.ts';
import { shellWord } from '../base/printable.ts';
import { loadConfig } from '../config.ts';
import { createSampleWorkspace } from '../sandbox/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { runTraffic } from '../sandbox/traffic.ts';
import { type CommandCall, wholeNumberOption } from './command-spec.ts';
import { EXIT_CODES, type ExitCode, type Host } from './host.ts';
import { openApp } from './open-app.ts';
import { endedLine } from './run-report.ts';
import { type SandboxSheet, startSandboxSheet } from './sandbox.ts';
import { serve } from './start.ts';
import * as sync from './sync.ts';
import { textTable } from './text-table.ts';
import * as verify from './verify.ts';

/** Submissions and status changes at the source. */
const TRAFFIC_PER_MINUTE = 90;
/** The longest time a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;
/** The longest time that the comparison at the end may take. */
const LAST_MS = 5 * 60_000;

/** `demo`: the commands `sync`, `start` and `verify` over a sample Forms API, without any settings. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const submissions = wholeNumberOption(call, 'submissions', 1_250, 1);
  const seconds = wholeNumberOption(call, 'seconds', 20);
  const watchMs = call.flag('keepRunning') ? LONGEST_MS : seconds * 1_000;
  await using opened = new AsyncDisposableStack();
  const sheet = call.flag('sheets') ? opened.use(await startSandboxSheet()) : undefined;
  const file = join(mkdtempSync(join(tmpdir(), 'forms-mirror-demo-')), 'forms.sqlite');
  const sandbox = opened.use(await startSandbox({ store: createSampleWorkspace({ submissions }) }));
  const needs = { source: true, statusPage: true };
  const config = loadConfig(settings(sandbox, file, sheet), noFiles, needs);
  const host: Host = { ...call.host, loadConfig: () => Promise.resolve(config) };
  const { terminal, stop } = host;
  const content = `${plural(sandbox.store.forms().length, 'form')} and ${plural(submissions, 'submission')}`;
  terminal.print(`A sample Forms API with ${content}`, `is mirrored into ${file}`);
  if (sheet !== undefined) terminal.print(`and into a sheet. Watch it here: ${sheet.viewUrl}`);
  terminal.print('');
  const first = await sync.run(callOf(host));
  // Ctrl-C is a regular way to end the demo.
  if (first !== EXIT_CODES.DONE.code) return stop.signal.aborted ? EXIT_CODES.DONE.code : first;
  const view = viewOf(file, sandbox.store.forms().at(-1)?.id);
  terminal.print('', 'The newest rows of one form:', '', ...previewLines(file, view), '');
  await watch(host, sandbox, watchMs);
  // The source no longer changes. Also after Ctrl-C, which ended the traffic.
  const rest = { signal: AbortSignal.timeout(LAST_MS), exitCode: () => undefined };
  const last = { ...host, stop: rest };
  terminal.print('', 'Everything is read and compared once more:', '');
  const synced = await sync.run(callOf(last, 'full'));
  terminal.print('');
  const same = await verify.run(callOf(last));
  terminal.print(...howToOpen(file, view));
  return synced === EXIT_CODES.DONE.code ? same : synced;
}

/** A command without arguments. */
const callOf = (host: Host, ...flags: readonly string[]): CommandCall => ({
  host,
  args: [],
  text: () => undefined,
  flag: (name) => flags.includes(name),
});

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
    if (report.inserted + report.updated + report.deleted > 0)
      terminal.print(`  ${endedLine(report)}`);
  });
  terminal.print(
    'Now people fill in forms and colleagues change statuses. These runs copy the changes:',
  );
  using over = new LinkedSignal(stop.signal);
  const { signal } = over;
  const page = Promise.withResolvers<string>();
  const serving = serve({ ...host, stop: { ...stop, signal } }, app, page.resolve);
  const url = await Promise.race([page.promise, serving.then(() => null)]);
  if (url !== null) terminal.print(`The status page shows them too: ${url}`, '');
  let happened = 0;
  const perMinute = TRAFFIC_PER_MINUTE;
  const traffic = runTraffic(store, { perMinute, signal, onEvent: () => happened++ });
  // The wait ends with Ctrl-C, too, and when the work fails.
  await Promise.race([clock.sleep(watchMs, signal).catch(() => {}), serving]);
  over.abort();
  await Promise.all([traffic, serving]);
  terminal.print('', `${plural(happened, 'change')} happened at the source during this time.`);
}

/** How to open the file: a command to copy. */
const howToOpen = (file: string, view: string): string[] => [
  '',
  'Look at it yourself:',
  '',
  `  sqlite3 -header -column ${shellWord(file)} ${shellWord(`SELECT * FROM ${view} LIMIT 5`)}`,
  '',
  'Your own account takes three lines: see README.md.',
];

/** The name of the view of a form that has labels for column names. */
function viewOf(file: string, formId = ''): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const query = database.prepare('SELECT view_name FROM mirror_forms WHERE form_id = ?');
  return String(query.get(formId)?.['view_name']);
}

/** The newest rows of a form as a table, with its first columns. */
function previewLines(file: string, view: string): string[] {
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare(`SELECT * FROM "${view}" ORDER BY created_at DESC LIMIT 6`).all();
  const columns = Object.keys(rows[0] ?? {}).filter((name) => !/^(?:_|id$)/.test(name));
  const shown = columns.slice(0, 5);
  return textTable(
    shown,
    rows.map((row) => shown.map((column) => shortened(String(row[column] ?? '')))),
  );
}

const shortened = (text: string): string => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
