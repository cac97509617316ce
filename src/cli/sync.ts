import type { App } from '../app.ts';
import type { Place } from '../sync/planner.ts';
import type { PollReport, SyncJob } from '../sync/poll.ts';
import type { RunReport } from '../sync/run-form.ts';
import { RUNS_AT_ONCE } from '../sync/target.ts';
import type { WriteBackReport } from '../sync/write-back.ts';
import type { CommandCall, ExitCode, PlaceOptions } from './host.ts';
import { copyName } from './lines.ts';
import { openApp } from './open-app.ts';
import { heldIn, selectPlan } from './selection.ts';
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

/** The second poll finds what the runs of the first have settled. */
const MOST_POLLS = 2;

/** How long a run waits for another process that writes to the same form. */
const WAIT_MS = 60_000;

type SyncFlags = PlaceOptions & {
  readonly full?: boolean;
  readonly dryRun?: boolean;
  readonly acceptDeletes?: boolean;
  readonly json?: boolean;
};

/**
 * `sync`: does the work of the scheduled jobs now, in this process: a poll, the runs that it finds necessary, and write-back.
 * `--dry-run`: only predicts what the runs would do.
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
  // A form that a person names is synced even if the counts of the workspace have not changed.
  const isPolled = !isFull && !acceptDeletes && !dryRun && options.form === undefined;
  const isWatched = json !== true || terminal.interactive;
  const { runs, polls } = await bringUpToDate(app, plan, {
    polled: isPolled ? plan : [],
    async run({ form, target }, jobs) {
      const place = { formId: form.id, target };
      const how = {
        isFull: isFull || acceptDeletes,
        // A person accepts as many as were shown. If the target cannot be read, the run reports why.
        acceptDeletes: acceptDeletes ? await heldIn(app, { form, target }).catch(() => 0) : 0,
        waitMs: WAIT_MS,
      };
      if (dryRun) return app.dryRun(place, how, stop.signal);
      const onProgress = isWatched ? progressOf(copyName({ form, target }), host) : undefined;
      const isComparison = jobs.some((job) => job.isComparison);
      const order = { ...how, isComparison, polled: jobs[0]?.polled, onProgress };
      return app.run(place, order, stop.signal);
    },
    onRun(report) {
      if (json !== true) terminal.print(...runLines(report));
    },
    signal: stop.signal,
  });
  const isComparison =
    runs.length === 0 || isFull || polls.some(({ syncs }) => syncs.some((job) => job.isComparison));
  if (isComparison && !dryRun && options.form === undefined)
    await app.upkeepWithoutRuns(app.namesOf(options.target), stop.signal);
  const isWaiting = (formId: string): boolean =>
    !isPolled || polls.some((poll) => poll.writeBacks.includes(formId));
  const writeBacks: WriteBackReport[] = [];
  for (const formId of new Set(dryRun ? [] : plan.map(({ form }) => form.id))) {
    if (stop.signal.aborted) break;
    if (!isWaiting(formId)) continue;
    const report = await app.writeBack(formId, { waitMs: WAIT_MS, signal: stop.signal });
    if (report !== undefined) writeBacks.push(report);
  }
  if (json) {
    const sum = (of: (poll: PollReport) => number): number =>
      polls.reduce((total, poll) => total + of(poll), 0);
    terminal.printJson({
      runs: runs.map(runDocument),
      writeBacks: writeBacks.map(writeBackDocument),
      // The cost of polls, in addition to the runs; null if each form was visited.
      poll: isPolled ? { requests: sum((one) => one.requests), ms: sum((one) => one.ms) } : null,
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
  /** The forms to poll, which get runs only if the poll finds them necessary. Empty: there is no poll, and all forms get runs. */
  readonly polled: readonly Place[];
  /** One run. `jobs`: what a poll found about the place. */
  readonly run: (place: Place, jobs: readonly SyncJob[]) => Promise<RunReport>;
  /** Called when a run has ended, and for a form that a poll found settled. */
  readonly onRun: (report: RunReport) => void;
  readonly signal: AbortSignal;
}

/**
 * Polls, and does the necessary runs. Once the differences have been copied, a second poll covers the other forms. A form that no
 * poll covers, for example because it is paused, gets a run, which says why. The runs are in the order of the targets.
 */
async function bringUpToDate(
  app: App,
  places: readonly Place[],
  { polled, run, onRun, signal }: SyncOptions,
): Promise<{ readonly runs: readonly RunReport[]; readonly polls: readonly PollReport[] }> {
  const byTarget = [...Map.groupBy(places, ({ target }) => target).values()];
  const reports = new Map<Place, RunReport>();
  const ended = (place: Place, report: RunReport): void => {
    reports.set(place, report);
    onRun(report);
  };
  /** Targets run at the same time (L12), each a few forms. `jobs`: only the places that they name. */
  const visit = async (jobs?: readonly SyncJob[]): Promise<void> => {
    const visitEach = async (some: Iterable<Place>): Promise<void> => {
      for (const place of some) {
        const { form, target } = place;
        const own = jobs?.filter((job) => job.formId === form.id && job.target === target);
        if (reports.has(place) || own?.length === 0 || signal.aborted) continue;
        ended(place, await run(place, own ?? []));
      }
    };
    await Promise.all(
      byTarget.flatMap((some) => {
        const next = some.values();
        return Array.from({ length: RUNS_AT_ONCE }, () => visitEach(next));
      }),
    );
  };
  const isOpen = (place: Place): boolean => !reports.has(place);
  const polls: PollReport[] = [];
  const mostPolls = polled.length === 0 ? 0 : MOST_POLLS;
  while (polls.length < mostPolls && !signal.aborted && places.some(isOpen)) {
    const found = await app.poll(polled, signal);
    polls.push(found);
    await visit(found.syncs);
    for (const run of found.unchanged) {
      const { form, target } = run;
      const place = places.find((one) => one.form.id === form.id && one.target === target);
      if (place !== undefined && isOpen(place)) ended(place, run);
    }
  }
  await visit();
  return { runs: byTarget.flat().flatMap((place) => reports.get(place) ?? []), polls };
}
