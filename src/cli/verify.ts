import type { App } from '../app.ts';
import type { VerifyWishes } from '../bridge/store-runs.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import type { ExitCode } from '../base/exit-codes.ts';
import type { FormInTarget } from '../health/facts.ts';
import type { TargetNotice } from '../mirror/port.ts';
import type { Pause } from '../mirror/pauses.ts';
import type { FormOverview } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { longestGapMs } from '../settings/sync-settings.ts';
import { duration, quoted } from '../settings/value-schemas.ts';
import { unpickedNotice } from '../sync/purge.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { openApp } from './open-app.ts';
import { noticeLines } from './pass-report.ts';
import { pauseAt, pauseNote } from './pausing.ts';
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
  // While what differs in one form is looked at again, the next forms are read.
  const running: Promise<Comparison>[] = [];
  const paused: { form: string; slug: string; target: string; pause: Pause }[] = [];
  for (const { form, targets } of await selectPlan(call, app)) {
    for (const target of targets) {
      if (terminal.interactive) terminal.say(`Comparing ${form.slug} → ${target} …`);
      const onWait = quiet ? () => {} : waitReporter(host, `${form.slug} → ${target}`);
      const pause = await pauseAt(app, target, form.id);
      if (pause !== null) paused.push({ form: form.id, slug: form.slug, target, pause });
      // No run will settle what differs there.
      const wait = pause === null ? waitMs : (waitMs ?? 0);
      const started = await start(app, form, target, { waitMs: wait, onWait }, host);
      running.push(started.finish());
    }
  }
  const comparisons = await withUnpicked(app, await Promise.all(running));
  const others = await plainElsewhere(call, app);
  if (flag('json')) terminal.printJson({ ...verifyDocument(comparisons), others, paused });
  else if (comparisons.length === 0) {
    terminal.print('There was nothing to compare: no form is mirrored.');
  }
  if (!flag('json')) for (const each of comparisons) printComparison(terminal, each, clock.now());
  for (const { slug, target, pause } of flag('json') ? [] : paused) {
    terminal.print(`· ${slug} → ${target}: ${pauseNote(pause, target)}`);
  }
  for (const { form, target, notice } of flag('json') ? [] : others) {
    for (const line of noticeLines(terminal, `${form.slug} → ${target}`, [notice])) {
      terminal.print(line);
    }
  }
  return stop.exitCode() ?? (comparisons.every(isWell) ? 0 : 1);
}

/** With what the targets hold of fields that are no longer picked; a target that does not answer adds nothing. */
async function withUnpicked(
  app: App,
  comparisons: readonly Comparison[],
): Promise<readonly Comparison[]> {
  const overviews = new Map<string, readonly FormOverview[]>();
  for (const { target, report } of comparisons) {
    if (report === null || overviews.has(target)) continue;
    const opened = await app.target(target);
    overviews.set(target, await opened.overview().catch(() => []));
  }
  return comparisons.map((each) => {
    const { form, target, report } = each;
    const overview = overviews.get(target)?.find(({ formId }) => formId === form.id);
    const notice = overview && unpickedNotice(app.picksOf(target), overview, target);
    if (report === null || notice === undefined) return each;
    return { ...each, report: { ...report, notices: [...report.notices, notice] } };
  });
}

/** Plain answers in forms that no pass writes again, and so are not compared; a target that does not answer adds nothing. */
async function plainElsewhere(
  { text }: CommandCall,
  app: App,
): Promise<readonly (FormInTarget & { readonly notice: TargetNotice })[]> {
  const found: (FormInTarget & { readonly notice: TargetNotice })[] = [];
  const only = text('target');
  const wanted = text('form');
  for (const { name } of app.config.targets) {
    if (only !== undefined && only !== name) continue;
    const read = async () => app.overview(name);
    const overview = await read().catch(() => null);
    for (const { formId: id, slug, name: title, notices } of overview?.forms ?? []) {
      if (wanted !== undefined && wanted !== id && wanted !== slug) continue;
      for (const notice of notices) {
        if (notice.code !== 'PLAIN_ANSWERS') continue;
        found.push({ form: { id, slug, name: title }, target: name, notice });
      }
    }
  }
  return found;
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

/** Says so at the beginning of the wait, and again now and then. */
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
    const intervals = {
      incrementalMs: longestGapMs(schedule, clock.now()),
      fullMs: schedule.fullEveryMs,
    };
    const started = await app.startVerification(name, form.id, intervals, signal);
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
