import { person } from '../sync/erase.ts';
import type { CommandCall } from './command-spec.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';
import { openApp } from './open-app.ts';
import { changePauses } from './pausing.ts';

/** `pause`: stops every process from writing a form, a target, or everything. */
export const pause = (call: CommandCall): Promise<ExitCode> => act(call, true);

/** `resume`: ends what `pause` of the same form, target or everything began. */
export const resume = (call: CommandCall): Promise<ExitCode> => act(call, false);

async function act({ host, text }: CommandCall, isPause: boolean): Promise<ExitCode> {
  const { terminal, clock, stop } = host;
  await using app = await openApp(host);
  const place = { form: text('form') ?? null, target: text('target') ?? null };
  const by = `command line, ${person()}`;
  const since = new Date(clock.now()).toISOString();
  const how = isPause ? { since, by, reason: text('reason') ?? null } : null;
  const lines = await changePauses(app, { ...place, pause: how }, stop.signal);
  const action = isPause ? 'pause' : 'resume';
  app.logger.info({ action, ...place, by }, 'A person asked for this.');
  for (const { ok, text: line } of lines) terminal.tell(ok ? 'ok' : 'error', line);
  const isDone = lines.every(({ ok }) => ok);
  return stop.exitCode() ?? (isDone ? EXIT_CODES.DONE : EXIT_CODES.FAILED).code;
}
