import { throwIfAborted } from '../base/clock.ts';
import type { SubmissionItem, SubmissionPage } from '../forms/client.ts';
import type { AskedPage, FormPages, PageQuery, PageSpan } from '../forms/form-pages.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { orderOf, type ProofLedger } from '../mirror/proof.ts';

/** Where a scan's items go: what was taken is in the ledger once it is flushed. */
export interface ItemSink {
  take(items: readonly SubmissionItem[]): Promise<void>;
  flush(): Promise<void>;
}

/** The parts a scan works with. */
export interface ScanParts {
  readonly pages: FormPages;
  readonly sink: ItemSink;
  readonly ledger: ProofLedger;
  readonly readAhead: number;
  readonly signal: AbortSignal;
  /** True when an earlier pass was proven: then dates are needless as evidence, and imports of old dates can't mislead. */
  readonly history: boolean;
  /** Told each `total` that the source reports. */
  readonly onTotal: (total: number) => void;
}

/** A list this short is read one page at a time, and proven without trusting any date: one request more. */
const STRICT_PAGES = 2;
/** A short list that never rests is then taken as a long one is. */
const STRICT_ROUNDS = 3;

/** Up to here a sweep that brought nothing new is worth repeating: the order of ties is drawn anew each time. */
const PATIENT_PAGES = 20;
/** One of twenty pages of ties stays out of sight for so many sweeps once in some thousand times. */
const IDLE_SWEEPS = 8;

/**
 * What a scan may spend, so that a list that grows faster than it is read ends too: so many requests and so often the
 * list's length; of a short list, whose ties may come in a new order each time, its length more often.
 */
const REPAIR_REQUESTS = 100;
const REPAIR_SWEEPS = 4;
const PATIENT_SWEEPS = 30;
const PATIENT_REQUESTS = 1_000;

function budgetFor(pages: number): number {
  const patient = Math.min(PATIENT_SWEEPS * pages, PATIENT_REQUESTS);
  return Math.max(REPAIR_REQUESTS + REPAIR_SWEEPS * pages, patient);
}

/** Statuses of the API, for narrowing a list whose pages overlap differently each time. */
const STATUSES = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'] as const;

/**
 * Reads a whole form and proves it (L1 to L3). Told as a story:
 *
 * A round begins with a base: one response, alone on the wire, whose `total` is what there is to find. A sweep reads
 * the other pages, ahead of the writing. If the ledger now has its proof, that is all: `ceil(n / 100)` requests.
 *
 * If not, something moved, or the list comes in another order each time, or its dates prove nothing. First the pages
 * are read again around which `total` changed. Then sweep follows sweep in the same round while that brings new ones to
 * light, in turns over the whole list and status by status. When that stops helping, or something was deleted, a new
 * round begins with a fresh base; for it everything seen so far is known to have existed. Rounds and requests are
 * bounded: a source that never stands still ends unproven.
 *
 * Returns whether the proof was found. What was seen is stored in either case.
 */
export async function fullScan(parts: ScanParts): Promise<boolean> {
  const scan = new FullScan(parts);
  return scan.run();
}

class FullScan {
  readonly #parts: ScanParts;
  #requests = 0;
  #pages = 1;
  #budget = Infinity;
  /** In this round `total` fell; changed at all. In an earlier one dates misled. */
  #moved = false;
  #changed = false;
  #misled = false;
  #suspects = new Set<number>();
  #lastTotal = 0;
  #stagnant = 0;
  #picture = '';

  constructor(parts: ScanParts) {
    this.#parts = parts;
  }

  async run(): Promise<boolean> {
    const { ledger } = this.#parts;
    const first = await this.#read(1);
    this.#budget = budgetFor(first.totalPages);
    let base = await this.#chooseBase(first);
    for (let round = 1; ledger.roundsLeft > 0 && !this.#spent(); round++) {
      const strict = this.#strict(round, base);
      const last = await this.#round(base, strict);
      if (ledger.proven && (strict || (await this.#explained()))) return true;
      const picture = [ledger.distinct, ledger.seenInRound, base.total].join();
      this.#stagnant = picture === this.#picture ? this.#stagnant + 1 : 0;
      this.#picture = picture;
      // The source shows the same again and again, and `total` says otherwise: more of it proves nothing.
      if (this.#stagnant >= 2) return false;
      // The last response of a sequential sweep was alone on the wire: it can be the next base, at no cost.
      base = last ?? (await this.#read(1));
    }
    return false;
  }

  /**
   * Whether this round does without dates as evidence. It can where there is history to go by, or where the list is
   * short; it must after a round in which they misled.
   */
  #strict(round: number, base: AskedPage): boolean {
    if (round > STRICT_ROUNDS) return false;
    return this.#parts.history || base.totalPages <= STRICT_PAGES || this.#misled;
  }

  /** A proof that rests on dates holds only if what was seen explains how `total` moved; the first page shows arrivals. */
  async #explained(): Promise<boolean> {
    const { ledger, sink } = this.#parts;
    if (!this.#changed && ledger.explains(this.#lastTotal)) return true;
    const probe = await this.#read(1);
    await sink.take(probe.items);
    await sink.flush();
    this.#misled = !(ledger.proven && ledger.explains(probe.total));
    return !this.#misled;
  }

  /** Oldest first: the newest are on the last page, and only what is newer than the base's items is in doubt. */
  async #chooseBase(first: AskedPage): Promise<AskedPage> {
    if (first.totalPages < 2 || orderOf(timesOf(first)) !== 'ascending') return first;
    await this.#parts.sink.take(first.items);
    return this.#read(first.totalPages);
  }

  /** One round; returns its last response when that was requested after all others had arrived. */
  async #round(base: AskedPage, strict: boolean): Promise<AskedPage | undefined> {
    const { ledger, sink } = this.#parts;
    await sink.flush();
    ledger.begin({
      total: base.total,
      keys: base.items.map((item) => item.key),
      createdAts: timesOf(base),
      strict,
    });
    [this.#moved, this.#changed] = [false, false];
    this.#suspects = new Set();
    this.#lastTotal = base.total;
    await sink.take(base.items);
    const last = await this.#sweep(spanBeside(base, this.#pages));
    await this.#rereadSuspects();
    return (await this.#sweepAgain()) ? undefined : last;
  }

  /** Sweeps on in the same round while that helps. True when it read anything. */
  async #sweepAgain(): Promise<boolean> {
    const { ledger } = this.#parts;
    const patience = this.#pages <= PATIENT_PAGES ? IDLE_SWEEPS : 1;
    for (let sweeps = 0, idle = 0; ; sweeps++) {
      if (ledger.proven || this.#moved || idle >= patience || this.#spent()) return sweeps > 0;
      // All seen, but not all known to have existed at the base: a new round knows them.
      if (ledger.seenInRound >= ledger.baseTotal) return sweeps > 0;
      const before = ledger.seenInRound;
      await (sweeps % 2 === 0 ? this.#sweepByStatus() : this.#sweep({ from: 1, to: this.#pages }));
      idle = ledger.seenInRound === before ? idle + 1 : 0;
    }
  }

  /** Reads a span of pages; returns the last response if each was requested after the one before had arrived. */
  async #sweep(span: Pick<PageSpan, 'from' | 'to' | 'bounded'>): Promise<AskedPage | undefined> {
    const sequential = this.#pages <= STRICT_PAGES;
    let last: AskedPage | undefined;
    const readAhead = sequential ? 1 : this.#parts.readAhead;
    for await (const page of this.#readOn({ ...span, readAhead })) {
      last = page;
      if (page.total !== this.#lastTotal) this.#suspect(page);
      await this.#parts.sink.take(page.items);
      if (this.#spent()) break;
    }
    await this.#parts.sink.flush();
    return sequential ? last : undefined;
  }

  async #sweepByStatus(): Promise<void> {
    const { sink, readAhead, ledger } = this.#parts;
    for (const status of STATUSES) {
      if (ledger.proven || this.#spent()) return;
      const first = await this.#read(1, { status });
      await sink.take(first.items);
      const span = { from: 2, to: first.totalPages, readAhead, narrow: { status } };
      for await (const page of this.#readOn(span)) {
        await sink.take(page.items);
        if (this.#spent()) break;
      }
      await sink.flush();
    }
  }

  /** `total` changed between two responses: what shifted is on the pages that were then in flight, or just before. */
  #suspect(page: AskedPage): void {
    this.#changed = true;
    if (page.total < this.#lastTotal) this.#moved = true;
    this.#lastTotal = page.total;
    for (let back = 0; back <= this.#parts.readAhead + 1; back++) {
      if (page.asked - back >= 1) this.#suspects.add(page.asked - back);
    }
  }

  async #rereadSuspects(): Promise<void> {
    const { ledger, sink } = this.#parts;
    for (const page of this.#suspects) {
      if (ledger.proven || this.#spent() || this.#pages <= STRICT_PAGES) return;
      await sink.take((await this.#read(page)).items);
      await sink.flush();
    }
  }

  async #read(page: number, narrow: Omit<PageQuery, 'page'> = {}): Promise<AskedPage> {
    throwIfAborted(this.#parts.signal);
    const response = await this.#parts.pages.read({ ...narrow, page });
    return this.#note({ ...response, asked: page }, narrow);
  }

  async *#readOn(span: PageSpan): AsyncGenerator<AskedPage> {
    for await (const page of this.#parts.pages.readOn(span)) {
      throwIfAborted(this.#parts.signal);
      yield this.#note(page, span.narrow ?? {});
    }
  }

  #note(response: AskedPage, narrow: Omit<PageQuery, 'page'>): AskedPage {
    this.#requests++;
    if (narrow.status === undefined) {
      this.#pages = Math.max(1, response.totalPages);
      this.#parts.onTotal(response.total);
    }
    return response;
  }

  #spent(): boolean {
    return this.#requests > this.#budget;
  }
}

/** The pages that a round reads besides its base. */
function spanBeside(base: AskedPage, pages: number): Pick<PageSpan, 'from' | 'to' | 'bounded'> {
  if (base.asked === 1) return { from: 2, to: pages };
  const isLast = base.asked === base.totalPages;
  return isLast ? { from: 1, to: base.asked - 1, bounded: true } : { from: 1, to: pages };
}

/** The canonical times of a page's items. */
export function timesOf(page: SubmissionPage): (string | null)[] {
  return page.items.map((item) => canonicalTime(item.submission?.createdAt ?? ''));
}
