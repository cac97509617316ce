import { Command, CommanderError } from 'commander';
import { type CommandSpec, callOf } from './command-spec.ts';
import { type ExitCode, exitCodeOf, failureDocument, sayFailure } from './failure.ts';
import type { Host } from './host.ts';

const EXAMPLES = `
Examples:
  forms-mirror demo                 see it work, with nothing set up
  forms-mirror fields               what your forms hold, ready to paste into TARGET_FIELDS
  forms-mirror sync --full          copy everything once, now
  forms-mirror start                keep the copy up to date

Settings come from the environment and from a .env file in this directory; .env.example lists them all.
`;

/** The program with all its commands. `end` is told the exit code of the one that ran. */
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
    .showHelpAfterError('Run with --help to see what there is.')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.write(text),
      getOutHelpWidth: () => Math.min(terminal.width, 110),
      getErrHelpWidth: () => Math.min(terminal.width, 110),
      outputError: (text, write) =>
        write(text.replace(/^error: /, `${terminal.styleAside('red', '✗')} `)),
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
  const command = program.command(spec.name).description(spec.summary);
  spec.configure(command);
  const examples = spec.examples.map((line) => `  ${line}\n`).join('');
  command.addHelpText('after', `\nExamples:\n${examples}`);
  command.action(async () => {
    const call = callOf(command, host);
    try {
      end(await spec.run(call));
    } catch (error) {
      if (call.flag('json')) host.terminal.printJson({ error: failureDocument(error) });
      sayFailure(host.terminal, error);
      end(host.stop.exitCode() ?? exitCodeOf(error));
    }
  });
}

/** Runs one command line (without node and script) to its end. Never throws; everything to say has been said. */
export async function runProgram(
  specs: readonly CommandSpec[],
  host: Host,
  args: readonly string[],
): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = buildProgram(specs, host, (end) => {
    code = end;
  });
  if (args.length === 0) {
    program.outputHelp({ error: true });
    return 2;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    sayFailure(host.terminal, error);
    return exitCodeOf(error);
  }
  return code;
}
