import { isAhead } from '../base/clock.ts';
import type { HealthState } from '../mirror/health-text.ts';
import type { PassKind, PassOutcome, PassRecord } from '../mirror/types.ts';

/** What the newest passes of one form into one target add up to. */
export interface PassSummary {
  /** The newest pass of each kind that says something about the form's health. */
  readonly incremental: PassRecord | null;
  readonly full: PassRecord | null;
  readonly compare: PassRecord | null;
  /**
   * Since when passes of a kind have ended as the newest of them did: the end of the last one known that ended otherwise,
   * as no one knows what happened after it; since the epoch.
   */
  readonly outcomeSinceMs: Readonly<Record<PassKind, number>>;
  /** How many passes of a kind in a row ended without a proof. */
  readonly unproven: Readonly<Record<PassKind, number>>;
  /** Absent rows that the brake holds back, until a full pass completes without it; and since when. */
  readonly withheld: number;
  readonly withheldSinceMs: number;
  /** Rows that the source's count lacked after a pass of this process, and when it began; null: as the checkpoint says. */
  readonly absent: { readonly count: number; readonly atMs: number } | null;
  /** Ends of the newest pass noted, of the newest that did not fail, of the newest that was proven; 0 for none. */
  readonly notedUntilMs: number;
  readonly succeededMs: number;
  readonly provenMs: number;
  /** Beginnings of the newest pass that was proven, and of the newest full one that was: as of when they prove something; 0 for none. */
  readonly coversMs: number;
  readonly fullCoversMs: number;
  /** When a look of this process last found the form as accounted for; 0 for never. */
  readonly lookedMs: number;
  /** The same, status by status. */
  readonly countedMs: number;
  /** End of the pass with which the last trouble ended; 0 when none is known. */
  readonly recoveredMs: number;
}

/** Before any pass. */
export const NO_PASSES: PassSummary = {
  incremental: null,
  full: null,
  compare: null,
  outcomeSinceMs: { incremental: 0, full: 0, compare: 0 },
  unproven: { incremental: 0, full: 0, compare: 0 },
  withheld: 0,
  withheldSinceMs: 0,
  absent: null,
  notedUntilMs: 0,
  succeededMs: 0,
  provenMs: 0,
  coversMs: 0,
  fullCoversMs: 0,
  lookedMs: 0,
  countedMs: 0,
  recoveredMs: 0,
};

/** How a pass ended, in a word or two, and the state that such a pass by itself stands for. */
export const OUTCOMES: Readonly<
  Record<PassOutcome, { readonly text: string; readonly state: HealthState }>
> = {
  ok: { text: 'complete', state: 'ok' },
  incomplete: { text: 'not proven', state: 'attention' },
  withheld: { text: 'deletions withheld', state: 'attention' },
  gone: { text: 'form gone', state: 'ended' },
  busy: { text: 'busy', state: 'waiting' },
  paused: { text: 'paused', state: 'paused' },
  failed: { text: 'failed', state: 'failed' },
  cancelled: { text: 'stopped', state: 'waiting' },
};

/** A pass as its record has it; `absent`: see {@link PassSummary}, where its report is at hand. */
export type KnownPass = PassRecord & { readonly absent?: number };

/** Adds a pass. Pure; passes are to come in the order in which they ended. */
export function addPass(summary: PassSummary, { absent, ...pass }: KnownPass): PassSummary {
  const { kind, outcome } = pass;
  const [startedMs, endedMs] = [Date.parse(pass.startedAt), Date.parse(pass.endedAt)];
  const notedUntilMs = Math.max(summary.notedUntilMs, endedMs);
  if (saysNothing(pass)) return { ...summary, notedUntilMs };
  const proven = outcome === 'ok' || outcome === 'withheld';
  const unproven = { ...summary.unproven };
  if (outcome === 'incomplete') unproven[kind]++;
  else if (proven) unproven[kind] = 0;
  // A proven full pass has done all that the others do.
  if (proven && kind === 'full') unproven.incremental = unproven.compare = 0;
  const outcomeSinceMs = { ...summary.outcomeSinceMs };
  if (summary[kind]?.outcome !== outcome) {
    outcomeSinceMs[kind] = Math.min(lastOtherMs(summary, pass) || endedMs, endedMs);
  }
  // Until they are settled: an incremental pass that ends `ok` says nothing of them.
  const isToldWithheld = proven && (kind !== 'incremental' || outcome === 'withheld');
  const withheld = isToldWithheld ? pass.withheld : summary.withheld;
  return {
    ...summary,
    [kind]: pass,
    outcomeSinceMs,
    unproven,
    withheld,
    withheldSinceMs: summary.withheld === 0 && withheld > 0 ? endedMs : summary.withheldSinceMs,
    absent: withAbsent(summary, pass, absent).absent,
    notedUntilMs,
    succeededMs: outcome === 'failed' ? summary.succeededMs : endedMs,
    // Some windows say nothing of what is new elsewhere.
    provenMs: proven && kind !== 'compare' ? endedMs : summary.provenMs,
    coversMs: proven && kind !== 'compare' ? startedMs : summary.coversMs,
    fullCoversMs: proven && kind === 'full' ? startedMs : summary.fullCoversMs,
    recoveredMs: outcome === 'ok' && isTroubled(summary, kind) ? endedMs : summary.recoveredMs,
  };
}

/** With what a proven pass said of absent rows, which its record does not. */
export function withAbsent(summary: PassSummary, pass: PassRecord, count?: number): PassSummary {
  const isProven = pass.outcome === 'ok' || pass.outcome === 'withheld';
  if (!isProven || count === undefined) return summary;
  return { ...summary, absent: { count, atMs: Date.parse(pass.startedAt) } };
}

/**
 * What a look that found a form as it was accounted for stands for: a pass that found nothing new. `withheld`: the pass that
 * withheld deletions, where they still are.
 */
export function passByLook(atMs: number, withheld?: PassRecord | null): PassRecord {
  const at = new Date(atMs).toISOString();
  const seen = { requests: 0, total: null, distinct: 0, unchanged: 0 };
  const found = { inserted: 0, updated: 0, deleted: 0, rejected: 0 };
  const { outcome = 'ok', code = null, error = null } = withheld ?? {};
  const end = { outcome, code, error, withheld: withheld?.withheld ?? 0 };
  return { kind: 'incremental', startedAt: at, endedAt: at, ...seen, ...found, ...end };
}

/**
 * Adds such a look, which began at `atMs`. No target records it as a pass, so it is not among those that are noted. What a pass
 * has said since counts for more. `isCounted`: it counted the form's statuses. `withheld`: see {@link passByLook}.
 */
export function addLook(
  summary: PassSummary,
  atMs: number,
  isCounted: boolean,
  withheld?: PassRecord | null,
): PassSummary {
  const { notedUntilMs, lookedMs, countedMs } = summary;
  const newest = newestPass(summary);
  if (newest !== null && Date.parse(newest.endedAt) > atMs) return summary;
  const added = addPass(summary, { ...passByLook(atMs, withheld), absent: 0 });
  return {
    ...added,
    notedUntilMs,
    lookedMs: Math.max(lookedMs, atMs),
    countedMs: isCounted ? Math.max(countedMs, atMs) : countedMs,
  };
}

/** End of the last pass before `pass` that ended otherwise and that it is to be compared with; 0 for none. */
function lastOtherMs(summary: PassSummary, { kind, outcome }: PassRecord): number {
  if (kind !== 'incremental') {
    const last = summary[kind];
    return last === null ? 0 : Date.parse(last.endedAt);
  }
  return outcome === 'failed' ? summary.succeededMs : summary.provenMs;
}

/** Whether the passes that one of this kind makes up for ended otherwise than `ok`. */
function isTroubled(summary: PassSummary, kind: PassKind): boolean {
  const { full, incremental, compare } = summary;
  const before = {
    full: [full, incremental, compare],
    incremental: [incremental],
    compare: [compare],
  };
  return before[kind].some((pass) => pass !== null && pass.outcome !== 'ok');
}

/**
 * The passes among `records`, each once, in the order in which they ended. Targets return one pass under several names. What is
 * dated after now was recorded before the clock was set back, and so before whatever is not.
 */
export function inOrder(records: readonly (PassRecord | null)[], nowMs: number): PassRecord[] {
  const isEarly = ({ endedAt }: PassRecord): number => Number(isAhead(Date.parse(endedAt), nowMs));
  const passes = new Map<string, PassRecord>();
  for (const pass of records) if (pass !== null) passes.set(`${pass.kind} ${pass.startedAt}`, pass);
  return [...passes.values()].toSorted(
    (a, b) => isEarly(b) - isEarly(a) || Date.parse(a.endedAt) - Date.parse(b.endedAt),
  );
}

/** What these passes of one form into one target, in any order, add up to. Pure. */
export function summaryOf(records: readonly (PassRecord | null)[], nowMs: number): PassSummary {
  return inOrder(records, nowMs).reduce(addPass, NO_PASSES);
}

/** A summary of passes that ended before the target's own records were read, completed by those. Pure. */
export function completeWith(summary: PassSummary, stored: PassSummary): PassSummary {
  if (summary.notedUntilMs === 0) return stored;
  const of = (kind: PassKind): PassSummary => (summary[kind] === null ? stored : summary);
  const [incremental, full, compare] = [of('incremental'), of('full'), of('compare')];
  return {
    incremental: incremental.incremental,
    full: full.full,
    compare: compare.compare,
    outcomeSinceMs: {
      incremental: incremental.outcomeSinceMs.incremental,
      full: full.outcomeSinceMs.full,
      compare: compare.outcomeSinceMs.compare,
    },
    unproven: {
      incremental: incremental.unproven.incremental,
      full: full.unproven.full,
      compare: compare.unproven.compare,
    },
    withheld: full.withheld,
    withheldSinceMs: full.withheldSinceMs,
    absent: summary.absent,
    notedUntilMs: summary.notedUntilMs,
    succeededMs: Math.max(summary.succeededMs, stored.succeededMs),
    provenMs: Math.max(summary.provenMs, stored.provenMs),
    coversMs: Math.max(summary.coversMs, stored.coversMs),
    fullCoversMs: Math.max(summary.fullCoversMs, stored.fullCoversMs),
    lookedMs: summary.lookedMs,
    countedMs: summary.countedMs,
    recoveredMs: Math.max(summary.recoveredMs, stored.recoveredMs),
  };
}

/** The newest pass that says something; null for none. */
export function newestPass({ incremental, full, compare }: PassSummary): PassRecord | null {
  return [incremental, compare, full].reduce((newest, pass) => {
    if (newest === null || pass === null) return newest ?? pass;
    return Date.parse(pass.endedAt) >= Date.parse(newest.endedAt) ? pass : newest;
  });
}

/** The same, with passes that are dated after now put before those that are not: see {@link inOrder}. Pure. */
export function withoutAhead(summary: PassSummary, nowMs: number): PassSummary {
  const { incremental, full, compare, lookedMs, countedMs } = summary;
  const ends = [incremental, full, compare].map((pass) => Date.parse(pass?.endedAt ?? ''));
  const first = Math.min(...ends.filter((ms) => !Number.isNaN(ms) && !isAhead(ms, nowMs)));
  const dated = (pass: PassRecord | null): PassRecord | null =>
    pass !== null && Number.isFinite(first) && isAhead(Date.parse(pass.endedAt), nowMs)
      ? { ...pass, endedAt: new Date(first - 1).toISOString() }
      : pass;
  return {
    ...summary,
    incremental: dated(incremental),
    full: dated(full),
    compare: dated(compare),
    lookedMs: isAhead(lookedMs, nowMs) ? 0 : lookedMs,
    countedMs: isAhead(countedMs, nowMs) ? 0 : countedMs,
  };
}

/** Passes that another one has taken the place of, or that a stop or a person's pause has cut short. */
export function saysNothing({ outcome, code }: PassRecord): boolean {
  return (
    outcome === 'busy' ||
    outcome === 'paused' ||
    outcome === 'cancelled' ||
    (outcome === 'failed' && code === 'TARGET_BUSY')
  );
}
