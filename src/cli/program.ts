import { Command, CommanderError } from 'commander';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { SettingsError } from '../base/errors.ts';
import { configure } from './commands.ts';
import type { CommandSpec } from './command-spec.ts';
import { EXIT_CODES, type ExitCode, exitCodeOf, type Host } from './host.ts';
import type { Terminal } from './terminal.ts';

const EXAMPLES = `
Examples:
  forms-mirror demo                 see it work, with nothing set up
  forms-mirror forms                your forms; with the name of one, its fields
  forms-mirror sync                 copy everything once, now
  forms-mirror start                keep the copy up to date

Settings come from the environment and from a .env file in this directory; .env.example lists them all.
`;

/** The program with all its commands. `end` receives the exit code of the one that ran. */
function buildProgram(
  specs: readonly CommandSpec[],
  host: Host,
  end: (code: ExitCode) => void,
): Command {
  const { terminal } = host;
  const program = new Command('forms-mirror')
    .description('Keeps a live, provably complete copy of your form submissions.')
    .version(host.version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('Run with --help to see all commands.')
    .configureOutput({
      writeOut: (text) => terminal.printText(text.trimEnd()),
      writeErr: (text) => terminal.write(text),
      getOutHelpWidth: () => Math.min(terminal.width, 110),
      getErrHelpWidth: () => Math.min(terminal.width, 110),
      outputError: (text, write) => write(text.replace(/^error: /, '✗ ')),
    })
    .exitOverride();
  for (const spec of specs) addCommand(program, spec, host, end);
  return program;
}

function addCommand(
  program: Command,
  spec: CommandSpec,
  host: Host,
  end: (code: ExitCode) => void,
): void {
  const command = configure(program.command(spec.name).description(spec.summary), spec);
  const examples = spec.examples.map((line) => `  ${line}\n`).join('');
  command.addHelpText('after', `\nExamples:\n${examples}`);
  command.action(async () => {
    const options = command.opts<{ readonly json?: boolean }>();
    try {
      const { run } = await spec.load();
      end(await run({ host, args: command.args, options }));
    } catch (error) {
      if (options.json) host.terminal.printJson({ error: errorDocument(error) });
      printError(host.terminal, error);
      end(host.stop.exitCode() ?? exitCodeOf(error));
    }
  });
}

/** Runs one command line (without node and script) to its end. Never throws: errors are printed. */
export async function runProgram(
  specs: readonly CommandSpec[],
  host: Host,
  args: readonly string[],
): Promise<ExitCode> {
  let code: ExitCode = EXIT_CODES.DONE.code;
  const program = buildProgram(specs, host, (end) => {
    code = end;
  });
  if (args.length === 0) {
    program.outputHelp({ error: true });
    return EXIT_CODES.USAGE.code;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      return (error.exitCode === 0 ? EXIT_CODES.DONE : EXIT_CODES.USAGE).code;
    }
    printError(host.terminal, error);
    return exitCodeOf(error);
  }
  return code;
}

/** An error as `--json` prints it, with each mistake in the settings: without its cause, its stack or a foreign message (L11, L15). */
function errorDocument(error: unknown): Record<string, unknown> {
  const { code, message } = toMirrorError(error);
  return { code, message, ...(error instanceof SettingsError && { problems: error.problems }) };
}

/** Prints what went wrong to stderr, one line for each mistake in the settings. */
export function printError(terminal: Terminal, error: unknown): void {
  const { code, message } = toMirrorError(error);
  const lines = message.split('\n');
  if (lines.length === 1) terminal.sayWith('error', `${message} [${code}]`);
  else {
    terminal.sayWith('error', `${lines.length} settings are wrong: [${code}]`);
    for (const line of lines) terminal.say(`  ${line}`);
  }
  if (code === 'INTERNAL') for (const frame of framesOf(error)) terminal.say(frame);
}

/** The stack frames of a defect, without the message above them, which may quote an answer (L11). */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const origin = error instanceof MirrorError ? error.cause : error;
  const stack = origin instanceof Error ? (origin.stack ?? '') : '';
  return stack.split('\n').filter((line) => /^ {4}at .+:\d+:\d+\)?$/.test(line));
}
