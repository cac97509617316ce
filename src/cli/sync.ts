import type { App } from '../app.ts';
import { count, plural } from '../base/format.ts';
import type { FormPlan } from '../sync/planner.ts';
import type { PollReport, SyncJob } from '../sync/poll.ts';
import type { RunOptions, RunReport } from '../sync/run-form.ts';
import type { WriteBackReport } from '../sync/write-back.ts';
import type { CommandCall } from './command-spec.ts';
import { ForeseenRows } from './foreseen-report.ts';
import { openApp } from './open-app.ts';
import {
  printErrors,
  printNotices,
  printSummary,
  runDocument,
  runName,
  runTable,
  showProgress,
  writeBackDocument,
  writeBackLines,
} from './run-report.ts';
import { selectPlan } from './selection.ts';
import type { Terminal } from './terminal.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** How long a run waits for another process that writes the same form. */
const WAIT_MS = 60_000;

/**
 * `sync`: does the work of the scheduled jobs now, in this process: a poll, the runs that it finds needed, and
 * write-back.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, flag, text } = call;
  const { terminal, clock, stop } = host;
  await using app = await openApp(host, { source: true, reportsRuns: !flag('json') });
  const plan = await selectPlan(call, app);
  const options: SyncOptions = {
    isFull: flag('full') || flag('acceptDeletes'),
    isOneForm: text('form') !== undefined,
    acceptDeletes: flag('acceptDeletes') ? Number.POSITIVE_INFINITY : 0,
    dryRun: flag('dryRun'),
  };
  const isQuiet = flag('json') && !terminal.interactive;
  const progress = isQuiet ? undefined : showProgress(terminal, app.events, clock);
  const result = await runSync(app, plan, options, stop.signal).finally(() =>
    progress?.[Symbol.dispose](),
  );
  if (flag('json')) terminal.printJson(syncDocument(result));
  else printResult(terminal, result, clock.now());
  return stop.exitCode() ?? syncExitCode(result);
}

interface SyncOptions {
  readonly isFull: boolean;
  /** A person names the form, so it is synced even if the counts of the workspace have not changed. */
  readonly isOneForm: boolean;
  readonly acceptDeletes: number;
  readonly dryRun: boolean;
}

interface SyncResult {
  readonly runs: readonly RunReport[];
  /** Empty when write-back is off. */
  readonly writeBacks: readonly WriteBackReport[];
  /** The cost of polls, in addition to the runs; null if each form was visited. */
  readonly poll: { readonly requests: number; readonly ms: number } | null;
  /** The changes that a dry run predicts. */
  readonly foreseen:
    | readonly { readonly run: RunReport; readonly rows: ForeseenRows }[]
    | undefined;
  readonly wouldWriteBack: readonly WouldWriteBack[];
}

interface WouldWriteBack {
  readonly slug: string;
  readonly submissions: readonly { readonly id: string; readonly status: string }[];
}

async function runSync(
  app: App,
  plan: readonly FormPlan[],
  options: SyncOptions,
  signal: AbortSignal,
): Promise<SyncResult> {
  const isPolled = !options.isFull && !options.isOneForm && !options.dryRun;
  const runs = new Runs(app, plan, options, signal);
  const polls = isPolled ? await runPolled(app, plan, runs, signal) : [];
  if (!isPolled) await runs.visit(runs.open);
  const forms = isPolled
    ? plan.filter(
        ({ form }) =>
          runs.hasRun(form.id) || polls.some(({ writeBacks }) => writeBacks.includes(form.id)),
      )
    : plan;
  const writeBacks: WriteBackReport[] = [];
  const wouldWriteBack: WouldWriteBack[] = [];
  for (const { form } of app.rule === null ? [] : forms) {
    if (signal.aborted) break;
    if (options.dryRun) {
      const submissions = await app.wouldWriteBack(form);
      wouldWriteBack.push({ slug: form.slug, submissions });
      continue;
    }
    const report = await app.writeBack(form.id, WAIT_MS, signal);
    if (report !== undefined) writeBacks.push(report);
  }
  const sum = (of: (poll: PollReport) => number): number =>
    polls.reduce((total, poll) => total + of(poll), 0);
  return {
    runs: runs.reports,
    writeBacks,
    wouldWriteBack,
    poll: isPolled ? { requests: sum((one) => one.requests), ms: sum((one) => one.ms) } : null,
    foreseen: options.dryRun ? runs.foreseen : undefined,
  };
}

/**
 * Polls, and does the runs that are needed. Forms that the poll does not cover are covered by a second poll after
 * the differences have been copied, or else, because they may be paused, by a run.
 */
async function runPolled(
  app: App,
  plan: readonly FormPlan[],
  runs: Runs,
  signal: AbortSignal,
): Promise<PollReport[]> {
  const polls: PollReport[] = [];
  for (let round = 1; round <= 2 && !signal.aborted && runs.open.length > 0; round++) {
    const found = await app.poll(plan, signal);
    polls.push(found);
    await runs.visit(found.syncs);
    for (const settled of found.settled) runs.settle(settled);
  }
  await runs.visit(runs.open);
  return polls;
}

/** A form in a target to visit. */
type Visit = Pick<SyncJob, 'formId' | 'target'> & Partial<SyncJob>;

/** The runs of one command: one for each form and target of the plan. */
class Runs {
  readonly #app: App;
  readonly #options: SyncOptions;
  readonly #signal: AbortSignal;
  /** By place, in the order of the plan, target by target; null: still open. */
  readonly #reports = new Map<string, { readonly visit: Visit; report: RunReport | null }>();
  readonly #ran = new Set<string>();
  readonly foreseen: { run: RunReport; rows: ForeseenRows }[] = [];

  constructor(app: App, plan: readonly FormPlan[], options: SyncOptions, signal: AbortSignal) {
    [this.#app, this.#options, this.#signal] = [app, options, signal];
    for (const target of new Set(plan.flatMap(({ targets }) => targets)))
      for (const { form, targets } of plan) {
        const visit = { formId: form.id, target };
        if (targets.includes(target)) this.#reports.set(keyOf(visit), { visit, report: null });
      }
  }

  get reports(): RunReport[] {
    return [...this.#reports.values()].flatMap(({ report }) => report ?? []);
  }

  /** Places without a report yet. */
  get open(): Visit[] {
    return [...this.#reports.values()].flatMap(({ visit, report }) =>
      report === null ? [visit] : [],
    );
  }

  /** Whether a form was visited, in any target. */
  hasRun(formId: string): boolean {
    return this.#ran.has(formId);
  }

  settle(report: RunReport): void {
    const place = this.#reports.get(keyOf({ formId: report.form.id, target: report.target }));
    if (place !== undefined && place.report === null) place.report = report;
  }

  /** One run for each open place. Targets go side by side, each one form at a time (L12). */
  async visit(visits: readonly Visit[]): Promise<void> {
    const byTarget = Map.groupBy(visits, ({ target }) => target);
    await Promise.all(
      [...byTarget.values()].map(async (some) => {
        for (const [key, [visit, ...others]] of Map.groupBy(some, keyOf)) {
          const place = this.#reports.get(key);
          if (this.#signal.aborted) return;
          if (visit === undefined || place === undefined || place.report !== null) continue;
          const isComparison = [visit, ...others].some((one) => one.isComparison === true);
          place.report = await this.#run({ ...visit, isComparison });
        }
      }),
    );
  }

  async #run({ formId, target, counts, isComparison = false }: Visit): Promise<RunReport> {
    const { isFull, acceptDeletes, dryRun } = this.#options;
    const rows = new ForeseenRows();
    const options: RunOptions = {
      isFull,
      isComparison,
      acceptDeletes,
      waitMs: WAIT_MS,
      ...(counts && { counts }),
    };
    const report = await this.#app.run(
      { formId, target },
      options,
      this.#signal,
      dryRun ? (change) => rows.add(change) : undefined,
    );
    this.#ran.add(formId);
    this.foreseen.push({ run: report, rows });
    return report;
  }
}

const keyOf = ({ formId, target }: Pick<Visit, 'formId' | 'target'>): string =>
  JSON.stringify([target, formId]);

function syncDocument({
  runs,
  writeBacks,
  wouldWriteBack,
  poll,
  foreseen,
}: SyncResult): Record<string, unknown> {
  return {
    runs: runs.map(runDocument),
    writeBacks: writeBacks.map(writeBackDocument),
    poll,
    ...(foreseen && {
      changes: foreseen.map(({ run, rows }) => rows.document(run)),
      wouldWriteBack,
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

/** A table of the runs, what went wrong, and one line that sums it up. */
function printResult(
  terminal: Terminal,
  { runs, writeBacks, wouldWriteBack, foreseen }: SyncResult,
  nowMs: number,
): void {
  terminal.print(...runTable(terminal, runs));
  printErrors(terminal, runs);
  terminal.print(...writeBackLines(writeBacks));
  for (const report of runs) printNotices(terminal, runName(report), report.notices);
  for (const { run, rows } of foreseen ?? []) terminal.print(...rows.lines(run));
  terminal.print(...wouldWriteBackLines(wouldWriteBack));
  const isDry = foreseen !== undefined;
  terminal.print('');
  printSummary(terminal, runs, { dryRun: isDry, nowMs });
}

/** How many submissions of a form a dry run lists. */
const MOST_LISTED = 20;

const wouldWriteBackLines = (all: readonly WouldWriteBack[]): string[] =>
  all.flatMap(({ slug, submissions }) => {
    if (submissions.length === 0) return [];
    const rest = submissions.length - MOST_LISTED;
    return [
      '',
      `The status would be changed in ${slug} of ${plural(submissions.length, 'submission')}:`,
      ...submissions.slice(0, MOST_LISTED).map(({ id, status }) => `  ${id} (${status})`),
      ...(rest > 0 ? [`  … and ${count(rest)} more`] : []),
    ];
  });
