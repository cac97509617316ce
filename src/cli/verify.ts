import type { App } from '../app.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import type { ExitCode } from '../base/exit-codes.ts';
import type { FormReport, Report } from '../health/report.ts';
import { pauseText } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { longestGapMs } from '../settings/sync-settings.ts';
import { duration, quoted } from '../settings/value-schemas.ts';
import type { VerifyWishes } from '../sync/verify-form.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { formIn, reportNow } from './health-sources.ts';
import { openApp } from './open-app.ts';
import { noticeLines, runName } from './run-report.ts';
import { selectPlan } from './selection.ts';
import {
  type Comparison,
  isWell,
  printComparison,
  stillWaitingLine,
  verifyDocument,
  waitLine,
} from './verify-report.ts';

/** How often the wait for a run is reported. */
const SAY_EVERY_MS = 15_000;

/** `verify`: compares source and target row by row. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, flag } = call;
  const { terminal, clock, stop } = host;
  const waitMs = parseWait(call.text('wait'));
  await using app = await openApp(host, { source: true });
  const quiet = flag('json') && !terminal.interactive;
  const report = await reportNow(app, host);
  // While what differs in one form is looked at again, the next forms are read.
  const running: Promise<Comparison>[] = [];
  const paused: FormReport[] = [];
  for (const { form, targets } of await selectPlan(call, app)) {
    for (const target of targets) {
      if (terminal.interactive) terminal.say(`Comparing ${form.slug} → ${target} …`);
      const onWait = quiet ? () => {} : waitReporter(host, `${form.slug} → ${target}`);
      const copy = formIn(report, target, form.id);
      const isPaused = copy !== null && copy.pause !== null;
      if (isPaused) paused.push(copy);
      // No run will settle what differs there.
      const wait = isPaused ? (waitMs ?? 0) : waitMs;
      const started = await start(app, form, target, { waitMs: wait, onWait }, host);
      running.push(started.finish());
    }
  }
  const comparisons = (await Promise.all(running)).map((each) => withLeftovers(each, report));
  const others = plainElsewhere(call, report, comparisons);
  if (flag('json')) terminal.printJson(verifyDocument(comparisons, others, paused));
  else {
    if (comparisons.length === 0)
      terminal.print('There was nothing to compare: no form is mirrored.');
    for (const each of comparisons) printComparison(terminal, each, clock.now());
    for (const copy of paused)
      if (copy.pause !== null)
        terminal.print(
          `· ${runName(copy)}: ${pauseText(copy.pause)}: the copy is as of then. To resume: ${copy.pause.command}`,
        );
    for (const copy of others)
      terminal.print(...noticeLines(terminal, runName(copy), copy.notices.filter(isPlain)));
  }
  return stop.exitCode() ?? (comparisons.every(isWell) ? 0 : 1);
}

const isPlain = ({ code }: FormReport['notices'][number]): boolean => code === 'PLAIN_ANSWERS';

/** With what the target holds of fields that are no longer selected. */
function withLeftovers(compared: Comparison, all: Report): Comparison {
  const { form, target, report } = compared;
  const copy = formIn(all, target, form.id);
  if (report === null || copy === null) return compared;
  const leftovers = copy.notices.filter(({ code }) => code === 'UNPICKED_ANSWERS');
  return { ...compared, report: { ...report, notices: [...report.notices, ...leftovers] } };
}

/** Forms that are not compared, as no run writes them again, and that hold plain answers. */
function plainElsewhere(
  { text }: CommandCall,
  { forms }: Report,
  comparisons: readonly Comparison[],
): FormReport[] {
  const [only, wanted] = [text('target'), text('form')];
  const compared = new Set(comparisons.map(({ form, target }) => `${target} ${form.id}`));
  return forms.filter(
    ({ form, target, notices }) =>
      (only === undefined || only === target) &&
      (wanted === undefined || wanted === form.id || wanted === form.slug) &&
      !compared.has(`${target} ${form.id}`) &&
      notices.some(isPlain),
  );
}

/** Throws USAGE. Undefined: as long as the schedule explains. */
function parseWait(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = text === '0' ? { success: true, data: 0 } : duration.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new MirrorError(
    'USAGE',
    `--wait takes 0 or a duration such as 30s, 5m or 2h, not ${quoted(text)}.`,
  );
}

/** Reports the wait when it begins, and again now and then. */
function waitReporter({ terminal, clock }: Host, name: string) {
  let saidAtMs: number | null = null;
  return (differing: number, untilMs: number): void => {
    const nowMs = clock.now();
    const leftMs = untilMs - nowMs;
    if (saidAtMs === null) terminal.say(waitLine(name, differing, leftMs));
    else if (nowMs - saidAtMs < SAY_EVERY_MS || leftMs < SAY_EVERY_MS) return;
    else terminal.say(stillWaitingLine(name, differing, leftMs));
    saidAtMs = nowMs;
  };
}

/** Reads the source; `finish` looks again at what differs. Neither throws: a failure is a result. */
async function start(
  app: App,
  form: FormIdentity,
  name: string,
  wishes: VerifyWishes,
  { stop: { signal }, clock }: Host,
): Promise<{ finish(): Promise<Comparison> }> {
  const { schedule } = app.config;
  const failed = (error: unknown): Comparison => {
    const { code, message } = toMirrorError(error);
    return { form, target: name, report: null, code, error: message };
  };
  try {
    await app.readSlugs(name);
    const problem = app.slugProblem(name, form);
    if (problem !== null) throw problem;
    const pollMs = longestGapMs(schedule, clock.now());
    const started = await app.startVerification(name, form.id, pollMs, signal);
    return {
      async finish() {
        try {
          return {
            form,
            target: name,
            report: await started.finish(wishes),
            code: null,
            error: null,
          };
        } catch (error) {
          return failed(error);
        }
      },
    };
  } catch (error) {
    return { finish: async () => failed(error) };
  }
}
