import { toMirrorError } from '../base/errors.ts';
import { count, duration } from '../base/format.ts';
import { longestGapMs } from '../settings/sync-settings.ts';
import { type CommandCall, durationOption } from './command-spec.ts';
import { EXIT_CODES, type ExitCode, type Host } from './host.ts';
import { openApp } from './open-app.ts';
import { runName } from './run-report.ts';
import { selectPlan } from './selection.ts';
import { type Comparison, isWell, printComparison, verifyDocument } from './verify-report.ts';

/** How often the wait for a run is reported. */
const SAY_EVERY_MS = 15_000;

/** `verify`: compares source and target row by row. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, flag, text } = call;
  const { terminal, clock, stop } = host;
  const waitMs = text('wait') === '0' ? 0 : durationOption(call, 'wait');
  await using app = await openApp(host, { source: true });
  const isQuiet = flag('json') && !terminal.interactive;
  const plan = await selectPlan(call, app);
  // While the differences of one form are compared again, the next forms are read.
  const running: Promise<Comparison>[] = [];
  for (const place of plan.flatMap(({ form, targets }) =>
    targets.map((target) => ({ form, target })),
  )) {
    const { form, target } = place;
    const name = runName(place);
    if (terminal.interactive) terminal.say(`Comparing ${name} …`);
    const failed = (error: unknown): Comparison => {
      const { code, message } = toMirrorError(error);
      return { ...place, report: null, code, error: message };
    };
    try {
      await app.readSlugs(target);
      const problem = app.slugProblem(target, form);
      if (problem !== null) throw problem;
      const pollMs = longestGapMs(app.config.schedule, clock.now());
      const started = await app.startVerification(target, form.id, pollMs, stop.signal);
      const wishes = { waitMs, ...(!isQuiet && { onWait: waitReporter(host, name) }) };
      const finished = started.finish(wishes).then((report): Comparison => {
        return { ...place, report, code: null, error: null };
      });
      running.push(finished.catch(failed));
    } catch (error) {
      running.push(Promise.resolve(failed(error)));
    }
  }
  const comparisons = await Promise.all(running);
  if (flag('json')) terminal.printJson(verifyDocument(comparisons));
  else if (comparisons.length === 0)
    terminal.print('There was nothing to compare: no form is mirrored.');
  else for (const each of comparisons) printComparison(terminal, each);
  return stop.exitCode() ?? (comparisons.every(isWell) ? EXIT_CODES.DONE : EXIT_CODES.FAILED).code;
}

/** Reports the wait when it begins, and again now and then. */
function waitReporter({ terminal, clock }: Host, name: string) {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return (differing: number, untilMs: number): void => {
    const nowMs = clock.now();
    if (nowMs - saidAtMs < SAY_EVERY_MS) return;
    saidAtMs = nowMs;
    const differ = `${count(differing)} ${differing === 1 ? 'differs' : 'differ'}`;
    const left = duration(untilMs - nowMs);
    terminal.say(
      `${name}: ${differ}; comparing again for at most ${left}, because a run may bring the changes (--wait 0 does not wait)`,
    );
  };
}
