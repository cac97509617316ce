import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import type { App } from '../app.ts';
import type { ExitCode } from '../base/exit-codes.ts';
import { count, plural } from '../base/format.ts';
import { shellWord } from '../base/printable.ts';
import type { Sandbox } from '../sandbox/forms-api/sandbox.ts';
import { startTraffic } from '../sandbox/forms-api/traffic.ts';
import { type CommandCall, wholeNumberOption } from './command-spec.ts';
import { firstPasses, showChanges, verifyCopy } from './demo-passes.ts';
import { type DemoSetup, openDemo } from './demo-setup.ts';
import type { Host } from './host.ts';
import { openQueue } from './open-app.ts';
import { showProgress } from './progress.ts';
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
  const first = firstPasses(app, forms, stop.signal, (line) => {
    if (terminal.interactive) terminal.say(line);
  }).finally(() => progress[Symbol.dispose]());
  // It is awaited below, but may fail while the queue is still being opened.
  first.catch(() => {});
  const queue = await openQueue(host, app, 'all');
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
