import type { CommandSpec } from './command-spec.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [];
