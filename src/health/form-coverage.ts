import { isAhead } from '../base/clock.ts';
import { knownLosses, type Loss } from '../mirror/losses.ts';
import { differsSince, lookedAt, statusesAt } from '../mirror/target.ts';
import { type Coverage, NOTHING } from './coverage.ts';
import type { KnownForm } from './facts.ts';
import { withoutAhead } from './pass-summary.ts';

/*
 * What is proven of a form in a target, by passes and by looks: as the target tells, and as events of this process have
 * told since that was read.
 */

type Known = Pick<KnownForm, 'overview' | 'summary'>;

/**
 * What is known of a form, where a clock that was set back dated some of it after now: such a record was made before all that is
 * dated up to now, so it hides none of that, and settles nothing. A claim for which nothing else stands keeps its date. Pure.
 */
export function asOfNow<T extends Known>(known: T, nowMs: number): T {
  const isWrong = (at: string | null): boolean => at !== null && isAhead(Date.parse(at), nowMs);
  const summary = withoutAhead(known.summary, nowMs);
  const { overview } = known;
  if (overview === null) return { ...known, summary };
  const look = isWrong(overview.look?.at ?? null) ? null : overview.look;
  const past = overview.checkpoint && {
    ...overview.checkpoint,
    countsAt: isWrong(overview.checkpoint.countsAt) ? null : overview.checkpoint.countsAt,
    fullProvenAt: isWrong(overview.checkpoint.fullProvenAt)
      ? null
      : overview.checkpoint.fullProvenAt,
  };
  const asTold = { ...known, summary, overview: { ...overview, look, checkpoint: past } };
  if (past === null || !isWrong(past.provenAt)) return asTold;
  // A look that found the form as that checkpoint accounts for it is newer, and what is claimed is so as of then.
  const older = { ...overview, look, checkpoint: { ...past, provenAt: new Date(0).toISOString() } };
  if (lookedAt(older) === null) return asTold;
  const coversMs = isAhead(summary.coversMs, nowMs) ? 0 : summary.coversMs;
  return { ...known, summary: { ...summary, coversMs }, overview: older };
}

/** As of when a pass or a look last showed that nothing is missing (ISO): its beginning; null for never. */
export function provenAtOf({ overview, summary }: Known): string | null {
  const stored = overview?.checkpoint?.provenAt ?? null;
  return newest(stored, Math.max(summary.coversMs, lookedMs({ overview, summary })));
}

/** When a pass that showed that ended, or a look: what is overdue counts from there, as a pass may take long; 0 for never. */
export const lastProofMs = (known: Known): number =>
  Math.max(known.summary.provenMs, Date.parse(provenAtOf(known) ?? '') || 0);

/** What is proven of a form, each with since when. */
export function coverageOf(known: Known): Coverage {
  if (lossesOf(known).length > 0) return NOTHING;
  const { overview, summary } = known;
  const checkpoint = overview?.checkpoint ?? null;
  // Of a form in windows this is that of the window that was compared longest ago, which no report of a pass tells.
  const answers = checkpoint?.fullProvenAt ?? isoOrNull(summary.fullCoversMs);
  const statuses = newest(overview && statusesAt(overview), summary.countedMs);
  return {
    membership: provenAtOf(known),
    statuses: statuses ?? answers,
    answers,
    ...unsettledOf(known),
  };
}

/** When a look last found the form as accounted for; since the epoch, 0 for never. */
export const lookedMs = ({ overview, summary }: Known): number =>
  Math.max(summary.lookedMs, Date.parse((overview && lookedAt(overview)) ?? '') || 0);

/** See {@link FormHealth.differsSince}. A pass of this process may have ended since the target was read. */
export function openSince({ overview, summary }: KnownForm): string | null {
  const since = overview && differsSince(overview);
  // Whether a pass has compared counts, only the target tells.
  const provenMs = overview?.look?.isDiffering === true ? summary.fullCoversMs : summary.provenMs;
  const settledMs = Math.max(provenMs, summary.lookedMs);
  return since !== null && Date.parse(since) > settledMs ? since : null;
}

/** Rows that are not claimed: as the checkpoint says, unless a pass has ended since that was read. */
function unsettledOf({ overview, summary }: Known): Pick<Coverage, 'absent' | 'withheld'> {
  const stored = overview?.checkpoint ?? null;
  const isNewer =
    summary.absent !== null && summary.absent.atMs > Date.parse(stored?.provenAt ?? '');
  const absent = isNewer || stored === null ? (summary.absent?.count ?? 0) : stored.absent;
  // The new core counts held deletions in the state; for a sheet, the pass records have the number.
  const isCounted = overview?.storedUnder !== undefined && stored !== null && !isNewer;
  return { absent, withheld: isCounted ? stored.withheld : summary.withheld };
}

/** As the target's checkpoint says, unless a pass has proven it since that was read. */
const newest = (stored: string | null, knownMs: number): string | null =>
  stored !== null && Date.parse(stored) >= knownMs ? stored : isoOrNull(knownMs);

/** `ms` since the epoch as ISO; null for 0, which stands for never. */
export const isoOrNull = (ms: number): string | null =>
  ms === 0 ? null : new Date(ms).toISOString();

/** What is known to be lost. */
export const lossesOf = ({ overview }: Pick<Known, 'overview'>): Loss[] =>
  knownLosses(overview?.losses ?? []);
