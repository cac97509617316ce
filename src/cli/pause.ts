import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { person } from '../sync/erasure-log.ts';
import type { DoneLine } from '../web/action-order.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import {
  findPausePlaces,
  type PauseOutcome,
  pausedLines,
  PAUSE_MEANS,
  pausePlaces,
} from './pausing.ts';
import type { Terminal } from './terminal.ts';

/** `pause`: has a form, a target, or everything left alone, by every process. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, text, flag } = call;
  await using app = await openApp(host);
  const wanted = { form: text('form'), target: text('target') };
  const places = await findPausePlaces(app, wanted, host.stop.signal);
  const since = new Date(host.clock.now()).toISOString();
  const by = `command line, ${person()}`;
  const outcomes = await pausePlaces(app, places, { since, by, reason: text('reason') ?? null });
  app.logger.info({ action: 'pause', ...wanted, by }, 'A person asked for this.');
  if (flag('json')) host.terminal.printJson({ pauses: outcomes.map(pauseDocument) });
  else {
    printLines(host.terminal, pausedLines(outcomes));
    if (outcomes.some(({ failure }) => failure === null)) host.terminal.print('', PAUSE_MEANS);
  }
  return host.stop.exitCode() ?? pauseExitCode(outcomes);
}

/** 1 where a target could not be changed. */
export const pauseExitCode = (outcomes: readonly PauseOutcome[]): ExitCode =>
  outcomes.some(({ failure }) => failure !== null) ? EXIT_CODES.FAILED.code : EXIT_CODES.DONE.code;

/** As `pause --json` and `resume --json` print it. */
export function pauseDocument({
  form,
  target,
  pause,
  isNew,
  failure,
}: PauseOutcome): Record<string, unknown> {
  const { since = null, by = null, reason = null } = pause ?? {};
  const of = { form: form?.id ?? null, slug: form?.slug ?? null, target };
  const error = failure?.message ?? null;
  return { ...of, changed: isNew, since, by, reason, code: failure?.code ?? null, error };
}

/** Lines of what was done, each with its sign. */
export function printLines(terminal: Terminal, lines: readonly DoneLine[]): void {
  for (const { ok, text } of lines) {
    terminal.print(`${ok ? terminal.style('green', '✓') : terminal.style('red', '✗')} ${text}`);
  }
}
