import type { App } from '../app.ts';
import type { FormPlan } from '../sync/planner.ts';
import type { PollReport, SyncJob } from '../sync/poll.ts';
import type { RunReport } from '../sync/run-form.ts';
import type { RunOptions } from '../sync/work.ts';
import type { WriteBackReport } from '../sync/write-back.ts';
import type { CommandCall, ExitCode, PlaceOptions } from './host.ts';
import { copyName } from './lines.ts';
import { openApp } from './open-app.ts';
import { selectPlan } from './selection.ts';
import {
  errorLines,
  foreseenDocuments,
  foreseenLines,
  runDocument,
  progressOf,
  runLines,
  summaryLine,
  writeBackDocument,
  writeBackLines,
} from './sync-report.ts';

/** How long a run waits for another process that writes the same form. */
const WAIT_MS = 60_000;

type SyncFlags = PlaceOptions & {
  readonly full?: boolean;
  readonly dryRun?: boolean;
  readonly acceptDeletes?: boolean;
  readonly json?: boolean;
};

/**
 * `sync`: does the work of the scheduled jobs now, in this process: a poll, the runs that it finds needed, and
 * write-back. `--dry-run`: only what the runs would do.
 */
export async function sync(call: CommandCall<SyncFlags>): Promise<ExitCode> {
  const { host, options } = call;
  const { terminal, clock, stop } = host;
  const { json, dryRun = false, acceptDeletes = false } = options;
  await using app = await openApp(host, {
    source: true,
    fields: options.target ?? true,
    reportsRuns: !json,
  });
  const plan = await selectPlan(call, app);
  const isFull = options.full === true;
  const how: SyncOptions = {
    isFull,
    acceptDeletes: acceptDeletes ? Number.POSITIVE_INFINITY : 0,
    waitMs: WAIT_MS,
    dryRun,
    // A form that a person names is synced even if the counts of the workspace have not changed.
    isPolled: !isFull && !acceptDeletes && !dryRun && options.form === undefined,
    watch: (name) => (json && !terminal.interactive ? undefined : progressOf(name, host)),
    onRun(report) {
      if (!json) terminal.print(...runLines(report));
    },
  };
  const { runs, writeBacks, poll } = await bringUpToDate(app, plan, how, stop.signal);
  if (json) {
    terminal.printJson({
      runs: runs.map(runDocument),
      writeBacks: writeBacks.map(writeBackDocument),
      poll,
      ...(dryRun && { changes: runs.flatMap(foreseenDocuments) }),
    });
  } else {
    terminal.print(
      ...runs.flatMap(foreseenLines),
      ...errorLines(runs),
      ...writeBacks.flatMap(writeBackLines),
      summaryLine(runs, { isDryRun: dryRun, nowMs: clock.now() }),
    );
  }
  const isDone =
    runs.every(({ outcome }) => outcome === 'ok') &&
    writeBacks.every(({ outcome }) => outcome !== 'failed');
  return isDone && !stop.signal.aborted ? 0 : 1;
}

interface SyncOptions {
  readonly isFull: boolean;
  readonly acceptDeletes: number;
  readonly waitMs: number;
  /** Nothing is written. */
  readonly dryRun: boolean;
  /** Runs and write-backs only where a poll finds them needed. */
  readonly isPolled: boolean;
  /** Where the progress of a run goes, by its name. */
  readonly watch: (name: string) => RunOptions['onProgress'];
  /** Called when a run has ended, and for a form that a poll found settled. */
  readonly onRun: (report: RunReport) => void;
}

interface SyncResult {
  readonly runs: readonly RunReport[];
  /** Empty when write-back is off. */
  readonly writeBacks: readonly WriteBackReport[];
  /** The cost of polls, in addition to the runs; null if each form was visited. */
  readonly poll: { readonly requests: number; readonly ms: number } | null;
}

/** A form in a target, and what a poll says of it. */
type Job = Pick<SyncJob, 'formId' | 'target'> & Partial<SyncJob>;

const keyOf = ({ formId, target }: Job): string => JSON.stringify([target, formId]);

/**
 * Polls, and does the runs that are needed, and write-back. Once the differences have been copied, a second poll covers the other
 * forms. What no poll covers, because it may be paused, gets a run, which says why.
 */
async function bringUpToDate(
  app: App,
  plan: readonly FormPlan[],
  { isPolled, dryRun, watch, onRun, ...options }: SyncOptions,
  signal: AbortSignal,
): Promise<SyncResult> {
  const places = placesOf(plan);
  const reports = new Map<string, RunReport>();
  const isOpen = (place: Job): boolean => !reports.has(keyOf(place));
  const ended = (place: Job, report: RunReport): void => {
    reports.set(keyOf(place), report);
    onRun(report);
  };
  const forms = new Map(plan.map(({ form }) => [form.id, form]));
  const work = (job: Job, isComparison: boolean): Promise<RunReport> => {
    if (dryRun) return app.dryRun(job, options, signal);
    const form = forms.get(job.formId);
    const onProgress = form && watch(copyName({ form, target: job.target }));
    const how = { ...options, isComparison, counts: job.counts, onProgress };
    return app.run(job, how, signal);
  };
  /** Targets go side by side, each one form at a time (L12). */
  const visit = async (jobs: readonly Job[]): Promise<void> => {
    const byTarget = Map.groupBy(jobs, ({ target }) => target);
    const visitTarget = async (some: readonly Job[]): Promise<void> => {
      const compared = new Set(some.filter((job) => job.isComparison).map(keyOf));
      for (const job of some)
        if (isOpen(job) && !signal.aborted) ended(job, await work(job, compared.has(keyOf(job))));
    };
    await Promise.all([...byTarget.values()].map(visitTarget));
  };
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
  await visit(places);
  const writeBacks: WriteBackReport[] = [];
  for (const { form } of dryRun ? [] : plan) {
    if (isPolled && !polls.some((poll) => poll.writeBacks.includes(form.id))) continue;
    const report = signal.aborted ? undefined : await app.writeBack(form.id, WAIT_MS, signal);
    if (report !== undefined) writeBacks.push(report);
  }
  const sum = (of: (poll: PollReport) => number): number =>
    polls.reduce((total, poll) => total + of(poll), 0);
  return {
    runs: places.flatMap((place) => reports.get(keyOf(place)) ?? []),
    writeBacks,
    poll: isPolled ? { requests: sum((one) => one.requests), ms: sum((one) => one.ms) } : null,
  };
}

/** In the order of the plan, target by target. */
function placesOf(plan: readonly FormPlan[]): Job[] {
  const targets = [...new Set(plan.flatMap((each) => each.targets))];
  return targets.flatMap((target) =>
    plan.flatMap(({ form, targets: into }) =>
      into.includes(target) ? [{ formId: form.id, target }] : [],
    ),
  );
}
