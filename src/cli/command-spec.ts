import { MirrorError } from '../base/errors.ts';
import { duration } from '../settings/values.ts';
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
  readonly options?: readonly OptionRow[];
  /** Loads the module that runs it. */
  readonly load: () => Promise<CommandModule>;
}

/** An option, as commander writes it: `--limit <number>`. */
export type OptionRow = readonly [flags: string, meaning: string, preset?: string];

/** The module of a command. */
export interface CommandModule {
  /** Runs the command. Throws MirrorError with the message for the person. */
  readonly run: (call: CommandCall) => Promise<ExitCode>;
}

/** One call of a command: the arguments and options that commander found, and the process it runs in. */
export interface CommandCall {
  readonly host: Host;
  readonly args: readonly string[];
  /** Text option, undefined when not given. Takes the name in camel case, as commander does. */
  readonly text: (name: string) => string | undefined;
  /** True when the flag was given. */
  readonly flag: (name: string) => boolean;
}

/** An option that must be a whole number of at least `min`; `preset` when not given. Throws USAGE. */
export function wholeNumberOption(
  call: CommandCall,
  name: string,
  preset: number,
  min = 0,
): number {
  const text = call.text(name);
  if (text === undefined) return preset;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min) return number;
  throw new MirrorError('USAGE', `${flagOf(name)} takes a whole number of at least ${min}.`);
}

/** An option that must be a time such as 30s or 12h, in milliseconds; undefined when not given. Throws USAGE. */
export function durationOption(call: CommandCall, name: string): number | undefined {
  const text = call.text(name);
  if (text === undefined) return undefined;
  const { data } = duration.safeParse(text);
  if (data !== undefined) return data;
  throw new MirrorError(
    'USAGE',
    `${flagOf(name)} takes a time such as 30s, 5m, 12h or 30d, a year at most.`,
  );
}

/** `deletedBefore` is `--deleted-before`. */
const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
