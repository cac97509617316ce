import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from './base/clock.ts';
import { printable } from './base/printable.ts';
import { COMMANDS } from './cli/commands.ts';
import { type Host, listenForStop } from './cli/host.ts';
import { printError, runProgram } from './cli/program.ts';
import { Terminal } from './cli/terminal.ts';

/** How long after the end of its command the process exits, even if something keeps it alive. */
const EXIT_AFTER_MS = 3_000;

// All files of this program contain people's answers or lead to them, so only their owner can read them. The owner may give others
// access to an existing file; its permissions stay.
process.umask(0o077);

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'),
) as { version: string };
const terminal = new Terminal(process.stdout, process.stderr);
// Libraries print warnings and errors of their own, and some of them quote their input. People get the important ones
// as our errors (L11, L15). We print only through the terminal and the logger.
process.removeAllListeners('warning');
Object.assign(console, { log() {}, info() {}, warn() {}, error() {}, debug() {}, trace() {} });
// Node would print the message of a foreign error, which may quote an answer or a password (L11, L15).
process.on('uncaughtException', (error) => {
  printError(terminal, error);
  process.exit(1);
});
const stop = listenForStop(process, () => {
  // Without a terminal, the log says it.
  if (terminal.interactive)
    terminal.say('Stopping after the current batch. Press Ctrl-C again to stop at once.');
});
/** A line that a person types; an empty line at the end of stdin. The question may contain names from the source. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(printable(question), { signal: stop.signal });
  } finally {
    lines.close();
  }
}
const host: Host = {
  terminal,
  ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  version,
  stop,
  clock: systemClock,
  async loadConfig(needs) {
    // The help needs no settings, nor the libraries that read them.
    const { loadProcessConfig } = await import('./settings/config.ts');
    return loadProcessConfig(needs);
  },
};
process.exitCode = await runProgram(COMMANDS, host, process.argv.slice(2));
setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
