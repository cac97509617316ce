import { person } from '../sync/erase.ts';
import type { CommandCall, PlaceOptions } from './command-spec.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';
import type { Line } from './lines.ts';
import { openApp } from './open-app.ts';
import { changePauses } from './pausing.ts';

type PauseOptions = PlaceOptions & { readonly reason?: string };

/** `pause`: stops every process from writing a form, a target, or everything. */
export const pause = (call: CommandCall<PauseOptions>): Promise<ExitCode> => act(call, true);

/** `resume`: ends what `pause` of the same form, target or everything began. */
export const resume = (call: CommandCall<PauseOptions>): Promise<ExitCode> => act(call, false);

async function act(
  { host, options }: CommandCall<PauseOptions>,
  isPause: boolean,
): Promise<ExitCode> {
  const { terminal, clock, stop } = host;
  await using app = await openApp(host);
  const { form = null, target = null, reason = null } = options;
  const place = { form, target };
  const by = `command line, ${person()}`;
  const since = new Date(clock.now()).toISOString();
  const how = isPause ? { since, by, reason } : null;
  const lines = await changePauses(app, { ...place, pause: how }, stop.signal);
  const action = isPause ? 'pause' : 'resume';
  app.logger.info({ action, ...place, by }, 'A person asked for this.');
  terminal.tell(...lines.map(({ ok, text }): Line => ({ sign: ok ? 'ok' : 'error', text })));
  const isDone = lines.every(({ ok }) => ok);
  return stop.exitCode() ?? (isDone ? EXIT_CODES.DONE : EXIT_CODES.FAILED).code;
}
