import type { FormsClient } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';
import { type CountsByStatus, countsWith, SourceCounts } from '../forms/submission-counts.ts';
import type { HeldBucket, MsSpan } from '../mirror/cut-span.ts';
import {
  type BoundsReading,
  narrow,
  queryBounds,
  refute,
  unseenBounds,
  type SeenBounds,
} from '../mirror/narrowing.ts';
import {
  minusCounts,
  plusCounts,
  sameCounts,
  type StatusCounts,
  totalOf,
} from '../mirror/status-counts.ts';
import type { TimeCount, TimeGrain } from '../mirror/time-counts.ts';
import { STATUSES } from '../mirror/types.ts';
import type { QueryBounds } from '../mirror/window.ts';
import { ById } from './by-id.ts';
import { readChanged } from './changed-list.ts';
import {
  ComparisonEnded,
  type Leaf,
  type LeafParts,
  type Obstacle,
  OutOfBounds,
  settleLeaf,
} from './compare-leaf.ts';
import {
  askableUnstored,
  countDifferences,
  type Difference,
  isDocumented,
} from './count-differences.ts';
import { mostDeletions } from './deletions.ts';

export interface CompareParts extends Omit<LeafParts, 'client' | 'byId' | 'spend' | 'mayDelete'> {
  readonly client: Pick<FormsClient, 'getForm' | 'getSubmission' | 'listSubmissions'>;
  /** How many submissions the form has, as just read. */
  readonly total: number;
  /** The counts of its statuses, where they were read before the newest were; see {@link SourceCounts.ofStatuses}. */
  readonly statuses: readonly number[] | null | undefined;
  /** So many submissions of a status are read at once instead of being halved. */
  readonly leafSize: number;
  /** By status, what the source is known to count and the target has no row of. */
  readonly unstored: StatusCounts;
  readonly maxDeleteFraction: number;
  readonly acceptDeletes: boolean | number;
  /** A time since which nothing was compared (ISO); null: not known. */
  readonly changedSince: string | null;
  /** The most requests that it may cost. */
  readonly maxRequests: number;
  /** How often it may read the counts again after it has settled something. */
  readonly maxRounds: number;
  /** False where the bounds of this source are known to be of no use. */
  readonly mayNarrow: boolean;
  /** Reads and stores the newest once more. True where none came since it was read before, and the form has so many submissions. */
  readonly isStill: (total: number) => Promise<boolean>;
}

/** What a comparison by counts came to. */
export interface Comparison {
  /** Null: the source's counts by status agree with what is held and `unstored`. Otherwise why they do not. */
  readonly obstacle: Obstacle | null;
  readonly unstored: StatusCounts;
  readonly deleted: number;
  readonly undecided: number;
  /** `dateFrom` and `dateTo` were of no use. */
  readonly isBoundless: boolean;
}

/** A status whose bounds are of no use is read whole where it has no more than so many. */
const MOST_READ_WHOLE = 2_000;

/**
 * Compares the source's counts by status with those of the target, and settles what differs: statuses that changed,
 * submissions that appeared whatever their date, and deletions, each of which the source confirms by its ID (L8). That both
 * agree is said of counts that were read after everything was stored, and after which the newest showed that they have no newcomer: it
 * would make up for a deletion.
 */
export function compareCounts(parts: CompareParts): Promise<Comparison> {
  return new CountComparison(parts).run();
}

class CountComparison {
  readonly #parts: CompareParts;
  readonly #leafParts: LeafParts;
  readonly #counts: SourceCounts;
  readonly #seen: SeenBounds = unseenBounds();
  #unstored: Map<string, number>;
  #requests = 0;
  #deleted = 0;
  #undecided = 0;
  #mostDeleted = Infinity;
  #isBoundless: boolean;
  #held: Promise<StatusCounts> | undefined;
  /** Of the status that is settled now: what its leaves have beyond their rows. */
  #tally = 0;

  constructor(parts: CompareParts) {
    const { client, call } = parts;
    this.#parts = parts;
    this.#counts = new SourceCounts(client, call);
    this.#unstored = new Map(parts.unstored);
    this.#isBoundless = !parts.mayNarrow;
    this.#leafParts = {
      ...parts,
      byId: new ById(client, call),
      spend: () => this.#spend(),
      mayDelete: (absent) => this.#deleted + absent <= this.#mostDeleted,
    };
  }

  async run(): Promise<Comparison> {
    const { formId, total, statuses, maxRounds } = this.#parts;
    let source =
      statuses === undefined
        ? await this.#counts.byStatus({ formId }, total)
        : countsWith(total, statuses);
    // Of the counts in hand, whether the newest were read after them.
    let isNewestRead = statuses !== undefined;
    let obstacle: Obstacle | null = null;
    for (let round = 0; ; round++) {
      if (source.verdict === 'ignored') return this.#end('counts');
      // No list could be had that shows with which status the source counts what shows none.
      const differing = await this.#differences(source, obstacle === 'bounds');
      if (differing.length === 0) {
        if (!this.#hidesNone()) return this.#end('bounds');
        if (await this.#isStill(source, isNewestRead)) return this.#end(null);
        obstacle = null;
      }
      if (obstacle !== null || round >= maxRounds) return this.#end(obstacle ?? 'moving');
      isNewestRead = false;
      if (differing.length === 0) {
        source = await this.#counts.byStatus({ formId });
        continue;
      }
      const before = await this.#heldCounts();
      obstacle = await this.#settle(source, differing);
      // Where so many requests found nothing, more would not either.
      if (obstacle === 'spent' && sameCounts(before, await this.#heldCounts())) obstacle = 'bounds';
      source = await this.#readAgain(source, differing, before);
    }
  }

  /**
   * What shows no status is counted with one all the same, so that nothing is less for it. Where it is, something else is missing
   * that these counts do not show: only reading everything tells what.
   */
  #hidesNone(): boolean {
    const known = this.#parts.unstored;
    const isBlank = known.has('') || this.#unstored.has('');
    return !isBlank || totalOf(this.#unstored) >= totalOf(known);
  }

  async #isStill({ verdict, total }: CountsByStatus, isNewestRead: boolean): Promise<boolean> {
    if (verdict !== 'fits' || isNewestRead) return verdict === 'fits';
    this.#held = undefined;
    return this.#parts.isStill(total);
  }

  /** A target may have to read a good deal for it. */
  #heldCounts(): Promise<StatusCounts> {
    this.#held ??= this.#parts.writer.statusCounts();
    return this.#held;
  }

  #end(obstacle: Obstacle | null): Comparison {
    const [deleted, undecided] = [this.#deleted, this.#undecided];
    const isBoundless = this.#isBoundless;
    return { obstacle, unstored: this.#unstored, deleted, undecided, isBoundless };
  }

  async #differences(source: CountsByStatus, byCounts = false): Promise<Difference[]> {
    const held = await this.#heldCounts();
    const attributed = byCounts ? -(this.#parts.unstored.get('') ?? 0) : null;
    this.#unstored = new Map(askableUnstored(source, held, this.#unstored, attributed));
    return countDifferences(source, held, this.#unstored);
  }

  async #settle(
    source: CountsByStatus,
    differing: readonly Difference[],
  ): Promise<Obstacle | null> {
    try {
      const held = await this.#heldCounts();
      const live = totalOf(held);
      this.#mostDeleted = mostDeletions(live + this.#deleted, this.#parts);
      const missing = totalOf(plusCounts(held, this.#unstored)) - source.total;
      if (missing + this.#deleted > this.#mostDeleted) return 'brake';
      for (const { status } of differing) {
        // What was settled before may have settled it.
        const left = await this.#differences(source);
        if (left.some((each) => each.status === status)) await this.#settleStatus(status, source);
      }
      return null;
    } catch (error) {
      if (!(error instanceof ComparisonEnded)) throw error;
      return error.obstacle === 'bounds' ? this.#readChanged(source.total) : error.obstacle;
    }
  }

  async #readChanged(total: number): Promise<Obstacle> {
    const { changedSince } = this.#parts;
    if (changedSince === null) return 'bounds';
    this.#held = undefined;
    const dateFrom = this.#seen.datesOnly ? changedSince.slice(0, 10) : changedSince;
    try {
      await readChanged(this.#leafParts, dateFrom, total);
    } catch (error) {
      if (error instanceof ComparisonEnded) return error.obstacle;
      if (!isRefusal(error)) throw error;
    }
    return 'bounds';
  }

  async #settleStatus(status: string | null, source: CountsByStatus): Promise<void> {
    const count = status === null ? source.total : (source.statuses.get(status) ?? 0);
    if (!this.#isBoundless && (await this.#narrow(status, count)) && this.#isPlain(status)) {
      this.#keepTally(status);
      return;
    }
    if (count > MOST_READ_WHOLE) throw new ComparisonEnded('bounds');
    this.#tally = 0;
    const span = { fromMs: null, toMs: null };
    try {
      await this.#settleLeaf({ status, span, bounds: {} });
    } catch (error) {
      // A list that is not bounded, and hides what is there.
      if (error instanceof OutOfBounds) throw new ComparisonEnded('bounds');
      throw error;
    }
    this.#keepTally(status);
  }

  /** False where bounds are of no use. */
  async #narrow(status: string | null, source: number): Promise<boolean> {
    for (;;) {
      this.#tally = 0;
      const days = await this.#heldIn(status, { fromMs: null, toMs: null }, 'day');
      const held = await this.#heldCounts();
      const rows = status === null ? totalOf(held) : (held.get(status) ?? 0);
      const undated = rows - days.reduce((all, each) => all + each.rows, 0);
      try {
        const { leafSize } = this.#parts;
        const isDone = await narrow({ source, undated, days, leafSize }, this.#seen, {
          countSource: (span, reading) => this.#countSource(status, span, reading),
          countHeld: (span, grain) => this.#heldIn(status, span, grain),
          settle: (span, reading) =>
            this.#settleLeaf({ status, span, bounds: this.#bounds(span, reading) }),
        });
        if (isDone) return true;
      } catch (error) {
        if (!(error instanceof OutOfBounds) && !isRefusal(error)) throw error;
        const isOther = error instanceof OutOfBounds ? refute(this.#seen) : this.#askByDates();
        if (isOther) continue;
      }
      this.#isBoundless = true;
      return false;
    }
  }

  /** False when that has been tried. */
  #askByDates(): boolean {
    if (this.#seen.datesOnly) return false;
    Object.assign(this.#seen, { ...unseenBounds(), datesOnly: true, instants: false });
    return true;
  }

  #bounds(span: MsSpan, reading: BoundsReading): QueryBounds {
    return queryBounds(span, reading, this.#seen.datesOnly);
  }

  async #countSource(status: string | null, span: MsSpan, reading: BoundsReading): Promise<number> {
    this.#spend();
    const { formId } = this.#parts;
    const bounds = this.#bounds(span, reading);
    return this.#counts.count({ formId, ...bounds, ...(status !== null && { status }) });
  }

  async #heldIn(
    status: string | null,
    { fromMs, toMs }: MsSpan,
    grain: TimeGrain,
  ): Promise<HeldBucket[]> {
    const iso = (ms: number | null): string | null =>
      ms === null ? null : new Date(ms).toISOString();
    const counts = await this.#parts.writer.timeCounts({ from: iso(fromMs), to: iso(toMs) }, grain);
    return bucketsOf(status === null ? counts : counts.filter((each) => each.status === status));
  }

  async #settleLeaf(leaf: Leaf): Promise<void> {
    this.#held = undefined;
    const { unstored, deleted, undecided } = await settleLeaf(this.#leafParts, leaf);
    this.#tally += unstored;
    this.#deleted += deleted;
    this.#undecided += undecided;
  }

  /**
   * Whether what was met and not stored can be all there is of it. Where less was met than was known, a leaf in which the
   * counts agree may hide two differences: one that is not stored, and one that is missing.
   */
  #isPlain(status: string | null): boolean {
    const known = status === null ? 0 : (this.#unstored.get(status) ?? 0);
    return known === 0 || this.#tally === known || (known > 0 && this.#tally > known);
  }

  #keepTally(status: string | null): void {
    if (status === null) return;
    this.#unstored.delete(status);
    if (this.#tally !== 0) this.#unstored.set(status, this.#tally);
  }

  /**
   * The counts of what differed and of what was changed here; the others stand as they were read, unless the number of all tells
   * that something moved between them: a submission that is missing would look like one that took another status meanwhile.
   */
  async #readAgain(
    source: CountsByStatus,
    differing: readonly Difference[],
    before: StatusCounts,
  ): Promise<CountsByStatus> {
    const changed = minusCounts(await this.#heldCounts(), before);
    const again = new Set([...changed.keys(), ...differing.map(({ status }) => status)]);
    const { formId } = this.#parts;
    if (source.verdict !== 'fits' || ![...again].every(isDocumented)) {
      return this.#counts.byStatus({ formId });
    }
    const statuses = new Map(source.statuses);
    const [total] = await Promise.all([
      this.#counts.count({ formId }),
      ...STATUSES.filter((status) => again.has(status)).map(async (status) =>
        statuses.set(status, await this.#counts.count({ formId, status })),
      ),
    ]);
    return totalOf(statuses) + source.other === total
      ? { ...source, statuses, total }
      : this.#counts.byStatus({ formId });
  }

  #spend(): void {
    if (++this.#requests > this.#parts.maxRequests) throw new ComparisonEnded('spent');
  }
}

function bucketsOf(counts: readonly TimeCount[]): HeldBucket[] {
  const rows = new Map<number, number>();
  for (const each of counts) {
    const startMs = Date.parse(each.start);
    rows.set(startMs, (rows.get(startMs) ?? 0) + each.rows);
  }
  const buckets = [...rows].map(([startMs, held]) => ({ startMs, rows: held }));
  return buckets.toSorted((a, b) => a.startMs - b.startMs);
}

/** The API may refuse bounds altogether (400). */
const isRefusal = (error: unknown): boolean =>
  error instanceof FormsApiError && error.code === 'FORMS_REFUSED';

/** The most requests of a comparison of a form with so many pages: fewer than reading all of it, where that is much. */
export const comparisonBudget = (pages: number): number => Math.min(Math.max(200, pages), 2_000);
