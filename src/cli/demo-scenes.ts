import type { App } from '../app.ts';
import type { Sandbox } from '../sandbox/forms-api/sandbox.ts';
import { startTraffic } from '../sandbox/forms-api/traffic.ts';
import { previewLines, viewName } from './demo-preview.ts';
import { tellLive } from './demo-story.ts';
import type { Host } from './host.ts';
import type { Terminal } from './terminal.ts';
import { plural } from './words.ts';

/** People and colleagues together, events a minute. */
const TRAFFIC_PER_MINUTE = 90;
/** A timer takes no more. */
const LONGEST_MS = 2 ** 31 - 1;

/** Shows the newest rows of a form. */
export function showPreview(terminal: Terminal, file: string, formId: string): void {
  const head = (line: string): string => terminal.style('bold', line);
  const lines = previewLines(file, formId, { maxWidth: terminal.width, head });
  terminal.print(`The copy is complete. The newest rows of one form:\n\n${lines.join('\n')}\n`);
}

/** Lets people submit and colleagues change statuses for a while, and tells what arrives in the table. */
export async function watch(host: Host, app: App, sandbox: Sandbox, ms: number): Promise<void> {
  const { terminal, stop, clock } = host;
  terminal.print('Now people submit and colleagues change statuses. What arrives in the table:\n');
  const quiet = tellLive(terminal, app);
  let happened = 0;
  const traffic = startTraffic(sandbox.store, {
    perMinute: TRAFFIC_PER_MINUTE,
    signal: stop.signal,
    onEvent: () => happened++,
  });
  // An end by Ctrl-C is as good an end as any.
  await clock.sleep(Math.min(ms, LONGEST_MS), stop.signal).catch(() => {});
  await traffic.stop();
  quiet();
  terminal.print(`\n${plural(happened, 'change')} happened at the source meanwhile.`);
}

/** Lines to copy for a look at the file. */
export function howToOpen(file: string, formId: string): string {
  const query = `SELECT * FROM ${viewName(file, formId)} LIMIT 5`;
  const script = `console.table(new(require('node:sqlite').DatabaseSync)('${file}').prepare('${query}').all())`;
  return (
    `\nLook at it yourself:\n\n  sqlite3 -header -column ${file} '${query}'\n` +
    `  ${process.execPath} -e "${script}"\n\nYour own account takes three lines: see README.md.`
  );
}
