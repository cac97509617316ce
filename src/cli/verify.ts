import { toMirrorError } from '../base/errors.ts';
import { count, duration } from '../base/format.ts';
import type { FormReport } from '../health/report.ts';
import { pauseText } from '../mirror/pauses.ts';
import { longestGapMs } from '../settings/sync-settings.ts';
import { type CommandCall, durationOption } from './command-spec.ts';
import type { ExitCode, Host } from './host.ts';
import { formIn, reportNow } from './health-sources.ts';
import { openApp } from './open-app.ts';
import { printNotices, runName } from './run-report.ts';
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
  const report = await reportNow(app, host);
  const plan = await selectPlan(call, app);
  // While the differences of one form are compared again, the next forms are read.
  const running: Promise<Comparison>[] = [];
  for (const { form, targets } of plan) {
    for (const target of targets) {
      const name = `${form.slug} → ${target}`;
      if (terminal.interactive) terminal.say(`Comparing ${name} …`);
      const failed = (error: unknown): Comparison => {
        const { code, message } = toMirrorError(error);
        return { form, target, report: null, code, error: message };
      };
      // No run removes the differences of a paused place.
      const isPaused = (formIn(report, target, form.id)?.pause ?? null) !== null;
      const wishes = {
        waitMs: isPaused ? (waitMs ?? 0) : waitMs,
        ...(!isQuiet && { onWait: waitReporter(host, name) }),
      };
      try {
        await app.readSlugs(target);
        const problem = app.slugProblem(target, form);
        if (problem !== null) throw problem;
        const pollMs = longestGapMs(app.config.schedule, clock.now());
        const started = await app.startVerification(target, form.id, pollMs, stop.signal);
        const finished = started.finish(wishes).then((compared) => {
          return { form, target, report: compared, code: null, error: null };
        });
        running.push(finished.catch(failed));
      } catch (error) {
        running.push(Promise.resolve(failed(error)));
      }
    }
  }
  const comparisons = await Promise.all(running);
  const copies = report.forms.filter(
    ({ form, target }) =>
      app.namesOf(text('target')).includes(target) &&
      (text('form') === undefined || plan.some((each) => each.form.id === form.id)),
  );
  const paused = copies.filter((copy) =>
    comparisons.some(
      ({ form, target }) =>
        copy.pause !== null && copy.form.id === form.id && copy.target === target,
    ),
  );
  const leftovers = copies.filter((copy) => leftoversOf(copy).length > 0);
  if (flag('json')) terminal.printJson(verifyDocument(comparisons, leftovers, paused));
  else {
    if (comparisons.length === 0)
      terminal.print('There was nothing to compare: no form is mirrored.');
    for (const each of comparisons) printComparison(terminal, each, clock.now());
    for (const { pause, ...copy } of paused)
      if (pause !== null)
        terminal.tell(
          'note',
          `${runName(copy)}: ${pauseText(pause)}: the copy is as of that time. To resume: ${pause.command}`,
        );
    for (const copy of leftovers) printNotices(terminal, runName(copy), leftoversOf(copy));
  }
  return stop.exitCode() ?? (comparisons.every(isWell) ? 0 : 1);
}

/** Answers that are stored where they should not be, also in forms that no run writes again. */
const leftoversOf = ({ notices }: FormReport): FormReport['notices'] =>
  notices.filter(({ code }) => code === 'PLAIN_ANSWERS' || code === 'UNSELECTED_ANSWERS');

/** Reports the wait when it begins, and again now and then. */
function waitReporter({ terminal, clock }: Host, name: string) {
  let saidAtMs: number | null = null;
  return (differing: number, untilMs: number): void => {
    const nowMs = clock.now();
    if (saidAtMs !== null && nowMs - saidAtMs < SAY_EVERY_MS) return;
    const differ = `${count(differing)} ${differing === 1 ? 'differs' : 'differ'}`;
    const left = duration(untilMs - nowMs);
    terminal.say(
      `${name}: ${differ}; comparing again for at most ${left}, because a run may bring the changes (--wait 0 does not wait)`,
    );
    saidAtMs = nowMs;
  };
}
