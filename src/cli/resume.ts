import type { ExitCode } from '../base/exit-codes.ts';
import { person } from '../sync/erasure-log.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import { pauseDocument, pauseExitCode, printLines } from './pause.ts';
import { findPausePlaces, resumedLines, resumePlaces } from './pausing.ts';

/** `resume`: ends what `pause` of the same form, target or everything began. */
export async function run({ host, text, flag }: CommandCall): Promise<ExitCode> {
  await using app = await openApp(host);
  const wanted = { form: text('form'), target: text('target') };
  const places = await findPausePlaces(app, wanted, host.stop.signal);
  const outcomes = await resumePlaces(app, places);
  const by = `command line, ${person()}`;
  app.logger.info({ action: 'resume', ...wanted, by }, 'A person asked for this.');
  if (flag('json')) host.terminal.printJson({ resumed: outcomes.map(pauseDocument) });
  else printLines(host.terminal, resumedLines(outcomes));
  return host.stop.exitCode() ?? pauseExitCode(outcomes);
}
