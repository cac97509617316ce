import type { Option } from 'commander';
import type { ExitCode, Host } from './host.ts';

/** A command as the help lists it. Its code is loaded when it is called. */
export interface CommandSpec {
  readonly name: string;
  /** The command in one line of the help. */
  readonly summary: string;
  /** Lines to copy, shown under its help. */
  readonly examples: readonly string[];
  /** Each as commander writes it, and its meaning. */
  readonly args?: readonly (readonly [name: string, meaning: string])[];
  readonly options?: readonly Option[];
  /** Loads the module that runs it. */
  readonly load: () => Promise<CommandModule>;
}

/** The module of a command. */
export interface CommandModule {
  /** Runs the command. Throws MirrorError with the message for the person. */
  run(this: void, call: CommandCall): Promise<ExitCode>;
}

/** One call of a command: its arguments and options, as commander read them, and the process it runs in. */
export interface CommandCall<Options extends object = object> {
  readonly host: Host;
  readonly args: readonly string[];
  readonly options: Options;
}

/** The form and the target that a command is about; left out: all. */
export type PlaceOptions = { readonly form?: string; readonly target?: string };
