import { readFileSync } from 'node:fs';
import { systemClock } from './base/clock.ts';
import { COMMANDS } from './cli/commands.ts';
import { sayFailure } from './cli/failure.ts';
import { runProgram } from './cli/program.ts';
import { listenForStop } from './cli/stop-signals.ts';
import { Terminal } from './cli/terminal.ts';
import { loadProcessConfig } from './config.ts';

/** What still runs so long after a command has ended is let go of. */
const LET_GO_MS = 3_000;

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };
const terminal = new Terminal(process.stdout, process.stderr);
// Node would print the message of a foreign error, which may quote an answer or a password (L11, L15).
process.on('uncaughtException', (error) => {
  sayFailure(terminal, error);
  process.exit(1);
});
const stop = listenForStop(process, () => {
  terminal.say('Stopping; what is in hand is finished first. Ctrl-C once more stops at once.');
});
const host = { terminal, version, stop, clock: systemClock, loadConfig: loadProcessConfig };
process.exitCode = await runProgram(COMMANDS, host, process.argv.slice(2));
setTimeout(() => process.exit(), LET_GO_MS).unref();
