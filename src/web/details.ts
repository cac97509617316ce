import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import { Reading } from '../health/reading.ts';
import type { FormReport } from '../health/report.ts';
import type { Entry, Run } from '../mirror/port.ts';
import { overviewRestMs } from '../targets/target-kinds.ts';

/** What a target keeps of one form, for the form's own page: names, counts and times, no answer. */
export interface FormDetails {
  /** The newest first. */
  readonly runs: readonly Run[];
  /** Submissions that could not be stored unchanged: how many, and some of them. */
  readonly rejected: { readonly total: number; readonly entries: readonly Entry[] };
}

/** A target that is slower leaves its part of the page empty. */
const LIMIT_MS = 3_000;

/**
 * Asks targets for the details of forms; null where a target does not answer in time. `read` may be slow or reject. A page that
 * stays open asks every ten seconds: where reading uses a quota that runs need, an answer serves for a while, or until another run
 * has ended.
 */
export function detailsReader(
  read: (target: string, formId: string) => Promise<FormDetails>,
  clock: Clock,
): (form: FormReport, kind: string) => Promise<FormDetails | null> {
  const readings = new Map<string, Reading<FormDetails>>();
  /** When the newest run of each form ended that a report knew of. */
  const lastRuns = new Map<string, string | null>();
  return async ({ form: { id }, target, lastRun }, kind) => {
    const key = JSON.stringify([target, id]);
    const reading =
      readings.get(key) ??
      new Reading({
        read: () => read(target, id),
        clock,
        limitMs: LIMIT_MS,
        tooSlow: () => new MirrorError('TARGET_UNREACHABLE', `Target ${target} is slow.`),
        restMs: () => overviewRestMs(kind),
      });
    readings.set(key, reading);
    const endedAt = lastRun?.endedAt ?? null;
    if (lastRuns.get(key) !== endedAt) reading.expire(true);
    lastRuns.set(key, endedAt);
    await reading.refresh(0);
    return reading.trouble === null ? reading.value : null;
  };
}
