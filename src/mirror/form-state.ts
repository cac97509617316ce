import { createHash } from 'node:crypto';
import type { StoredUnder } from './selection.ts';
import type { FormIdentity } from './types.ts';

/**
 * Everything known about one form in one target, apart from its rows and entries: one small JSON document, stored in
 * the same atomic step as the rows that it describes. Only the pure functions below change it; the store counts what
 * {@link Tally} contains. Times are milliseconds since the epoch.
 */
export interface FormState {
  readonly formId: string;
  readonly slug: string;
  readonly name: string;
  /** Where the rows are: the table's name. It never changes. */
  readonly place: string;
  /** Without gaps since the beginning of time; the last range has no end. Empty if the form was never read. */
  readonly ranges: readonly Range[];
  /** Every submission created before this moment was stored when it was last read. Null if that is not known for any moment. */
  readonly watermarkMs: number | null;
  /** The source and the copy agreed on the number of submissions as of this time. */
  readonly submissionsAsOfMs: number | null;
  /** They agreed on the number in each status as of this time. */
  readonly statusesAsOfMs: number | null;
  /** When the source first answered that the form is gone; null while it exists. */
  readonly goneAtMs: number | null;
  /** The outcome of the last run; null before the first one. */
  readonly outcome: OutcomeName | null;
  /** Since when runs have ended like this. One that fails says nothing of how the others ended, and one that is stopped nothing at all. */
  readonly since: Partial<Record<OutcomeName, number>>;
  /** Deletions since the last agreement, which the deletion guard adds up. */
  readonly recentlyDeleted: number;
  /** A submission answered by its ID while the list did not show it. A proven row comparison clears this. */
  readonly isListDoubted: boolean;
  /** The settings that the rows were stored under; null before the first. */
  readonly storedUnder: StoredUnder | null;
  /** The name of the newest commit: its time in microseconds, which never goes back. 0 before the first one. */
  readonly commitUs: number;
  readonly tally: Tally;
}

/** The submissions created within [from, to). */
export interface Range {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** When its last complete reading began; null: it was never read completely. */
  readonly readAtMs: number | null;
  /** Whether it has to be read. A flag instead of a comparison of times, because clocks can go back. */
  readonly isDue: boolean;
}

/** The store counts these in each commit, and when a form is opened. */
export interface Tally {
  /** Live rows by status. */
  readonly rows: Readonly<Record<string, number>>;
  /** Live rows that the source's list does not show, by status: entries `held` and `undecided`. */
  readonly missing: Readonly<Record<string, number>>;
  /** Submissions that the source counts and that have no live row, by status: entries `rejected` and `forgotten`. */
  readonly unstored: Readonly<Record<string, number>>;
  /** Entries `held`. */
  readonly held: number;
  /** Entries `undecided`. */
  readonly undecided: number;
  /** Entries `refused`. */
  readonly refused: number;
  /** Entries `rejected`, with a row or without. */
  readonly rejected: number;
  /** Entries `forgotten`, counted by the source or not. */
  readonly forgotten: number;
  /** Rows that are marked deleted. */
  readonly deleted: number;
}

export const EMPTY_TALLY: Tally = {
  rows: {},
  missing: {},
  unstored: {},
  held: 0,
  undecided: 0,
  refused: 0,
  rejected: 0,
  forgotten: 0,
  deleted: 0,
};

/** A form that was never read. */
export function newFormState(
  identity: Pick<FormState, 'formId' | 'slug' | 'name' | 'place'>,
): FormState {
  return {
    ...identity,
    ranges: [],
    watermarkMs: null,
    submissionsAsOfMs: null,
    statusesAsOfMs: null,
    goneAtMs: null,
    outcome: null,
    since: {},
    recentlyDeleted: 0,
    isListDoubted: false,
    storedUnder: null,
    commitUs: 0,
    tally: EMPTY_TALLY,
  };
}

/** The form that a state belongs to. */
export const identityOf = ({ formId: id, slug, name }: FormState): FormIdentity => ({
  id,
  slug,
  name,
});

/** The next commit's name: unique for the form, and never earlier than the last one. */
export const nextCommitUs = ({ commitUs }: Pick<FormState, 'commitUs'>, nowMs: number): number =>
  Math.max(nowMs * 1_000, commitUs + 1);

/**
 * Everything has to be read again: stored rows or columns are missing, or the settings that select and hash answers
 * have changed.
 */
export const distrust = (state: FormState): FormState => ({
  ...withdrawClaims(state),
  ranges: state.ranges.map((range) => ({ ...range, readAtMs: null, isDue: true })),
  watermarkMs: null,
});

/** The copy has to agree with the source again: people have changed rows. */
export const withdrawClaims = (state: FormState): FormState => ({
  ...state,
  submissionsAsOfMs: null,
  statusesAsOfMs: null,
});

/** A run ended at `endedAtMs`. */
export const runEnded = (
  state: FormState,
  { outcome, endedAtMs }: { readonly outcome: OutcomeName; readonly endedAtMs: number },
): FormState => ({ ...state, outcome, since: sinceAfter(state.since, outcome, endedAtMs) });

function sinceAfter(
  before: FormState['since'],
  outcome: OutcomeName,
  endedAtMs: number,
): FormState['since'] {
  if (outcome === 'stopped') return before;
  const own = { [outcome]: before[outcome] ?? endedAtMs };
  return outcome === 'failed' ? { ...before, ...own } : own;
}

/** Flags every range as due. */
export const flagAll = (state: FormState): FormState => ({
  ...state,
  ranges: state.ranges.map((range) => ({ ...range, isDue: true })),
});

/** Flags the ranges that must be compared again: see {@link isOld}. */
export const flagOld = (state: FormState, everyMs: number, nowMs: number): FormState => ({
  ...state,
  ranges: state.ranges.map((range) =>
    isOld(state, range, everyMs, nowMs) ? { ...range, isDue: true } : range,
  ),
});

/**
 * Whether a range must be compared again, so that each is compared once in `everyMs`. Each range has its own moment within that
 * time, derived from its name, so that the ranges of a first copy spread out.
 */
export function isOld(
  { formId }: Pick<FormState, 'formId'>,
  { fromMs, readAtMs }: Range,
  everyMs: number,
  nowMs: number,
): boolean {
  if (readAtMs === null) return false;
  const digest = createHash('sha256')
    .update(JSON.stringify([formId, fromMs]))
    .digest();
  const phaseMs = Math.floor((digest.readUInt32BE() / 2 ** 32) * everyMs);
  const momentMs = Math.floor((nowMs - phaseMs) / everyMs) * everyMs + phaseMs;
  return readAtMs < momentMs;
}

/** Ranges between these moments, all of them due. Each keeps the time when the whole form was last read. */
export function cutRanges(state: FormState, cutsMs: readonly number[]): FormState {
  const edges = [null, ...new Set(cutsMs.toSorted((a, b) => a - b)), null];
  const readAtMs = oldestReading(state);
  const ranges = edges
    .slice(1)
    .map((toMs, at) => ({ fromMs: edges[at] ?? null, toMs, readAtMs, isDue: true }));
  return { ...state, ranges };
}

/** The range that ends at `toMs` was read completely, beginning at `atMs`. */
export const rangeRead = (state: FormState, toMs: number | null, atMs: number): FormState => ({
  ...state,
  ranges: state.ranges.map((range) =>
    range.toMs === toMs ? { ...range, readAtMs: atMs, isDue: false } : range,
  ),
});

/** The whole form was read completely, as one range, beginning at `atMs`. */
export const wholeRead = (state: FormState, atMs: number): FormState => ({
  ...state,
  ranges: [{ fromMs: null, toMs: null, readAtMs: atMs, isDue: false }],
  isListDoubted: false,
});

/**
 * Source and copy agreed as of this moment; on statuses, too, if they were counted. While deletions are held, those before them count for
 * the deletion guard: together they were too many.
 */
export const agreed = (state: FormState, atMs: number, onStatuses: boolean): FormState => ({
  ...state,
  submissionsAsOfMs: atMs,
  statusesAsOfMs: onStatuses ? atMs : state.statusesAsOfMs,
  recentlyDeleted: state.tally.held > 0 ? state.recentlyDeleted : 0,
});

/** When the oldest reading of all ranges began; null if a range was never read. */
export function oldestReading({ ranges }: Pick<FormState, 'ranges'>): number | null {
  const oldest = Math.min(...ranges.map(({ readAtMs }) => readAtMs ?? -Infinity));
  return Number.isFinite(oldest) ? oldest : null;
}

export const isDue = ({ ranges }: Pick<FormState, 'ranges'>): boolean =>
  ranges.length === 0 || ranges.some((range) => range.isDue);

/** The number of submissions per status that a target accounts for, to compare with the source's counts. */
export function accounted({ rows, missing, unstored }: Tally): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (record: Readonly<Record<string, number>>, sign: number): void => {
    for (const [status, n] of Object.entries(record))
      counts.set(status, (counts.get(status) ?? 0) + sign * n);
  };
  add(rows, 1);
  add(missing, -1);
  add(unstored, 1);
  return counts;
}

/** The same for all statuses together. */
export const accountedInAll = (tally: Tally): number => sumOf(accounted(tally).values());

/** Whether the target has only rows that are marked deleted. */
export const isEmpty = ({ rows, rejected, forgotten }: Tally): boolean =>
  liveRows({ rows }) + rejected + forgotten === 0;

/** The number of live rows. */
export const liveRows = ({ rows }: Pick<Tally, 'rows'>): number => sumOf(Object.values(rows));

export const sumOf = (counts: Iterable<number>): number =>
  Iterator.from(counts).reduce((sum, count) => sum + count, 0);

/**
 * The claim about a copy of a form, and as of when (milliseconds; null: nothing is claimed). It does not cover submissions that are
 * `held`, `undecided` or `rejected`: see {@link Tally}.
 */
export interface Claim extends Pick<Tally, 'held' | 'undecided' | 'rejected'> {
  /** Every submission of the source as of this time. */
  readonly submissionsAsOfMs: number | null;
  /** As old as the answers if statuses were never counted. */
  readonly statusesAsOfMs: number | null;
  /** Never later than the submissions. */
  readonly answersAsOfMs: number | null;
}

/** The workspace, asked as a whole by a poll, had what the target accounts for, of these forms. */
export interface Agreement {
  readonly atMs: number;
  /** The same; null if statuses were not counted. */
  readonly statusesAtMs: number | null;
  readonly formIds: readonly string[];
}

/** The last agreement of a poll on a form; null for none. */
export const agreementOn = (agreements: readonly Agreement[], formId: string): Agreement | null =>
  agreements.find(({ formIds }) => formIds.includes(formId)) ?? null;

/**
 * Computes the claim, which is never stored. A form that never agreed with the source claims nothing. `agreement`: the last one of a
 * poll on the form.
 */
export function claimOf(state: FormState, agreement: Agreement | null): Claim {
  const { statusesAsOfMs } = state;
  const { held, undecided, rejected } = state.tally;
  const except = { held, undecided, rejected };
  if (state.submissionsAsOfMs === null)
    return { submissionsAsOfMs: null, statusesAsOfMs: null, answersAsOfMs: null, ...except };
  // An agreement of a poll from before the form's last reading adds nothing.
  const { atMs = 0, statusesAtMs = null } = agreement ?? {};
  const submissionsAsOfMs = Math.max(state.submissionsAsOfMs, atMs);
  // A run may have read every range, and failed before source and copy agreed.
  const readMs = oldestReading(state);
  const answersAsOfMs = readMs === null ? null : Math.min(readMs, submissionsAsOfMs);
  return {
    submissionsAsOfMs,
    statusesAsOfMs:
      statusesAtMs === null
        ? (statusesAsOfMs ?? answersAsOfMs)
        : Math.max(statusesAsOfMs ?? 0, statusesAtMs),
    answersAsOfMs,
    ...except,
  };
}

/** How a run can end. */
export const OUTCOMES = [
  /** Source and copy agree: `sync` exits 0, and a poll may extend the claim. */
  'ok',
  /** They agree, except for deletions that wait for a person (L8). */
  'held',
  /** Everything seen is stored, and nothing is proven (L3). */
  'incomplete',
  /** The source no longer has the form. Its rows stay. */
  'gone',
  'failed',
  /** A person paused the form or the target: nothing was written, not even the record of the run. */
  'paused',
  /** Another process has the form: nothing is recorded. */
  'busy',
  /** The program is stopping; the next run continues. */
  'stopped',
] as const;
export type OutcomeName = (typeof OUTCOMES)[number];
