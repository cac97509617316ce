import { Command, CommanderError } from 'commander';
import { isAbort, MirrorError, SettingsError, toMirrorError } from '../base/errors.ts';
import { addCommand, type CommandSpec } from './commands.ts';
import type { ExitCode, Host } from './host.ts';
import type { Terminal } from './terminal.ts';

const EXAMPLES = `
Examples:
  forms-mirror demo                 see it work, with nothing set up
  forms-mirror forms                your forms; with the name of one, its fields
  forms-mirror sync                 copy everything once, now
  forms-mirror start                keep the copy up to date

Settings come from the environment and from a .env file in this directory; .env.example lists them all.
`;

/** Runs one command line (without node and script) to its end. Never throws: errors are printed. */
export async function runProgram(
  specs: readonly CommandSpec[],
  host: Host,
  args: readonly string[],
): Promise<ExitCode> {
  const { terminal } = host;
  let code: ExitCode = 0;
  const program = new Command('forms-mirror')
    .description('Keeps a live, provably complete copy of your form submissions.')
    .version(host.version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('Run with --help to see all commands.')
    .configureOutput({
      writeOut: (text) => terminal.print(...linesOf(text)),
      writeErr: (text) => terminal.say(...linesOf(text)),
      getOutHelpWidth: () => Math.min(terminal.width, 110),
      getErrHelpWidth: () => Math.min(terminal.width, 110),
      outputError: (text, write) => write(text.replace(/^error: /, '✗ ')),
    })
    .exitOverride();
  for (const spec of specs) {
    const command = addCommand(program, spec);
    command.action(async () => {
      code = await runCommand(spec, command, host);
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // It has shown the help or the version, or the command line is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

/** Text of commander, which ends with a line break. */
const linesOf = (text: string): string[] => text.trimEnd().split('\n');

async function runCommand(spec: CommandSpec, command: Command, host: Host): Promise<ExitCode> {
  const options = command.opts<{ readonly json?: boolean }>();
  let code: ExitCode;
  try {
    const run = await spec.load();
    code = await run({ host, args: command.args, options: options as never });
  } catch (error) {
    if (options.json) host.terminal.printJson({ error: errorDocument(error) });
    printError(host.terminal, error);
    code = exitCodeOf(error);
  }
  return code === 0 ? code : (host.stop.exitCode() ?? code);
}

/** The exit code of a command that ends with an error. */
export function exitCodeOf(error: unknown): ExitCode {
  const { code } = toMirrorError(error);
  if (code === 'SETTINGS' || code === 'USAGE') return 2;
  return isAbort(error) ? 130 : 1;
}

/** An error for `--json`, with each mistake in the settings, but without its cause, its stack or a foreign message (L11, L15). */
function errorDocument(error: unknown): Record<string, unknown> {
  const { code, message } = toMirrorError(error);
  return { code, message, ...(error instanceof SettingsError && { problems: error.problems }) };
}

/** Prints what went wrong to stderr, one line for each mistake in the settings. */
export function printError(terminal: Terminal, error: unknown): void {
  const { code, message } = toMirrorError(error);
  const lines = message.split('\n');
  if (lines.length === 1) terminal.say({ sign: 'error', text: `${message} [${code}]` });
  else {
    terminal.say({ sign: 'error', text: `${lines.length} settings are wrong: [${code}]` });
    terminal.say(...lines.map((line) => `  ${line}`));
  }
  if (code === 'INTERNAL') terminal.say(...framesOf(error));
}

/** The stack frames of a defect, without the message above them, which may quote an answer (L11). */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const origin = error instanceof MirrorError ? error.cause : error;
  const stack = origin instanceof Error ? (origin.stack ?? '') : '';
  return stack.split('\n').filter((line) => /^ {4}at .+:\d+:\d+\)?$/.test(line));
}
