import { toMirrorError } from '../base/errors.ts';
import type { App } from '../app.ts';
import type { CommandSpec } from './command-spec.ts';
import { openApp } from './session.ts';
import { type FormStatus, statusOf } from './form-status.ts';
import { type TargetStatus, printStatus } from './status-report.ts';

/** `status`: how the copy stands, as the targets themselves remember it. */
export const statusCommand: CommandSpec = {
  name: 'status',
  summary:
    'Shows for each form and target the last pass, rows, lag, rejected, and when the next is due.',
  examples: ['forms-mirror status', 'forms-mirror status --json'],
  configure(command) {
    command.option('--json', 'print one JSON document');
  },
  async run({ host, flag }) {
    const { terminal, clock, stop } = host;
    await using app = await openApp(host);
    const targets: TargetStatus[] = [];
    const forms: FormStatus[] = [];
    for (const { name } of app.config.targets) {
      targets.push(await readTarget(app, name, clock.now(), forms));
    }
    if (flag('json')) terminal.printJson({ targets, forms });
    else printStatus(terminal, targets, forms, clock.now());
    return stop.exitCode() ?? (targets.every(({ error }) => error === null) ? 0 : 1);
  },
};

async function readTarget(
  app: App,
  name: string,
  nowMs: number,
  forms: FormStatus[],
): Promise<TargetStatus> {
  try {
    const target = await app.target(name);
    const { schedule } = app.config;
    forms.push(...(await target.overview()).map((form) => statusOf(name, form, schedule, nowMs)));
    return { target: name, address: target.address, error: null };
  } catch (error) {
    return { target: name, address: null, error: toMirrorError(error).message };
  }
}
