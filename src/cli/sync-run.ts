import type { App, FormPlan } from '../app.ts';
import { toMirrorError } from '../base/errors.ts';
import type { PassKind } from '../mirror/types.ts';
import type { PassReport } from '../sync/events.ts';
import type { MarkReport } from '../sync/mark.ts';

/** How long a pass by hand waits for one of a worker to end. */
const WAIT_FOR_WORKER_MS = 60_000;

/** What `sync` was asked to do. */
export interface SyncWishes {
  readonly kind: PassKind;
  readonly acceptDeletes: boolean;
  readonly restoreColumns: boolean;
  readonly dryRun: boolean;
}

/** What marking did after the passes of a form, or the error it ended with. */
export interface MarkOutcome {
  readonly form: FormPlan['form'];
  readonly report: MarkReport | null;
  readonly error: string | null;
}

/** Everything that a `sync` did. */
export interface SyncOutcome {
  readonly passes: readonly PassReport[];
  /** Empty when marking is off. */
  readonly marks: readonly MarkOutcome[];
}

/**
 * One pass for each form and target, then marking. Targets work side by side, each with one form at a time; whatever
 * fails holds up no other form and no other target (L12).
 */
export async function runSync(
  app: App,
  plan: readonly FormPlan[],
  wishes: SyncWishes,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const targets = [...new Set(plan.flatMap((entry) => entry.targets))];
  const lanes = targets.map(async (target) => {
    const reports: PassReport[] = [];
    for (const { form } of plan.filter((entry) => entry.targets.includes(target))) {
      if (signal.aborted) break;
      reports.push(await onePass(app, form, target, wishes, signal));
    }
    return reports;
  });
  const passes = (await Promise.all(lanes)).flat();
  const marks: MarkOutcome[] = [];
  if (app.config.marking !== undefined) {
    for (const { form } of plan) {
      if (!signal.aborted) marks.push(await oneMark(app, form, wishes, signal));
    }
  }
  return { passes: passes.map((pass) => withMarks(pass, marks)), marks };
}

async function onePass(
  app: App,
  form: FormPlan['form'],
  target: string,
  wishes: SyncWishes,
  signal: AbortSignal,
): Promise<PassReport> {
  const { kind, ...rest } = wishes;
  try {
    const order = { formId: form.id, target, kind };
    return await app.pass(order, signal, { ...rest, waitMs: WAIT_FOR_WORKER_MS });
  } catch (error) {
    const report = neverBegan(form, target, kind, error);
    app.events.emit('pass.ended', report);
    return report;
  }
}

const NOTHING_DONE = {
  requests: 0,
  total: null,
  distinct: 0,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  rejected: 0,
  withheld: 0,
  marked: 0,
  ms: 0,
} as const;

/** A target that cannot be opened is reported like a pass that failed. */
function neverBegan(
  form: FormPlan['form'],
  target: string,
  kind: PassKind,
  error: unknown,
): PassReport {
  const failure = toMirrorError(error);
  const at = new Date().toISOString();
  return {
    form,
    target,
    kind,
    failure,
    outcome: failure.code === 'CANCELLED' ? 'cancelled' : 'failed',
    error: failure.message,
    startedAt: at,
    endedAt: at,
    ...NOTHING_DONE,
  };
}

async function oneMark(
  app: App,
  form: FormPlan['form'],
  { dryRun }: SyncWishes,
  signal: AbortSignal,
): Promise<MarkOutcome> {
  try {
    return { form, report: (await app.mark(form.id, signal, { dryRun })) ?? null, error: null };
  } catch (error) {
    return { form, report: null, error: toMirrorError(error).message };
  }
}

function withMarks(pass: PassReport, marks: readonly MarkOutcome[]): PassReport {
  const mark = marks.find(({ form }) => form.id === pass.form.id);
  if (mark === undefined) return pass;
  const error = pass.error ?? (mark.error === null ? null : `Marking: ${mark.error}`);
  return { ...pass, marked: mark.report?.marked ?? 0, error };
}
