import { throwIfAborted } from '../base/clock.ts';
import type { SubmissionItem, SubmissionPage } from '../forms/client.ts';
import type { AskedPage, FormPages, PageQuery, PageSpan } from '../forms/form-pages.ts';
import { OrderWatch } from '../mirror/list-order.ts';
import { ListPicture } from '../mirror/list-picture.ts';
import { orderOf, type ProofLedger } from '../mirror/proof.ts';
import { STATUSES } from '../mirror/types.ts';
import {
  certainDoubles,
  type DoublesEvidence,
  type FromEnd,
  readFromEnd,
} from './double-entries.ts';
import { keysOf, timesOf } from './page-items.ts';
import { budgetFor } from './scan-budget.ts';

/** Where a scan puts its items: what was taken is in the ledger once it is flushed. */
export interface ItemSink {
  take(items: readonly SubmissionItem[]): Promise<void>;
  flush(): Promise<void>;
}

export interface ScanParts {
  readonly pages: FormPages;
  readonly sink: ItemSink;
  readonly ledger: ProofLedger;
  readonly readAhead: number;
  readonly signal: AbortSignal;
  /** True when an earlier pass was proven: then dates are not needed as evidence, and imports of old dates can't mislead. */
  readonly history: boolean;
  /** The first page, where it has just been read and nothing else since. */
  readonly first?: AskedPage;
  /** Called with each `total` that the source reports. */
  readonly onTotal: (total: number) => void;
  /** Called, more than once perhaps, when a sweep has few pages left: what follows it can be begun. */
  readonly onTail?: (() => void) | undefined;
}

/** A list this short is read one page at a time: its last response can be the next base, and no date is needed. */
const SHORT_PAGES = 2;

/** Up to this length a sweep that found nothing new is worth repeating: ties may come in another order each time. */
const REPEAT_PAGES = 20;
/** With twenty pages of ties, one of them stays unseen for so many sweeps about once in a thousand scans. */
const IDLE_SWEEPS = 8;

/** A server may answer any page after the last one with what it showed before: so many that bring nothing new are enough. */
const IDLE_PAGES_PAST_END = 3;

/**
 * Reads a whole form and proves it (L1 to L3). In outline:
 *
 * A round begins with a base: one response, the only request in flight, whose `total` is how many submissions there are
 * to find. A sweep reads the other pages, ahead of the writing. In a list that is seen to be sorted by date, and in which
 * nothing was deleted meanwhile, one sweep is enough: what an earlier pass stored, and what is dated before the base, is
 * taken to have existed at it. So the scan ends after `ceil(n / 100)` requests.
 *
 * Otherwise a second round, with a new base, counts only what this pass itself saw before. Where something moved, or the
 * list comes in another order each time, the pages around which `total` changed are read again first, and more sweeps
 * follow in the same round while they find new items, alternating between the whole list and each status.
 *
 * A list that shows submissions twice may go on after its last page, and is read to its end. Where `total` counts the
 * doubles, no count of submissions ever agrees with it: then two sweeps in a row that show the same, entry by entry, prove
 * it, if the list shows the same from its other end. Rounds and requests are bounded: if the source never stops changing, the scan ends unproven.
 *
 * Returns whether the proof was found. The submissions that were seen are stored in either case.
 */
export async function fullScan(parts: ScanParts): Promise<boolean> {
  const scan = new FullScan(parts);
  return scan.run();
}

class FullScan {
  readonly #parts: ScanParts;
  #requests = 0;
  #rounds = 0;
  #pages = 1;
  #budget = Infinity;
  /** In an earlier round dates misled. */
  #misled = false;
  #oldestFirst = false;
  #asListed = false;
  #pageSize = 0;
  #suspects = new Set<number>();
  #lastTotal = 0;
  #order = new OrderWatch();
  /** The same, of a single sweep. */
  #sweepOrder = new OrderWatch();
  /** What the sweep that is going on, or was the last, showed, and the one before it. */
  #picture = new ListPicture();
  #before = new ListPicture();
  /** What is known of the double entries of each; null: not looked into. */
  #doubles: DoublesEvidence | null = null;
  #doublesBefore: DoublesEvidence | null = null;
  /** The list shows the same again, and can't be read from its other end: what it may leave out, no sweep shows. */
  #endless = false;
  #stagnant = 0;
  #tally = '';

  constructor(parts: ScanParts) {
    this.#parts = parts;
  }

  async run(): Promise<boolean> {
    const { ledger, sink } = this.#parts;
    // What was taken before belongs to no sweep of this scan.
    await sink.flush();
    ledger.beginSweep();
    const { first: read } = this.#parts;
    const first = read === undefined ? await this.#read(1) : this.#note(read, {});
    this.#pageSize = first.items.length;
    this.#budget = budgetFor(first.totalPages);
    let base = await this.#chooseBase(first);
    while (ledger.roundsLeft > 0 && !this.#spent()) {
      const last = await this.#round(base);
      if (this.#isSure() || (this.#isLikely() && (await this.#totalAccountedFor()))) return true;
      if (this.#isStuck()) return false;
      const tally = [ledger.distinct, ledger.seenInRound, base.total].join();
      this.#stagnant = tally === this.#tally ? this.#stagnant + 1 : 0;
      this.#tally = tally;
      // The source keeps showing the same items while `total` says otherwise: further sweeps would prove nothing.
      if (this.#stagnant >= 2) return false;
      // The last response of a sequential sweep was the only request in flight: it can be the next base, at no cost.
      base = last ?? (await this.#read(1));
    }
    return false;
  }

  /** A proof that trusts nothing but what this pass saw. */
  #isSure(): boolean {
    return this.#asListed || this.#parts.ledger.provenSurely;
  }

  /**
   * Where `total` counts double entries: two sweeps that show the same, with nothing hidden behind a double, and nothing pushed
   * off the end by one. Whether it is, is asked between the two.
   */
  async #proveAsListed(): Promise<void> {
    const { ledger } = this.#parts;
    this.#endless = false;
    if (ledger.provenSurely || !this.#picture.whole) return;
    const doubles = this.#picture.entries - ledger.seenInSweep;
    if (doubles === 0) return;
    const before = this.#picture.equals(this.#before) ? this.#doublesBefore : null;
    if (before?.certain === doubles && before.fromEnd === 'same') {
      this.#asListed = true;
      ledger.acceptAsListed();
      return;
    }
    const certain = before?.certain ?? (await this.#certainDoubles());
    const fromEnd = certain === doubles ? await this.#readFromEnd() : null;
    this.#doubles = { certain, fromEnd };
    ledger.unclearDoubles = doubles - certain;
    ledger.unclearEnd = fromEnd === 'unknown';
    this.#endless = before !== null && ledger.unclearEnd;
  }

  #certainDoubles(): Promise<number> {
    const readSized = (page: number, size: number): Promise<SubmissionPage | null> => {
      this.#countRequest();
      return this.#parts.pages.readSized(page, size);
    };
    return certainDoubles(readSized, this.#picture, this.#pageSize);
  }

  /** Stores what only that shows. */
  #readFromEnd(): Promise<FromEnd> {
    const { ledger, sink, pages } = this.#parts;
    const read = async (page: number, size: number): Promise<SubmissionPage | null> => {
      this.#countRequest();
      const response = await pages.readReversed(page, size);
      // What the sweep showed first stands, where contents differ.
      const unseen = response?.items.filter(({ key }) => !ledger.seenAfter(ledger.round - 1, key));
      await sink.take(unseen ?? []);
      await sink.flush();
      return response;
    };
    const distinct = ledger.seenInSweep;
    const [picture, order, pageSize] = [this.#picture, this.#sweepOrder, this.#pageSize];
    const unseen = (): boolean => ledger.seenInRound !== distinct;
    return readFromEnd(read, { picture, order, pageSize, distinct }, unseen);
  }

  #countRequest(): void {
    throwIfAborted(this.#parts.signal);
    this.#requests++;
  }

  #isStuck(): boolean {
    const { ledger } = this.#parts;
    return this.#endless && ledger.seenInRound < ledger.baseTotal;
  }

  /** Proven if what an earlier pass stored, or what dates say, may be trusted: in a sorted list out of which nothing was deleted. */
  #isLikely(): boolean {
    const { ledger } = this.#parts;
    return ledger.proven && !ledger.fell && this.#order.sorted;
  }

  #isSettled(): boolean {
    return this.#isSure() || this.#isLikely();
  }

  /** What is only likely holds only if what was seen accounts for how `total` moved; the first page shows arrivals. */
  async #totalAccountedFor(): Promise<boolean> {
    const { ledger, sink } = this.#parts;
    if (this.#lastTotal === ledger.baseTotal && ledger.accountsFor(this.#lastTotal)) return true;
    const probe = await this.#read(1);
    await sink.take(probe.items);
    await sink.flush();
    const holds = ledger.proven && ledger.accountsFor(probe.total);
    this.#misled ||= !holds;
    return holds;
  }

  /** Oldest first: the newest are on the last page, and only what is newer than the base's items is in doubt. */
  async #chooseBase(first: AskedPage): Promise<AskedPage> {
    if (first.totalPages < 2 || orderOf(timesOf(first)) !== 'ascending') return first;
    this.#oldestFirst = true;
    const { ledger, sink } = this.#parts;
    await sink.take(first.items);
    await sink.flush();
    // The sweep reads this page again, and an answer may have been edited by then.
    ledger.beginSweep();
    return this.#read(first.totalPages);
  }

  /** One round; returns its last response when that was requested after all others had arrived. */
  async #round(base: AskedPage): Promise<AskedPage | undefined> {
    const { ledger, sink, history } = this.#parts;
    await sink.flush();
    ledger.begin({
      total: base.total,
      keys: keysOf(base),
      createdAts: timesOf(base),
      // Dates are no evidence where they are not needed, nor after they misled.
      strict: history || base.totalPages <= SHORT_PAGES || this.#misled,
    });
    this.#suspects = new Set();
    this.#lastTotal = base.total;
    this.#order = new OrderWatch();
    if (this.#rounds++ > 0) this.#beginSweep();
    this.#picture.add({ ...base, keys: keysOf(base) });
    if (base.asked === 1) this.#watch(timesOf(base));
    await sink.take(base.items);
    const last = await this.#sweep(spanBeside(base, this.#pages));
    if (base.asked !== 1) this.#watch(timesOf(base));
    const pastEnd = await this.#readPastEnd();
    ledger.endSweep();
    await this.#proveAsListed();
    const readMore = pastEnd || this.#doubles !== null;
    const reread = await this.#rereadSuspects();
    // Only the very last response can be a base: what was met after it need not have existed at it.
    return (await this.#sweepAgain()) || reread || readMore ? undefined : last;
  }

  /** Sweeps on in the same round while that helps. True when it read anything. */
  async #sweepAgain(): Promise<boolean> {
    const { ledger } = this.#parts;
    const mostIdle = this.#pages <= REPEAT_PAGES ? IDLE_SWEEPS : 1;
    for (let sweeps = 0, idle = 0; ; sweeps++) {
      if (this.#isSettled() || ledger.fell || idle >= mostIdle || this.#spent()) return sweeps > 0;
      // The lists by status are all that may still show more.
      if (this.#isStuck() && sweeps >= 2) return true;
      // All seen, but not all known to have existed at the base: a new round knows them.
      if (ledger.seenInRound >= ledger.baseTotal) return sweeps > 0;
      const before = ledger.seenInRound;
      await (sweeps % 2 === 0 ? this.#sweepWhole() : this.#sweepByStatus());
      idle = ledger.seenInRound === before ? idle + 1 : 0;
    }
  }

  async #sweepWhole(): Promise<void> {
    this.#beginSweep();
    await this.#sweep({ from: 1, to: this.#pages });
    await this.#readPastEnd();
    this.#parts.ledger.endSweep();
    await this.#proveAsListed();
  }

  #watch(times: readonly (string | null)[]): void {
    this.#order.add(times);
    this.#sweepOrder.add(times);
  }

  #beginSweep(): void {
    this.#parts.ledger.beginSweep();
    [this.#before, this.#doublesBefore] = [this.#picture, this.#doubles];
    [this.#picture, this.#doubles] = [new ListPicture(), null];
    this.#sweepOrder = new OrderWatch();
  }

  /** Reads a span of pages; returns the last response if each was requested after the one before had arrived. */
  async #sweep(span: Pick<PageSpan, 'from' | 'to' | 'bounded'>): Promise<AskedPage | undefined> {
    const sequential = this.#pages <= SHORT_PAGES;
    let last: AskedPage | undefined;
    const readAhead = sequential ? 1 : this.#parts.readAhead;
    const { onTail } = this.#parts;
    for await (const page of this.#readOn({ ...span, readAhead, onTail })) {
      last = page;
      if (page.total !== this.#lastTotal) this.#suspect(page);
      this.#picture.add({ ...page, keys: keysOf(page) });
      this.#watch(timesOf(page));
      await this.#parts.sink.take(page.items);
      if (this.#spent()) break;
    }
    await this.#parts.sink.flush();
    return sequential ? last : undefined;
  }

  /** Where submissions are still to be found, a list that shows others twice may go on past its last page. True when it read anything. */
  async #readPastEnd(): Promise<boolean> {
    const { ledger, sink, pages } = this.#parts;
    const after = this.#pages;
    for (let idle = 0, asked = after + 1; idle < IDLE_PAGES_PAST_END; asked++) {
      if (ledger.seenInRound >= ledger.baseTotal || this.#spent()) return asked > after + 1;
      throwIfAborted(this.#parts.signal);
      const page = this.#note({ ...(await pages.readPastEnd(asked)), asked }, {});
      this.#picture.add({ ...page, keys: keysOf(page) });
      if (page.items.length === 0) return true;
      if (this.#oldestFirst) ledger.loseNewest();
      const before = ledger.distinct;
      this.#watch(timesOf(page));
      await sink.take(page.items);
      await sink.flush();
      idle = ledger.distinct === before ? idle + 1 : 0;
    }
    return true;
  }

  /** Lists narrowed to one status: their pages overlap differently each time. */
  async #sweepByStatus(): Promise<void> {
    const { sink, readAhead } = this.#parts;
    for (const status of STATUSES) {
      if (this.#isSettled() || this.#spent()) return;
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
    this.#lastTotal = page.total;
    for (let back = 0; back <= this.#parts.readAhead + 1; back++) {
      if (page.asked - back >= 1) this.#suspects.add(page.asked - back);
    }
  }

  /** True when it read anything. */
  async #rereadSuspects(): Promise<boolean> {
    const { sink } = this.#parts;
    let reread = false;
    for (const page of this.#suspects) {
      if (this.#isSettled() || this.#spent() || this.#pages <= SHORT_PAGES) break;
      reread = true;
      await sink.take((await this.#read(page)).items);
      await sink.flush();
    }
    return reread;
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
      this.#parts.ledger.hear(response.total);
      this.#parts.onTotal(response.total);
    }
    return response;
  }

  #spent(): boolean {
    return this.#requests > this.#budget;
  }
}

/** The pages that a round reads in addition to its base. */
function spanBeside(base: AskedPage, pages: number): Pick<PageSpan, 'from' | 'to' | 'bounded'> {
  if (base.asked === 1) return { from: 2, to: pages };
  const isLast = base.asked === base.totalPages;
  return isLast ? { from: 1, to: base.asked - 1, bounded: true } : { from: 1, to: pages };
}
