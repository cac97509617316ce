import type { App } from '../app.ts';
import type { Difference } from '../sync/verify.ts';
import type { FormPlan } from '../sync/planner.ts';
import type { PollReport, SyncJob } from '../sync/poll.ts';
import type { RunReport } from '../sync/run-form.ts';
import type { WriteBackReport } from '../sync/write-back.ts';
import type { CommandCall, PlaceOptions } from './command-spec.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';
import { openApp } from './open-app.ts';
import { selectPlan } from './selection.ts';
import {
  errorLines,
  foreseenDocument,
  foreseenLines,
  runDocument,
  runLines,
  showProgress,
  summaryLine,
  writeBackDocument,
  writeBackLines,
} from './sync-report.ts';
import type { Terminal } from './terminal.ts';

/** How long a run waits for another process that writes the same form. */
const WAIT_MS = 60_000;

/**
 * `sync`: does the work of the scheduled jobs now, in this process: a poll, the runs that it finds needed, and
 * write-back.
 */
type SyncFlags = PlaceOptions & {
  readonly full?: boolean;
  readonly dryRun?: boolean;
  readonly acceptDeletes?: boolean;
  readonly json?: boolean;
};

export async function run(call: CommandCall<SyncFlags>): Promise<ExitCode> {
  const { host } = call;
  const { form, full, dryRun, acceptDeletes, json } = call.options;
  const { terminal, clock, stop } = host;
  await using app = await openApp(host, { source: true, reportsRuns: !json });
  const plan = await selectPlan(call, app);
  const isQuiet = json && !terminal.interactive;
  if (!isQuiet) showProgress(terminal, app.events, clock);
  const options = {
    isFull: full === true || acceptDeletes === true,
    acceptDeletes: acceptDeletes ? Number.POSITIVE_INFINITY : 0,
    waitMs: WAIT_MS,
  };
  // A form that a person names is synced even if the counts of the workspace have not changed.
  const isPolled = !options.isFull && form === undefined;
  const onRun = (report: RunReport): void => {
    if (!json) terminal.tell(...runLines(report));
  };
  const result = dryRun
    ? await foresee(app, plan, { ...options, onRun }, stop.signal)
    : await bringUpToDate(app, plan, { ...options, isPolled, onRun }, stop.signal);
  if (json) terminal.printJson(syncDocument(result));
  else printRest(terminal, result, clock.now());
  return stop.exitCode() ?? syncExitCode(result);
}

interface SyncOptions {
  readonly isFull: boolean;
  readonly acceptDeletes: number;
  readonly waitMs: number;
  /** Called when a run has ended, and for a form that a poll found settled. */
  readonly onRun: (report: RunReport) => void;
}

interface SyncResult {
  readonly runs: readonly RunReport[];
  /** Empty when write-back is off. */
  readonly writeBacks: readonly WriteBackReport[];
  /** The cost of polls, in addition to the runs; null if each form was visited. */
  readonly poll: { readonly requests: number; readonly ms: number } | null;
  /** What a dry run predicts; null for any other. */
  readonly foreseen: readonly (readonly [RunReport, readonly Difference[]])[] | null;
}

/**
 * Polls, and does the runs that are needed, and write-back. Once the differences have been copied, a second poll covers the other
 * forms. What no poll covers, because it may be paused, gets a run, which says why.
 */
async function bringUpToDate(
  app: App,
  plan: readonly FormPlan[],
  { isPolled, onRun, ...options }: SyncOptions & { readonly isPolled: boolean },
  signal: AbortSignal,
): Promise<SyncResult> {
  const places = placesOf(plan);
  const reports = new Map<string, RunReport>();
  const isOpen = (place: Place): boolean => !reports.has(keyOf(place));
  const ended = (place: Place, report: RunReport): void => {
    reports.set(keyOf(place), report);
    onRun(report);
  };
  const visit = (jobs: readonly Job[]): Promise<void> =>
    eachPlace(jobs, signal, async ([job, ...others]) => {
      if (!isOpen(job)) return;
      const isComparison = [job, ...others].some((one) => one.isComparison === true);
      const how = { ...options, isComparison, counts: job.counts };
      ended(job, await app.run(job, how, signal));
    });
  const polls: PollReport[] = [];
  const mostPolls = isPolled ? 2 : 0;
  while (polls.length < mostPolls && !signal.aborted && places.some(isOpen)) {
    const found = await app.poll(plan, signal);
    polls.push(found);
    await visit(found.syncs);
    for (const settled of found.settled) {
      const place = { formId: settled.form.id, target: settled.target };
      if (isOpen(place)) ended(place, settled);
    }
  }
  await visit(places.filter(isOpen));
  const writeBacks: WriteBackReport[] = [];
  const waits = ({ form }: FormPlan): boolean =>
    !isPolled || polls.some((poll) => poll.writeBacks.includes(form.id));
  for (const { form } of plan.filter(waits)) {
    const report = signal.aborted ? undefined : await app.writeBack(form.id, WAIT_MS, signal);
    if (report !== undefined) writeBacks.push(report);
  }
  const sum = (of: (poll: PollReport) => number): number =>
    polls.reduce((total, poll) => total + of(poll), 0);
  return {
    runs: places.flatMap((place) => reports.get(keyOf(place)) ?? []),
    writeBacks,
    poll: isPolled ? { requests: sum((one) => one.requests), ms: sum((one) => one.ms) } : null,
    foreseen: null,
  };
}

/** What {@link bringUpToDate} would do. Writes nothing. */
async function foresee(
  app: App,
  plan: readonly FormPlan[],
  { onRun, ...options }: SyncOptions,
  signal: AbortSignal,
): Promise<SyncResult> {
  const changes: [RunReport, readonly Difference[]][] = [];
  await eachPlace(placesOf(plan), signal, async ([place]) => {
    const found = await app.dryRun(place, options, signal);
    changes.push(found);
    onRun(found[0]);
  });
  return { runs: changes.map(([run]) => run), writeBacks: [], poll: null, foreseen: changes };
}

/** A form in a target. */
type Place = Pick<SyncJob, 'formId' | 'target'>;
type Job = Place & Partial<SyncJob>;

const keyOf = ({ formId, target }: Place): string => JSON.stringify([target, formId]);

/** In the order of the plan, target by target. */
function placesOf(plan: readonly FormPlan[]): Place[] {
  const targets = [...new Set(plan.flatMap((each) => each.targets))];
  return targets.flatMap((target) =>
    plan.flatMap(({ form, targets: into }) =>
      into.includes(target) ? [{ formId: form.id, target }] : [],
    ),
  );
}

/** Works on each place once, with its jobs. Targets go side by side, each one form at a time (L12). */
async function eachPlace<T extends Place>(
  jobs: readonly T[],
  signal: AbortSignal,
  work: (jobs: [T, ...T[]]) => Promise<void>,
): Promise<void> {
  const byTarget = Map.groupBy(jobs, ({ target }) => target);
  await Promise.all(
    [...byTarget.values()].map(async (some) => {
      for (const [first, ...others] of Map.groupBy(some, keyOf).values())
        if (first !== undefined && !signal.aborted) await work([first, ...others]);
    }),
  );
}

function syncDocument({ runs, writeBacks, poll, foreseen }: SyncResult): Record<string, unknown> {
  return {
    runs: runs.map(runDocument),
    writeBacks: writeBacks.map(writeBackDocument),
    poll,
    ...(foreseen && {
      changes: foreseen.flatMap(([run, changes]) =>
        changes.map((change) => foreseenDocument(run, change)),
      ),
    }),
  };
}

/** 0 when every run was proven and every write-back went through, 130 when stopped, otherwise 1. */
function syncExitCode({ runs, writeBacks }: SyncResult): ExitCode {
  const hasFailed =
    runs.some(({ outcome }) => outcome !== 'ok' && outcome !== 'stopped') ||
    writeBacks.some(({ outcome }) => outcome === 'failed');
  if (hasFailed) return EXIT_CODES.FAILED.code;
  return [...runs, ...writeBacks].some(({ outcome }) => outcome === 'stopped')
    ? EXIT_CODES.INTERRUPTED.code
    : EXIT_CODES.DONE.code;
}

/** The lines below the runs: errors, write-back, the predictions of a dry run, and one line that sums it up. */
function printRest(
  terminal: Terminal,
  { runs, writeBacks, foreseen }: SyncResult,
  nowMs: number,
): void {
  terminal.tell(
    ...(foreseen ?? []).flatMap(([run, changes]) => foreseenLines(run, changes)),
    ...errorLines(runs),
    ...writeBacks.flatMap(writeBackLines),
    summaryLine(runs, { isDryRun: foreseen !== null, nowMs }),
  );
}
