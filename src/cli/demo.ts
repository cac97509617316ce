import { mkdtempSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../app.ts';
import { count, plural } from '../base/format.ts';
import { shellWord } from '../base/printable.ts';
import { loadConfig } from '../config.ts';
import type { Form } from '../mirror/types.ts';
import { createSampleWorkspace } from '../sandbox/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { startTraffic } from '../sandbox/traffic.ts';
import { type CommandCall, wholeNumberOption } from './command-spec.ts';
import type { ExitCode, Host } from './host.ts';
import { openLogger, openQueue } from './open-app.ts';
import { endedLine, showProgress } from './run-report.ts';
import { type SandboxSheet, startSandboxSheet } from './sandbox.ts';
import { textTable } from './text-table.ts';

/** Submissions and status changes at the source. */
const TRAFFIC_PER_MINUTE = 90;
/** The longest time a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/** `demo`: sandbox, queue, worker and a SQLite table together, without any settings. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host } = call;
  const submissions = wholeNumberOption(call, 'submissions', 1_250, 1);
  const seconds = wholeNumberOption(call, 'seconds', 20);
  const watchMs = call.flag('keepRunning') ? LONGEST_MS : seconds * 1_000;
  await using opened = new AsyncDisposableStack();
  const sheet = call.flag('sheets') ? opened.use(await startSandboxSheet()) : undefined;
  const file = join(mkdtempSync(join(tmpdir(), 'forms-mirror-demo-')), 'forms.sqlite');
  const store = createSampleWorkspace({ submissions });
  const sandbox = opened.use(await startSandbox({ store }));
  const config = loadConfig(settings(sandbox, file, sheet), noFiles, { source: true });
  const logger = await openLogger(host, 'error');
  const app = opened.use(new App(config, { clock: host.clock, logger }));
  try {
    await runDemo(host, { app, sandbox, file, watchMs, sheetUrl: sheet?.viewUrl });
  } catch (error) {
    // Ctrl-C is a regular way to end the demo.
    if (!host.stop.signal.aborted) throw error;
  }
  return 0;
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

/** The parts of a demo. */
interface Demo {
  readonly app: App;
  readonly sandbox: Sandbox;
  /** The SQLite file. */
  readonly file: string;
  readonly watchMs: number;
  /** Address of the page that shows the sheet, when there is one. */
  readonly sheetUrl: string | undefined;
}

async function runDemo(host: Host, demo: Demo): Promise<void> {
  const { app, sandbox, file, sheetUrl } = demo;
  const { terminal, stop, clock } = host;
  const forms = await app.forms(stop.signal);
  terminal.print(
    `A sample Forms API with ${plural(forms.length, 'form')} and ${count(sandbox.store.count())} submissions`,
    `is mirrored into ${file}`,
    ...(sheetUrl === undefined ? [] : [`and into a sheet. Watch it here: ${sheetUrl}`]),
    '',
  );
  {
    using _progress = showProgress(terminal, app.events, clock);
    await app.plan(stop.signal);
    await readAll(app, forms, stop.signal);
  }
  const view = viewOf(file, forms.at(-1));
  terminal.print('', 'The copy is complete. The newest rows of one form:', '');
  terminal.print(...previewLines(file, view), '');
  await watch(host, demo);
  terminal.print('', await compareAll(app, forms), ...howToOpen(file, view));
}

/** A whole run of each form into each target. Rejects when one fails. */
async function readAll(app: App, forms: readonly Form[], signal: AbortSignal): Promise<void> {
  for (const target of app.targetNames)
    for (const { id: formId } of forms) {
      const options = { isFull: true, waitMs: 10_000 };
      const { failure } = await app.run({ formId, target }, options, signal);
      if (failure !== null) throw failure;
    }
}

/** Generates traffic at the source for a while, and shows each run of the queue that changes something. */
async function watch({ terminal, stop, clock }: Host, demo: Demo): Promise<void> {
  const { app, sandbox, watchMs } = demo;
  terminal.print(
    'Now people fill in forms and colleagues change statuses. These runs copy the changes:',
    '',
  );
  let happened = 0;
  const stopShowing = app.events.on('run.ended', (report) => {
    if (report.inserted + report.updated + report.deleted > 0)
      terminal.print(`  ${endedLine(report)}`);
  });
  const queue = await openQueue(app, 'all');
  try {
    const traffic = startTraffic(sandbox.store, {
      perMinute: TRAFFIC_PER_MINUTE,
      signal: stop.signal,
      onEvent: () => happened++,
    });
    // Ctrl-C is a regular way to end the demo.
    await clock.sleep(watchMs, stop.signal).catch(() => {});
    await traffic.stop();
  } finally {
    await queue.stop();
    stopShowing();
  }
  terminal.print('', `${plural(happened, 'change')} happened at the source during this time.`);
}

/**
 * A last full run of each form over the source, which no longer changes, then a comparison of all rows. Returns the
 * result as a sentence.
 */
async function compareAll(app: App, forms: readonly Form[]): Promise<string> {
  // Also after Ctrl-C, which ended the traffic.
  const signal = AbortSignal.timeout(60_000);
  await readAll(app, forms, signal);
  let compared = 0;
  for (const name of app.targetNames) {
    for (const { id: formId, slug } of forms) {
      const started = await app.startVerification(name, formId, null, signal);
      const report = await started.finish({});
      if (report.outcome !== 'same')
        return `The copy of ${slug} in ${name} differs from its source.`;
      compared += report.compared;
    }
  }
  return `Compared row by row with the source: ${plural(compared, 'row')}, all the same.`;
}

/** How to open the file: commands to copy. */
function howToOpen(file: string, view: string): string[] {
  const query = `SELECT * FROM ${view} LIMIT 5`;
  const script = `console.table(new(require("node:sqlite").DatabaseSync)(${JSON.stringify(file)}).prepare("${query}").all())`;
  return [
    '',
    'Look at it yourself:',
    '',
    `  sqlite3 -header -column ${shellWord(file)} ${shellWord(query)}`,
    `  ${shellWord(process.execPath)} -e ${shellWord(script)}`,
    '',
    'Your own account takes three lines: see README.md.',
  ];
}

/** The name of a form's view that has labels for column names. */
function viewOf(file: string, form: Form | undefined): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const query = database.prepare('SELECT view_name FROM mirror_forms WHERE form_id = ?');
  return String(query.get(form?.id ?? '')?.['view_name']);
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
