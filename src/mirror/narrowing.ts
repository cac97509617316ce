import { cutOf, GRAIN_MS, type HeldBucket, type HeldSpan, type MsSpan } from './cut-span.ts';
import type { TimeGrain } from './time-counts.ts';
import type { QueryBounds } from './window.ts';

/*
 * Finds where the source and the copy differ, by counts alone (SPEC.md, "Comparison by counts"): a span of time in which the
 * counts differ is halved, until what is left can be read. Nothing here claims that two sides agree; that takes their
 * counts by status, read again after everything that was found has been settled.
 */

/** Whether the API leaves out what is dated on a bound itself: on that very instant, or on that day. */
export interface BoundsReading {
  readonly fromExcluded: boolean;
  readonly toExcluded: boolean;
}

/** What a comparison has seen of how the API reads bounds; shared by the statuses that it narrows. */
export interface SeenBounds {
  /** Halves have added up with bounds of this reading; null: not asked yet. */
  reading: BoundsReading | null;
  /** Readings that added up, and showed in the end what belongs elsewhere. */
  readonly refuted: BoundsReading[];
  /** Parts of a day add up; null: not asked yet. */
  instants: boolean | null;
  /** The API refuses a bound with a time of day. */
  datesOnly: boolean;
}

/** Nothing seen yet. */
export const unseenBounds = (): SeenBounds => ({
  reading: null,
  refuted: [],
  instants: null,
  datesOnly: false,
});

/** A span, and how many submissions of the status that is narrowed the source and the copy have in it. */
export interface SpanCounts extends MsSpan {
  /** By the last counts; what is on one side of a cut is what the other leaves. */
  readonly source: number;
  readonly held: number;
}

/** What narrowing asks for. Each may throw, to end it. */
export interface NarrowingAsks {
  /** How many the source has. */
  countSource(span: MsSpan, reading: BoundsReading): Promise<number>;
  /** What is held, by grain and in order of time. */
  countHeld(span: MsSpan, grain: TimeGrain): Promise<readonly HeldBucket[]>;
  /** Reads what is in the span, and makes the copy the same. */
  settle(leaf: SpanCounts, reading: BoundsReading): Promise<void>;
}

/** A status of which the source and the copy have different numbers. */
export interface NarrowedStatus {
  readonly source: number;
  /** Rows without a date, which no span holds. */
  readonly undated: number;
  /** All others, by day and in order of time. */
  readonly days: readonly HeldBucket[];
  /** So many are read at once instead of being halved. */
  readonly leafSize: number;
}

/** Where most leaves of a span are likely to differ, it is read as it is, if it has no more than so many. */
const MAX_LEAF_PAGES = 8;
/** So many differences are likely to be on as many pages, divided by this. */
const DIFFERENCES_A_PAGE = 4;

/** The reading that is tried first, and that needs no other where the API compares instants. */
export const BOTH_INCLUDED: BoundsReading = { fromExcluded: false, toExcluded: false };

/**
 * What to ask with for a span. A bound that is included is followed, or preceded, by a millisecond that belongs to no other
 * span: at midnight that holds for bounds that mean instants and for those that mean days.
 */
export function queryBounds(
  { fromMs, toMs }: MsSpan,
  reading: BoundsReading,
  datesOnly = false,
): QueryBounds {
  const iso = (ms: number): string =>
    new Date(ms).toISOString().slice(0, datesOnly ? 10 : undefined);
  return {
    ...(fromMs !== null && { dateFrom: iso(reading.fromExcluded ? fromMs - 1 : fromMs) }),
    ...(toMs !== null && { dateTo: iso(reading.toExcluded ? toMs : toMs - 1) }),
  };
}

/**
 * Settles every span of time in which the numbers of a status differ, smallest first. False when the API does not count by
 * date so that halves add up: then nothing is known of where they differ.
 */
export async function narrow(
  status: NarrowedStatus,
  seen: SeenBounds,
  asks: NarrowingAsks,
): Promise<boolean> {
  return new Narrowing(status, seen, asks).run();
}

interface Part extends HeldSpan, SpanCounts {}

class Narrowing {
  readonly #status: NarrowedStatus;
  readonly #seen: SeenBounds;
  readonly #asks: NarrowingAsks;

  constructor(status: NarrowedStatus, seen: SeenBounds, asks: NarrowingAsks) {
    this.#status = status;
    this.#seen = seen;
    this.#asks = asks;
  }

  async run(): Promise<boolean> {
    const { source, undated, days } = this.#status;
    const held = undated + rowsOf(days);
    const stack: Part[] = [{ fromMs: null, toMs: null, source, held, grain: 'day', buckets: days }];
    for (let part = stack.pop(); part !== undefined; part = stack.pop()) {
      if (part.source === part.held) continue;
      const halves = isSmall(part, this.#status.leafSize) ? 'settle' : await this.#halve(part);
      if (halves === null) return false;
      if (halves === 'settle') await this.#asks.settle(part, this.#reading);
      // The smaller one first: what it shows of the bounds is known early.
      else stack.push(...halves.toSorted((a, b) => b.source - a.source));
    }
    return true;
  }

  get #reading(): BoundsReading {
    return this.#seen.reading ?? BOTH_INCLUDED;
  }

  /** Null: halves do not add up. `settle`: there is nothing to cut. */
  async #halve(part: Part): Promise<readonly Part[] | 'settle' | null> {
    const { seen, fine } = { seen: this.#seen, fine: await this.#refined(part) };
    if (fine === null) return 'settle';
    const at = cutOf(fine, seen.reading === null);
    if (at === null) return 'settle';
    const isWhole = part.fromMs === null && part.toMs === null;
    const left = sideOf(fine, { fromMs: fine.fromMs, toMs: at });
    const right = sideOf(fine, { fromMs: at, toMs: fine.toMs });
    const source = isWhole ? Math.max(0, part.source - this.#status.undated) : part.source;
    if (seen.reading === null) return this.#learnBounds(left, right, source);
    const first = await this.#count(left);
    if (fine.grain !== 'day' && seen.instants === null) {
      const second = await this.#count(right);
      seen.instants = first + second === source;
      if (!seen.instants) return 'settle';
      return [counted(left, first), counted(right, second)];
    }
    // It has changed since it was counted.
    const rest = first > source ? await this.#count(right) : source - first;
    return [counted(left, first), counted(right, rest)];
  }

  /** The first cut of all: both sides are counted, in each reading of the bounds, until they add up. */
  async #learnBounds(left: MsPart, right: MsPart, source: number): Promise<readonly Part[] | null> {
    let whole = source;
    for (let tries = 0; tries < 2; tries++) {
      const some = await this.#inEachReading(left, right, whole);
      if (some !== null) return some;
      // It may have changed meanwhile.
      const open = { fromMs: null, toMs: null };
      const now = await this.#asks.countSource(open, BOTH_INCLUDED);
      if (now - this.#status.undated === whole) return null;
      whole = Math.max(0, now - this.#status.undated);
    }
    return null;
  }

  async #inEachReading(left: MsPart, right: MsPart, source: number): Promise<Part[] | null> {
    const plain = await this.#countBoth(left, right, BOTH_INCLUDED);
    const fit = (before: number, after: number, reading: BoundsReading): Part[] | null => {
      const isRefuted = this.#seen.refuted.some((each) => sameReading(each, reading));
      if (isRefuted || before + after !== source) return null;
      return [counted(left, before), counted(right, after)];
    };
    const asked = fit(plain.before, plain.after, BOTH_INCLUDED);
    if (asked !== null) {
      this.#seen.reading = BOTH_INCLUDED;
      return asked;
    }
    // Bounds without any effect.
    if (plain.before === plain.after && plain.before >= source) return null;
    const other = await this.#countBoth(left, right, { fromExcluded: true, toExcluded: true });
    const tries = [
      { before: plain.before, after: other.after, toExcluded: false, fromExcluded: true },
      { before: other.before, after: plain.after, toExcluded: true, fromExcluded: false },
      { before: other.before, after: other.after, toExcluded: true, fromExcluded: true },
    ];
    // Those that add up differ by where the cut is: by a day, as what is held shows.
    const misplaced = ({ before }: { before: number }): number => Math.abs(before - left.held);
    for (const { before, after, ...reading } of tries.toSorted(
      (a, b) => misplaced(a) - misplaced(b),
    )) {
      const parts = fit(before, after, reading);
      if (parts === null) continue;
      this.#seen.reading = reading;
      return parts;
    }
    return null;
  }

  async #countBoth(
    left: MsPart,
    right: MsPart,
    reading: BoundsReading,
  ): Promise<{ before: number; after: number }> {
    const before = await this.#asks.countSource(left, reading);
    return { before, after: await this.#asks.countSource(right, reading) };
  }

  #count(part: MsSpan): Promise<number> {
    return this.#asks.countSource(part, this.#reading);
  }

  /** The part in grains that it can be cut by; null where it is too small for any. */
  async #refined(part: Part): Promise<Part | null> {
    if (!isOneGrain(part)) return part;
    const grain = FINER[part.grain];
    if (grain === null || this.#seen.instants === false) return null;
    const buckets = part.held === 0 ? [] : await this.#asks.countHeld(part, grain);
    return this.#refined({ ...part, grain, buckets });
  }
}

const FINER: Readonly<Record<TimeGrain, TimeGrain | null>> = {
  day: 'hour',
  hour: 'minute',
  minute: 'second',
  second: null,
};

const sameReading = (a: BoundsReading, b: BoundsReading): boolean =>
  a.fromExcluded === b.fromExcluded && a.toExcluded === b.toExcluded;

/** Begins anew after a reading of the bounds has shown what belongs elsewhere. False when none is left. */
export function refute(seen: SeenBounds): boolean {
  seen.refuted.push(seen.reading ?? BOTH_INCLUDED);
  seen.reading = null;
  return seen.refuted.length < 4;
}

/** A side of a cut before it is counted at the source. */
type MsPart = Omit<Part, 'source'>;

const counted = (part: MsPart, source: number): Part => ({ ...part, source });

const rowsOf = (buckets: readonly HeldBucket[]): number =>
  buckets.reduce((all, { rows }) => all + rows, 0);

function sideOf({ grain, buckets }: HeldSpan, span: MsSpan): MsPart {
  const { fromMs, toMs } = span;
  const inside = buckets.filter(
    ({ startMs }) => (fromMs === null || startMs >= fromMs) && (toMs === null || startMs < toMs),
  );
  return { ...span, grain, buckets: inside, held: rowsOf(inside) };
}

const isOneGrain = ({ fromMs, toMs, grain }: HeldSpan): boolean =>
  fromMs !== null && toMs !== null && toMs - fromMs <= GRAIN_MS[grain];

/** Whether reading it costs no more than halving it further. */
function isSmall({ source, held }: SpanCounts, leafSize: number): boolean {
  const pages = Math.ceil(source / leafSize);
  if (pages <= 1) return true;
  const differing = Math.abs(source - held) / DIFFERENCES_A_PAGE;
  return pages <= Math.min(MAX_LEAF_PAGES, differing);
}
