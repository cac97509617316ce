import { checkCommand } from './check.ts';
import type { CommandSpec } from './command-spec.ts';
import { demoCommand } from './demo.ts';
import { explainCommand } from './explain.ts';
import { fieldsCommand } from './fields.ts';
import { formsCommand } from './forms.ts';
import { sandboxCommand } from './sandbox.ts';
import { startCommand } from './start.ts';
import { statusCommand } from './status.ts';
import { syncCommand } from './sync.ts';
import { verifyCommand } from './verify.ts';
import { workerCommand } from './worker.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  startCommand,
  workerCommand,
  syncCommand,
  verifyCommand,
  checkCommand,
  formsCommand,
  fieldsCommand,
  statusCommand,
  explainCommand,
  sandboxCommand,
  demoCommand,
];
