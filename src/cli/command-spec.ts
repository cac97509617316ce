import type { Command } from 'commander';
import type { ExitCode } from './failure.ts';
import type { Host } from './host.ts';

/** A command, as the program and its help are made of. */
export interface CommandSpec {
  readonly name: string;
  /** What it does, in one line of the help. */
  readonly summary: string;
  /** Lines to copy, shown under its help. */
  readonly examples: readonly string[];
  /** Adds arguments and options. */
  configure(command: Command): void;
  /** Does it. Throws MirrorError for what the person should read. */
  run(call: CommandCall): Promise<ExitCode>;
}

/** One call of a command: the arguments and options that commander found, and the process it runs in. */
export interface CommandCall {
  readonly host: Host;
  readonly args: readonly string[];
  /** Text option, undefined when not given. Takes the name in camel case, as commander does. */
  readonly text: (name: string) => string | undefined;
  /** True when the flag was given. */
  readonly flag: (name: string) => boolean;
  /** Texts of an option that may be given several times. */
  readonly texts: (name: string) => readonly string[];
}

/** The call that a parsed command stands for. */
export function callOf(command: Command, host: Host): CommandCall {
  const values = command.opts<Record<string, unknown>>();
  return {
    host,
    args: command.args,
    text(name) {
      const value = values[name];
      return typeof value === 'string' ? value : undefined;
    },
    flag: (name) => values[name] === true,
    texts(name) {
      const value = values[name];
      return Array.isArray(value) ? value.map(String) : [];
    },
  };
}
