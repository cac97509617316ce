import { type Clock, withinTime } from '../base/clock.ts';
import { toMirrorError } from '../base/errors.ts';
import type { DescribeHealth } from '../mirror/health-text.ts';
import { resumeCommand } from '../mirror/pauses.ts';
import type { Copy, FormOverview } from '../mirror/target.ts';
import type { PassRecord } from '../mirror/types.ts';
import {
  CONFIRMED_FAILURES,
  type FormInTarget,
  formKey,
  type HealthFacts,
  type ReadingSettings,
  readOverview,
  slowTarget,
  TARGET_LIMIT_MS,
  type TargetOverview,
  type TargetReading,
} from './facts.ts';
import { absentText, comparedText, type Coverage } from './coverage.ts';
import { asOfNow, coverageOf } from './form-coverage.ts';
import { assessForm } from './form-health.ts';
import { type KeptFailures, keptPasses, NO_FAILURES } from './kept-failures.ts';
import { assessMirror, type MirrorHealth } from './mirror-health.ts';
import { comparedBy } from './next-comparison.ts';
import { NO_PASSES, type PassSummary, summaryOf } from './pass-summary.ts';
import { type Problem, remedyText } from './problem.ts';

/*
 * Health as it follows from what targets record alone: for commands, which see no passes and no queue, and for targets
 * that show it themselves.
 */

/** A target as it was read once: an overview, or why there is none. */
export interface RecordedTarget {
  readonly name: string;
  readonly overview: TargetOverview | null;
  readonly failure: Pick<NonNullable<TargetReading['failure']>, 'code' | 'message'> | null;
}

/** Reads a target once; one that keeps silent does not keep a person waiting for the others (L12). Does not reject. */
export async function readRecorded(
  name: string,
  read: () => Promise<TargetOverview>,
  clock: Clock,
): Promise<RecordedTarget> {
  try {
    const overview = await withinTime(read(), TARGET_LIMIT_MS, clock);
    if (overview === undefined) throw slowTarget(name);
    return { name, overview, failure: null };
  } catch (error) {
    const { code, message } = toMirrorError(error);
    return { name, overview: null, failure: { code, message } };
  }
}

/** A form as its target records it, and what follows from that for its rows, as of now. */
export interface RecordedForm {
  readonly overview: FormOverview;
  readonly covers: Coverage;
}

/** Reads one form of a target once; undefined where the target does not hold it. Rejects as {@link readOverview} does. */
export async function readRecordedForm(
  target: Copy,
  reading: ReadingSettings,
  formId: string,
  nowMs: number,
): Promise<RecordedForm | undefined> {
  const { forms } = await readOverview(target, reading);
  const overview = forms.find((form) => form.formId === formId);
  if (overview === undefined) return undefined;
  const summary = recordedSummary(overview, nowMs);
  return { overview, covers: coverageOf(asOfNow({ overview, summary }, nowMs)) };
}

const recordedSummary = (
  { lastOk, lastFull, lastPass }: FormOverview,
  nowMs: number,
  kept: readonly PassRecord[] = [],
): PassSummary => summaryOf([...kept, lastOk, lastFull, lastPass], nowMs);

/** What the health of a mirror is judged from besides what its targets record. */
export interface RecordedFacts {
  readonly nowMs: number;
  /** When the schedule wants the pass after one that began then. */
  readonly nextRunMs: (afterMs: number) => number;
  /** Within what time everything is compared; without it no full pass is expected. */
  readonly fullEveryMs?: number;
  /** Failures that no target holds. */
  readonly kept?: KeptFailures;
  /** See {@link HealthFacts.dataDir}. */
  readonly dataDir?: Problem | null;
  /** Whether the settings choose a form for a target; by default all. */
  readonly isChosen?: (subject: FormInTarget) => boolean;
  /** What the processes of the mirror tell of themselves. */
  readonly processes?: Pick<HealthFacts, 'sourceWait' | 'notRunning'> & {
    readonly queueAwaySince: string | null;
  };
}

const RUNNING: NonNullable<RecordedFacts['processes']> = {
  sourceWait: null,
  notRunning: null,
  queueAwaySince: null,
};

/** Judges the mirror by what its targets record, and by the failures that they could not. Pure. */
export function assessRecorded(
  targets: readonly RecordedTarget[],
  {
    nowMs,
    nextRunMs,
    fullEveryMs,
    kept = NO_FAILURES,
    dataDir = null,
    isChosen = () => true,
    processes = RUNNING,
  }: RecordedFacts,
): MirrorHealth {
  const summaries = new Map<string, PassSummary>();
  for (const { target, form } of kept.passes) {
    summaries.set(
      formKey(target, form.id),
      summaryOf(keptPasses(kept.passes, target, form.id), nowMs),
    );
  }
  for (const { name, overview } of targets) {
    for (const form of overview?.forms ?? []) {
      const passes = keptPasses(kept.passes, name, form.formId);
      summaries.set(formKey(name, form.formId), recordedSummary(form, nowMs, passes));
    }
  }
  // Without a process that is known to run there is no next run.
  const isRunning = processes.notRunning === null && processes.queueAwaySince === null;
  return assessMirror({
    nowMs,
    targets: targets.map(({ name, overview, failure }) => ({
      name,
      overview,
      readAtMs: overview === null ? 0 : nowMs,
      failure: failure && { ...failure, sinceMs: nowMs },
      // There is no second try that could confirm it.
      failures: failure === null ? 0 : CONFIRMED_FAILURES,
      expectedSinceMs: 0,
    })),
    queue: null,
    hasNoQueue: true,
    ...processes,
    queueFailures: 0,
    queueFailingSinceMs: 0,
    plan: { at: null, forms: [], problem: kept.source, unmatched: kept.unmatched, notices: [] },
    kept: kept.passes,
    dataDir,
    isChosen,
    nextRunMs,
    nextRunAt: ({ overview }) => {
      if (!isRunning) return null;
      const begun = [overview?.lastPass?.startedAt, overview?.look?.at].map((at) =>
        Date.parse(at ?? ''),
      );
      const last = Math.max(...begun.filter((ms) => !Number.isNaN(ms)));
      return Number.isFinite(last) ? new Date(nextRunMs(last)).toISOString() : null;
    },
    nextFullAt: ({ overview }) => {
      if (!isRunning || fullEveryMs === undefined) return null;
      return comparedBy(overview, fullEveryMs, nowMs);
    },
    knownSinceMs: () => 0,
    summary: (target, formId) => summaries.get(formKey(target, formId)) ?? NO_PASSES,
    running: () => null,
  });
}

/**
 * For a place that is not written while nothing comes: it stays true whatever happens meanwhile, and the time of the last
 * success stands beside it.
 */
const KEPT_TITLE = 'All submissions at last success';
/** The same where some are listed: not stored, or not as the source has them. */
const KEPT_TITLE_BUT_LISTED = 'All submissions but those listed, at last success';

/** Puts a form's health into words for a target. `target`: its name, for command lines. Staleness is left to the target's clock. */
export function describeHealth(target: string, staleAfterMinutes: number): DescribeHealth {
  return (overview, nowMs, pause = null) => {
    const { formId: id, slug, name } = overview;
    const summary = recordedSummary(overview, nowMs);
    const known = { form: { id, slug, name }, target, overview, summary, pause };
    const alone = { nowMs, stale: null, isShared: () => false, nextRunAt: null, nextFullAt: null };
    const context = { ...alone, shared: null, overdueSince: null };
    const judged = assessForm({ ...known, running: null, wanted: true }, context);
    const { state, problems, covers } = judged;
    const kept = overview.rejected > 0 ? KEPT_TITLE_BUT_LISTED : KEPT_TITLE;
    const title = state === 'ok' ? kept : judged.title;
    if (judged.state === 'paused' && pause !== null) {
      const message = pause.reason ?? 'Nothing is written here until a person resumes it.';
      const remedy = `To go on: ${resumeCommand(pause, target)}`;
      return {
        state: judged.state,
        title,
        message,
        remedy,
        staleAfterMinutes,
        staleTitle: 'Stale',
      };
    }
    const [worst] = problems;
    // Without the time of the last pass, which the tab shows beside it: this stays the same while nothing changes (L4).
    const covered = state === 'ok' ? comparedText(covers) : unsettledText(covers, nowMs);
    return {
      state,
      title: worst?.title ?? title,
      message: worst?.message ?? covered,
      remedy: worst === undefined ? null : remedyText(worst),
      staleAfterMinutes,
      staleTitle: 'Stale',
    };
  };
}

const unsettledText = ({ absent }: Coverage, nowMs: number): string | null =>
  absent === 0 ? null : absentText(absent, null, nowMs);
