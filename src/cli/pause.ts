import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { person } from '../sync/erase.ts';
import type { DoneLine } from '../web/actions.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import {
  findPausePlaces,
  type PauseOutcome,
  pausedLines,
  PAUSE_MEANS,
  pausePlaces,
  resumedLines,
  resumePlaces,
} from './pausing.ts';

/** `pause`: stops every process from writing a form, a target, or everything. */
export const pause = (call: CommandCall): Promise<ExitCode> => act(call, 'pause');

/** `resume`: ends what `pause` of the same form, target or everything began. */
export const resume = (call: CommandCall): Promise<ExitCode> => act(call, 'resume');

async function act(
  { host, text, flag }: CommandCall,
  action: 'pause' | 'resume',
): Promise<ExitCode> {
  const { terminal, clock, stop } = host;
  await using app = await openApp(host);
  const wanted = { form: text('form'), target: text('target') };
  const places = await findPausePlaces(app, wanted, stop.signal);
  const since = new Date(clock.now()).toISOString();
  const by = `command line, ${person()}`;
  const isPause = action === 'pause';
  const outcomes = isPause
    ? await pausePlaces(app, places, { since, by, reason: text('reason') ?? null })
    : await resumePlaces(app, places);
  app.logger.info({ action, ...wanted, by }, 'A person asked for this.');
  if (flag('json'))
    terminal.printJson({ [isPause ? 'pauses' : 'resumed']: outcomes.map(pauseDocument) });
  else {
    const lines: DoneLine[] = isPause ? pausedLines(outcomes) : resumedLines(outcomes);
    for (const line of lines)
      terminal.print(
        `${line.ok ? terminal.style('green', '✓') : terminal.style('red', '✗')} ${line.text}`,
      );
    if (isPause && outcomes.some(({ failure }) => failure === null))
      terminal.print('', PAUSE_MEANS);
  }
  const hasFailed = outcomes.some(({ failure }) => failure !== null);
  return stop.exitCode() ?? (hasFailed ? EXIT_CODES.FAILED.code : EXIT_CODES.DONE.code);
}

/** As `pause --json` and `resume --json` print it. */
function pauseDocument({
  form,
  target,
  pause: made,
  isNew,
  failure,
}: PauseOutcome): Record<string, unknown> {
  const { since = null, by = null, reason = null } = made ?? {};
  const of = { form: form?.id ?? null, slug: form?.slug ?? null, target };
  const error = failure?.message ?? null;
  return { ...of, changed: isNew, since, by, reason, code: failure?.code ?? null, error };
}
