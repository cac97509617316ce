import { person } from '../sync/erase.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import { changePauses, PAUSE_MEANS, type PauseOutcome } from './pausing.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** `pause`: stops every process from writing a form, a target, or everything. */
export const pause = (call: CommandCall): Promise<ExitCode> => act(call, true);

/** `resume`: ends what `pause` of the same form, target or everything began. */
export const resume = (call: CommandCall): Promise<ExitCode> => act(call, false);

async function act({ host, text, flag }: CommandCall, isPause: boolean): Promise<ExitCode> {
  const { terminal, clock, stop } = host;
  await using app = await openApp(host);
  const place = { form: text('form') ?? null, target: text('target') ?? null };
  const by = `command line, ${person()}`;
  const since = new Date(clock.now()).toISOString();
  const how = isPause ? { since, by, reason: text('reason') ?? null } : null;
  const outcomes = await changePauses(app, { ...place, pause: how }, stop.signal);
  const action = isPause ? 'pause' : 'resume';
  app.logger.info({ action, ...place, by }, 'A person asked for this.');
  if (flag('json'))
    terminal.printJson({ [isPause ? 'pauses' : 'resumed']: outcomes.map(pauseDocument) });
  else {
    for (const { ok, text: line } of outcomes.flatMap(({ lines }) => lines))
      terminal.tell(ok ? 'ok' : 'error', line);
    if (isPause && outcomes.some(({ failure }) => failure === null))
      terminal.print('', PAUSE_MEANS);
  }
  const hasFailed = outcomes.some(({ failure }) => failure !== null);
  return stop.exitCode() ?? (hasFailed ? EXIT_CODES.FAILED.code : EXIT_CODES.DONE.code);
}

/** As `pause --json` and `resume --json` print it. */
function pauseDocument(outcome: PauseOutcome): Record<string, unknown> {
  const { form, target, pause: made, isNew, failure } = outcome;
  const { since = null, by = null, reason = null } = made ?? {};
  const of = { form: form?.id ?? null, slug: form?.slug ?? null, target };
  const error = failure?.message ?? null;
  return { ...of, changed: isNew, since, by, reason, code: failure?.code ?? null, error };
}
