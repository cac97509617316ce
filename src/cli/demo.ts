import { mkdtempSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../app.ts';
import type { ExitCode } from '../base/exit-codes.ts';
import { count, duration, plural } from '../base/format.ts';
import { shellWord } from '../base/printable.ts';
import { loadConfig } from '../config.ts';
import type { Form } from '../mirror/types.ts';
import { createSampleWorkspace } from '../sandbox/sample-workspace.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { startTraffic } from '../sandbox/traffic.ts';
import { columnsChanged } from '../sync/run-form.ts';
import { type CommandCall, wholeNumberOption } from './command-spec.ts';
import type { Host } from './host.ts';
import { openLogger, openQueue } from './open-app.ts';
import { showProgress } from './progress.ts';
import { endedLine, lengthOf, runName } from './run-report.ts';
import { type SandboxSheet, startSandboxSheet } from './sandbox.ts';
import type { Terminal } from './terminal.ts';
import { textTable, type TextTableOptions } from './text-table.ts';

const VERIFY_WITHIN_MS = 60_000;
/** Submissions and status changes at the source. */
const TRAFFIC_PER_MINUTE = 90;
/** The longest time a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;
const PREVIEW_ROWS = 6;
/** Widest cell of the preview, in terminal columns. */
const PREVIEW_CELL = 24;

/** `demo`: sandbox, queue, worker and a SQLite table together, without any settings. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host } = call;
  const submissions = wholeNumberOption(call, 'submissions', 1_250, 1);
  const seconds = wholeNumberOption(call, 'seconds', 20);
  const watchMs = call.flag('keepRunning') ? Number.POSITIVE_INFINITY : seconds * 1_000;
  await using setup = await openDemo(host, { submissions, sheets: call.flag('sheets') });
  try {
    await runDemo(call, setup, watchMs);
  } catch (error) {
    // Ctrl-C is a regular way to end the demo.
    if (!host.stop.signal.aborted) throw error;
  }
  return 0;
}

async function runDemo({ host }: CommandCall, setup: DemoSetup, watchMs: number): Promise<void> {
  const { app, sandbox, file, sheetUrl } = setup;
  const { terminal, stop, clock } = host;
  const forms = await app.forms(stop.signal);
  const formId = forms.at(-1)?.id ?? '';
  terminal.print(
    `A sample Forms API with ${plural(forms.length, 'form')} and ${count(sandbox.store.count())} submissions`,
    `is mirrored through the embedded queue into ${file}`,
    ...(sheetUrl === undefined ? [] : [`and into a sheet. Watch it here: ${sheetUrl}`]),
    '',
  );
  const progress = showProgress(terminal, app.events, clock);
  const first = firstRuns(app, forms, stop.signal, (line) => {
    if (terminal.interactive) terminal.say(line);
  }).finally(() => progress[Symbol.dispose]());
  // It is awaited below, but may fail while the queue is still being opened.
  first.catch(() => {});
  const queue = await openQueue(app, 'all');
  try {
    await first;
    showPreview(terminal, file, formId);
    await watch(host, app, sandbox, watchMs);
  } finally {
    await queue.stop();
  }
  terminal.print('', await verifyCopy(app, forms, AbortSignal.timeout(VERIFY_WITHIN_MS)));
  terminal.print(...howToOpen(file, formId));
}

/** Generates traffic at the source for a while, and shows what arrives in the table. */
async function watch(host: Host, app: App, sandbox: Sandbox, ms: number): Promise<void> {
  const { terminal, stop, clock } = host;
  terminal.print(
    'Now people submit and colleagues change statuses. What arrives in the table:',
    '',
  );
  using _changes = showChanges(terminal, app);
  let happened = 0;
  const traffic = startTraffic(sandbox.store, {
    perMinute: TRAFFIC_PER_MINUTE,
    signal: stop.signal,
    onEvent: () => happened++,
  });
  // Ctrl-C is a regular way to end the demo.
  await clock.sleep(Math.min(ms, LONGEST_MS), stop.signal).catch(() => {});
  await traffic.stop();
  terminal.print('', `${plural(happened, 'change')} happened at the source during this time.`);
}

/** Shows the newest rows of a form. */
function showPreview(terminal: Terminal, file: string, formId: string): void {
  const head = (line: string): string => terminal.style('bold', line);
  const lines = previewLines(file, formId, { maxWidth: terminal.width, head });
  terminal.print('The copy is complete. The newest rows of one form:', '', ...lines, '');
}

/** How to open the file: commands to copy. */
function howToOpen(file: string, formId: string): string[] {
  const query = `SELECT * FROM ${viewName(file, formId)} LIMIT 5`;
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
function viewName(file: string, formId: string): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const form = database.prepare('SELECT view_name FROM mirror_forms WHERE form_id = ?').get(formId);
  return String(form?.['view_name']);
}

/** The newest rows of a form as a table, as the view shows them. */
function previewLines(
  file: string,
  formId: string,
  options: Pick<TextTableOptions, 'maxWidth' | 'head'>,
): string[] {
  const view = viewName(file, formId);
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare(`SELECT * FROM "${view}" ORDER BY created_at DESC LIMIT ${PREVIEW_ROWS}`)
    .all();
  const columns = Object.keys(rows[0] ?? {}).filter(
    (name) => !name.startsWith('_') && name !== 'id',
  );
  return textTable(
    columns.map((title) => ({ title })),
    rows.map((row) => columns.map((column) => cellText(row[column]))),
    { ...options, maxCell: PREVIEW_CELL },
  );
}

function cellText(value: SQLOutputValue | undefined): string {
  return value === null || value === undefined || value instanceof Uint8Array ? '' : String(value);
}

/**
 * Resolves when each of these forms has had a proven run into every target. Rejects when `signal` aborts, or when
 * a run fails in a way that a retry cannot mend. `print` gets a line about each run.
 */
async function firstRuns(
  app: App,
  forms: readonly Form[],
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<void> {
  const place = (formId: string, target: string): string => `${target} ${formId}`;
  const waiting = new Set(
    app.config.targets.flatMap(({ name }) => forms.map(({ id }) => place(id, name))),
  );
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  using listeners = new DisposableStack();
  listeners.defer(
    app.events.on('run.ended', (report) => {
      const { form, target, outcome, failure } = report;
      print(endedLine(report));
      if (outcome === 'ok') waiting.delete(place(form.id, target));
      if (outcome === 'failed' && failure !== null && !failure.retryable) reject(failure);
      if (waiting.size === 0) resolve();
    }),
  );
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  listeners.defer(() => signal.removeEventListener('abort', abort));
  if (signal.aborted) abort();
  await promise;
}

/** Shows each run that changed something, as it ends, until it is disposed. */
function showChanges(terminal: Terminal, app: App): Disposable {
  const several = app.config.targets.length > 1;
  const listeners = new DisposableStack();
  listeners.defer(
    app.events.on('run.ended', (report) => {
      const { inserted, updated, deleted } = report;
      const ms = lengthOf(report);
      const changes = [
        ...(inserted > 0 ? [`+${count(inserted)} new`] : []),
        ...(updated > 0 ? [`${count(updated)} changed`] : []),
        ...(deleted > 0 ? [`${count(deleted)} marked deleted`] : []),
      ];
      for (const { from, to } of columnsChanged(report)?.relabelled ?? [])
        terminal.print(
          `  ${report.form.slug}: “${from}” is now called “${to}”; same column, new label`,
        );
      if (changes.length === 0) return;
      const time = terminal.style('dim', ms < 1_000 ? `${ms} ms` : duration(ms));
      const name = several ? runName(report) : report.form.slug;
      terminal.print(`  ${name}: ${terminal.style('green', changes.join(', '))}  ${time}`);
    }),
  );
  return listeners;
}

/** A last full run over the now quiet source, then a comparison row by row. Returns the result as a sentence. */
async function verifyCopy(app: App, forms: readonly Form[], signal: AbortSignal): Promise<string> {
  let compared = 0;
  for (const { name } of app.config.targets) {
    for (const { id: formId, slug } of forms) {
      await app.run({ formId, target: name }, { isFull: true, waitMs: 10_000 }, signal);
      const started = await app.startVerification(name, formId, null, signal);
      const report = await started.finish({});
      if (report.outcome !== 'same')
        return `The copy of ${slug} in ${name} differs from its source.`;
      compared += report.compared;
    }
  }
  return `Compared row by row with the source: ${plural(compared, 'row')}, all the same.`;
}

/** Everything the demo runs on. Disposing it removes all but the SQLite file. */
interface DemoSetup extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly app: App;
  /** The SQLite file. */
  readonly file: string;
  /** Address of the page that shows the sheet, when there is one. */
  readonly sheetUrl: string | undefined;
}

/** Starts the sandbox and puts the parts together; ignores the environment and .env. */
async function openDemo(
  host: Host,
  options: { readonly submissions: number; readonly sheets: boolean },
): Promise<DemoSetup> {
  await using opened = new AsyncDisposableStack();
  const sheet = options.sheets ? opened.use(await startSandboxSheet()) : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'forms-mirror-demo-'));
  const file = join(folder, 'forms.sqlite');
  const store = createSampleWorkspace({ submissions: options.submissions });
  const sandbox = opened.use(await startSandbox({ store }));
  const env = { ...settings(sandbox, folder), ...targets(file, sheet) };
  const config = loadConfig(env, noFiles, { source: true });
  const app = opened.use(
    new App(config, { clock: host.clock, logger: await openLogger(host, 'error') }),
  );
  const rest = opened.move();
  return {
    sandbox,
    app,
    file,
    sheetUrl: sheet?.viewUrl,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

const settings = ({ url, apiKey }: Sandbox, folder: string) => ({
  FORMS_API_URL: url,
  FORMS_API_KEY: apiKey,
  TARGET_FIELDS: '*',
  DATA_DIR: folder,
  SYNC_EVERY: '2s',
  RECONCILE_EVERY: '6s',
});

function targets(file: string, sheet: SandboxSheet | undefined): Record<string, string> {
  const table = `sqlite:${file}`;
  if (sheet === undefined) return { TARGET_URL: table };
  const { SHEETS_EMULATOR_URL, TARGET_URL } = sheet.env;
  return {
    TARGETS: 'table,sheet',
    TARGET_TABLE_URL: table,
    TARGET_SHEET_URL: TARGET_URL,
    SHEETS_EMULATOR_URL,
  };
}

function noFiles(path: string): never {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
}
