import type { App } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import type { PassKind } from '../mirror/types.ts';
import type { MarkReport, PassReport } from '../sync/events.ts';

import type { LookReport } from '../sync/look.ts';
import type { FormPlan } from '../sync/planner.ts';
import { type CommandCall, wholeNumberOption } from './command-spec.ts';
import {
  ForeseenCollector,
  foreseenDocument,
  foreseenLines,
  type ForeseenRows,
} from './foreseen-report.ts';
import { openApp } from './open-app.ts';
import { markDocument, markLines, wouldMarkLines } from './mark-report.ts';
import {
  errorLines,
  noticeLines,
  passDocument,
  passName,
  passTable,
  reasonLines,
  summaryLine,
} from './pass-report.ts';
import { showProgress } from './progress.ts';
import { selectPlan } from './selection.ts';
import type { Terminal } from './terminal.ts';

/** How long a pass waits for a worker's pass over the same form to end. */
const WAIT_FOR_WORKER_MS = 60_000;

/** How many rows of each kind a dry run names unless asked for more. */
const FORESEEN_ROWS = 20;

/**
 * `sync`: what a tick does, now, in this process, without the queue: a look, and the passes that it finds needed. With
 * `--form` or `--full` a pass over each form.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { host, flag, text } = call;
  const { terminal, clock, stop } = host;
  const limit = foreseenLimit(call);
  await using app = await openApp(host, { source: true, reportsPasses: !flag('json') });
  const plan = await selectPlan(call, app);
  const options: SyncOptions = {
    kind: flag('full') || flag('acceptDeletes') ? 'full' : 'incremental',
    isOneForm: text('form') !== undefined,
    acceptDeletes: flag('acceptDeletes'),
    dryRun: flag('dryRun'),
    foreseenLimit: limit,
  };
  const quiet = flag('json') && !terminal.interactive;
  const progress = quiet ? undefined : showProgress(terminal, app.events, clock);
  const result = await runSync(app, plan, options, stop.signal).finally(() =>
    progress?.[Symbol.dispose](),
  );
  if (flag('json')) terminal.printJson(syncDocument(result, flag('values')));
  else printResult(terminal, result, flag('values'));
  return stop.exitCode() ?? syncExitCode(result);
}

/** How many rows of each kind a dry run names; undefined where it is none. Throws USAGE for options of a dry run alone. */
function foreseenLimit(call: CommandCall): number | undefined {
  const isGiven = call.text('limit') !== undefined;
  if (call.flag('dryRun')) return wholeNumberOption(call, 'limit', FORESEEN_ROWS);
  if (!isGiven && !call.flag('values')) return undefined;
  const option = isGiven ? '--limit' : '--values';
  throw new MirrorError('USAGE', `${option} is about what --dry-run names: give both.`);
}

interface SyncOptions {
  readonly kind: PassKind;
  /** A person names the form: it is visited whatever the workspace counts. */
  readonly isOneForm: boolean;
  readonly acceptDeletes: boolean;
  readonly dryRun: boolean;
  /** Of a dry run: how many rows of each kind are named. */
  readonly foreseenLimit: number | undefined;
}

interface SyncResult {
  readonly passes: readonly PassReport[];
  /** Empty when marking is off. */
  readonly marks: readonly MarkReport[];
  /** What looks cost, besides the passes; null where each form was visited because a person asked for that. */
  readonly look: { readonly requests: number; readonly ms: number } | null;
  /** With a dry run: what each pass would do to rows. */
  readonly foreseen: readonly ForeseenRows[] | undefined;
}

/**
 * One pass for each form and target that needs one, then marking. Targets are synchronised side by side, each one form at
 * a time; a failure holds up no other form and no other target (L12).
 */
async function runSync(
  app: App,
  plan: readonly FormPlan[],
  options: SyncOptions,
  signal: AbortSignal,
): Promise<SyncResult> {
  const isTick = options.kind === 'incremental' && !options.isOneForm;
  const found = isTick ? await app.look(plan, signal, { dryRun: options.dryRun }) : undefined;
  const foreseen: ForeseenRows[] = [];
  const passes: PassReport[] = [];
  /** Forms of which a look said nothing: only those that differ are run, and a look afterwards says how the others are. */
  const open: { readonly entry: FormPlan; readonly target: string }[] = [];
  const runOne = async (entry: FormPlan, target: string): Promise<void> => {
    const rows = new ForeseenCollector(options.foreseenLimit ?? 0);
    const visit = visitOf(entry, target, found);
    const report = await syncForm(app, visit, { ...options, foreseen: rows }, signal);
    passes.push(report);
    foreseen.push(rows.of(report));
  };
  const targets = [...new Set(plan.flatMap((entry) => entry.targets))];
  const perTarget = targets.map(async (target) => {
    for (const entry of plan.filter((each) => each.targets.includes(target))) {
      if (signal.aborted) break;
      const settled = settledIn(found, entry, target);
      // A look that speaks for forms of a target says with its silence that this one is to be asked: it is paused, say.
      const isAsked =
        found === undefined ||
        isVisited(found, entry, target) ||
        found.settled.some((report) => report.target === target);
      if (settled !== undefined) passes.push(settled);
      else if (isAsked) await runOne(entry, target);
      else open.push({ entry, target });
    }
  });
  await Promise.all(perTarget);
  const looks = found === undefined ? [] : [found];
  if (open.length > 0 && !signal.aborted) {
    const again = await app.look(plan, signal);
    looks.push(again);
    for (const { entry, target } of open) {
      const settled = settledIn(again, entry, target);
      if (settled !== undefined) passes.push(settled);
      else if (!signal.aborted) await runOne(entry, target);
    }
  }
  const marks: MarkReport[] = [];
  if (app.config.marking !== undefined) {
    const toMark = found?.forms.filter(({ visits, mark }) => mark || visits.length > 0) ?? plan;
    for (const { form } of toMark) {
      if (signal.aborted) break;
      const report = await app.mark(form.id, signal, {
        dryRun: options.dryRun,
        waitMs: WAIT_FOR_WORKER_MS,
      });
      if (report !== undefined) marks.push(report);
    }
  }
  return {
    passes: inOrder(passes, plan).map((pass) => withMarks(pass, marks)),
    marks,
    look: sumOf(looks),
    foreseen: options.dryRun ? foreseen : undefined,
  };
}

const settledIn = (
  look: LookReport | undefined,
  { form }: FormPlan,
  target: string,
): PassReport | undefined =>
  look?.settled.find((report) => report.target === target && report.form.id === form.id);

const isVisited = (look: LookReport, { form }: FormPlan, target: string): boolean =>
  look.forms.some(
    (each) => each.form.id === form.id && each.visits.some((visit) => visit.target === target),
  );

/** Target by target, each in the order of its forms. */
function inOrder(passes: readonly PassReport[], plan: readonly FormPlan[]): PassReport[] {
  const places = plan.flatMap(({ form, targets }) => targets.map((target) => [target, form.id]));
  const targets = [...new Set(places.map(([target]) => target))];
  const placeOf = ({ target, form }: PassReport): number =>
    targets.indexOf(target) * plan.length + plan.findIndex((each) => each.form.id === form.id);
  return passes.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** A pass over a form that a person named compares its counts; of others a look says whether they are to. */
function visitOf({ form }: FormPlan, target: string, found: LookReport | undefined) {
  const visits = found?.forms.find((each) => each.form.id === form.id)?.visits;
  const visit = visits?.find((each) => each.target === target);
  const compareCounts = visit?.compareCounts ?? found === undefined;
  const counts = visit?.counts;
  return { formId: form.id, target, compareCounts, ...(counts && { counts }) };
}

async function syncForm(
  app: App,
  visit: ReturnType<typeof visitOf>,
  { kind, acceptDeletes, dryRun, foreseen }: SyncOptions & { readonly foreseen: ForeseenCollector },
  signal: AbortSignal,
): Promise<PassReport> {
  const onForeseen = foreseen.add.bind(foreseen);
  const options = { acceptDeletes, dryRun, onForeseen, waitMs: WAIT_FOR_WORKER_MS };
  return app.pass({ ...visit, kind }, signal, options);
}

const sumOf = (looks: readonly LookReport[]): SyncResult['look'] =>
  looks.length === 0
    ? null
    : {
        requests: looks.reduce((all, { requests }) => all + requests, 0),
        ms: looks.reduce((all, { ms }) => all + ms, 0),
      };

function withMarks(pass: PassReport, marks: readonly MarkReport[]): PassReport {
  const mark = marks.find(({ form }) => form.id === pass.form.id);
  if (mark === undefined) return pass;
  const { marked, failure } = mark;
  const error = pass.error ?? (failure === null ? null : `Marking: ${failure.message}`);
  return { ...pass, marked, error };
}

function syncDocument(
  { passes, marks, look, foreseen }: SyncResult,
  values: boolean,
): Record<string, unknown> {
  return {
    passes: passes.map((pass) => {
      const mark = marks.find(({ form }) => form.id === pass.form.id);
      return passDocument(pass, mark?.refused ?? 0);
    }),
    marks: marks.map(markDocument),
    look,
    ...(foreseen && { changes: foreseen.map((rows) => foreseenDocument(rows, values)) }),
  };
}

/** 0 when every pass was proven and every marking went through, 130 when stopped, otherwise 1. */
function syncExitCode({ passes, marks }: SyncResult): ExitCode {
  if (passes.some(({ outcome }) => outcome !== 'ok' && outcome !== 'cancelled'))
    return EXIT_CODES.FAILED.code;
  if (marks.some(({ failure }) => failure !== null && failure.code !== 'CANCELLED')) {
    return EXIT_CODES.FAILED.code;
  }
  return [...passes, ...marks].some(({ outcome }) => outcome === 'cancelled')
    ? EXIT_CODES.INTERRUPTED.code
    : EXIT_CODES.DONE.code;
}

/** A table of the passes, what went wrong, and one line that sums it up. */
function printResult(
  terminal: Terminal,
  { passes, marks, foreseen }: SyncResult,
  values: boolean,
): void {
  for (const line of passTable(terminal, passes)) terminal.print(line);
  for (const line of errorLines(terminal, passes)) terminal.print(line);
  for (const line of reasonLines(terminal, passes)) terminal.print(line);
  for (const line of markLines(marks)) terminal.print(line);
  for (const pass of passes) {
    for (const line of noticeLines(terminal, passName(pass), pass.notices)) terminal.print(line);
  }
  for (const rows of foreseen ?? []) terminal.print(...foreseenLines(rows, values));
  if (foreseen) for (const line of wouldMarkLines(marks)) terminal.print(line);
  terminal.print('', summaryLine(terminal, passes, foreseen !== undefined));
}
