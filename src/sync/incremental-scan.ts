import { MirrorError } from '../base/errors.ts';
import type { AskedPage } from '../forms/form-pages.ts';
import { compareTimes } from '../mirror/canonical-time.ts';
import { IdSet } from '../mirror/id-set.ts';
import { follows } from '../mirror/list-order.ts';
import { orderOf } from '../mirror/proof.ts';
import type { Checkpoint } from '../mirror/types.ts';
import { fullScan, type ScanParts } from './full-scan.ts';
import { keysOf, timesOf } from './page-items.ts';

/** Submissions may become visible a little later than their date says: how far back to read when deletions blur the count. */
const OVERLAP_MS = 60 * 60_000;
/** How far `dateFrom` is set back: it may mean the day, exclude its bound, or follow another clock. */
const DATE_SLACK_MS = 3 * 24 * 60 * 60_000;
/** How often a scan over several pages starts again because the list moved meanwhile. */
const RESTARTS = 3;

/** Canonical time since which a submission that we never stored may be called recent; an older one was imported. */
export function oldestPlausible(checkpoint: Checkpoint | undefined): string | null {
  const watermark = checkpoint?.watermark ?? null;
  return watermark === null ? null : minus(watermark, OVERLAP_MS);
}

/**
 * Finds every submission that is new since the checkpoint, trusting no date: the checkpoint says how many submissions
 * were accounted for, the first response says how many there are, and the newcomers must make up the difference.
 *
 * - Newest first (the documented order): from page 1 on until they do, and the page goes past the watermark. When there
 *   are more newcomers than the difference, submissions were deleted meanwhile, and the scan goes on past the overlap.
 * - Oldest first: the same from the last page backwards.
 * - No order by date: by `dateFrom`, which has to show that it works; its result is checked against the count.
 * - More submissions than newcomers, all of those past the overlap (an import of old dates, one that was restored): in a list
 *   of more than `longerThan` pages that is said, and left to a comparison by counts.
 * - Whatever else does not add up (a list that keeps moving) ends in a full scan; of a list of more than `most` submissions in
 *   `large`: then it is to be read window by window.
 *
 * Returns what is proven; null when nothing is. Nothing new costs one or two requests.
 */
export async function incrementalScan(
  parts: ScanParts,
  checkpoint: Checkpoint,
  { longerThan = Infinity, most = Infinity }: LongLists = {},
): Promise<IncrementalProof | 'large' | null> {
  const { ledger } = parts;
  let pages = 1;
  const proof = (whole: boolean, total: number, isShort = false): IncrementalProof => {
    const gone = checkpoint.total + ledger.newcomersInPass - total;
    return { whole, total, gone, pages, isShort };
  };
  for (let start = 0; start < RESTARTS; start++) {
    const scan = new IncrementalScan(parts, checkpoint);
    const outcome = await scan.run();
    pages = Math.max(pages, scan.pages);
    if (outcome === 'whole') return proof(true, ledger.accounted);
    // The list stood still while it was read: what was seen is among the submissions of the base.
    if (outcome === 'complete') return proof(false, ledger.baseTotal);
    if (outcome === 'older' && pages > longerThan) return proof(false, ledger.baseTotal, true);
    if (outcome === 'unclear' || outcome === 'older') break;
  }
  if (ledger.baseTotal > most) return 'large';
  return (await fullScan(parts)) ? proof(true, ledger.accounted) : null;
}

/** Reads the newest once more. False where the list moved meanwhile, or says nothing: then something may have come. */
export async function readNewest(parts: ScanParts, checkpoint: Checkpoint): Promise<boolean> {
  const { ledger } = parts;
  if (ledger.roundsLeft === 0) return false;
  const outcome = await new IncrementalScan(parts, checkpoint).run();
  ledger.endSweep();
  return outcome !== 'moved' && outcome !== 'unclear';
}

/** Which lists an incremental scan does not read whole; by default it reads any. */
interface LongLists {
  /** In pages. */
  readonly longerThan?: number;
  /** In submissions. */
  readonly most?: number;
}

/** What a proven incremental scan says besides that nothing new was missed. */
export interface IncrementalProof {
  /** The whole list was read, as in a full scan: a row that it did not show is absent. */
  readonly whole: boolean;
  /** How many submissions of the source are accounted for. */
  readonly total: number;
  /**
   * How many of those accounted for before, and of the newcomers of this pass, are not at the source any more. Negative
   * when more were found than are new: deleted ones have returned. Only where the list was read whole.
   */
  readonly gone: number;
  /** Pages of the whole list. */
  readonly pages: number;
  /** The source has older submissions that no pass has met: only with these the proof is one. */
  readonly isShort: boolean;
}

/**
 * `whole`: one response held the whole list. `moved`: it changed between two pages. `older`: what is missing is not among
 * the newest. `unclear`: the count does not add up.
 */
type ScanOutcome = 'complete' | 'whole' | 'moved' | 'older' | 'unclear';

class IncrementalScan {
  readonly #parts: ScanParts;
  readonly #checkpoint: Checkpoint;
  #difference = 0;
  #total = 0;
  readonly #shown = new IdSet();
  /** Two pages showed a submission while `total` stood still: ties that change places, and then others are on neither page. */
  #repeats = false;
  /** Of the whole list, as its first page says. */
  pages = 1;

  constructor(parts: ScanParts, checkpoint: Checkpoint) {
    this.#parts = parts;
    this.#checkpoint = checkpoint;
  }

  async run(): Promise<ScanOutcome> {
    const { sink, ledger } = this.#parts;
    await sink.flush();
    ledger.beginSweep();
    const first = await this.#read(1);
    this.#total = first.total;
    this.pages = first.totalPages;
    this.#difference = first.total - this.#checkpoint.total;
    ledger.begin({
      total: first.total,
      keys: keysOf(first),
      createdAts: timesOf(first),
      strict: false,
    });
    await this.#store(first);
    for (const key of keysOf(first)) this.#shown.add(key);
    // An entry shown twice is not two submissions.
    const shown = new Set(keysOf(first)).size;
    // More than there are, or more pages than they fill: such a `total` proves nothing.
    if (shown > first.total || (shown === first.total && first.totalPages > 1)) return 'unclear';
    // One response that holds the whole list leaves nothing to prove.
    if (shown === first.total) return 'whole';
    switch (orderOf(timesOf(first))) {
      case 'descending':
        // A list in this order begins with the newest submission we know, unless that one was deleted.
        return this.#reachesBack(first) ? this.#forwards(first) : this.#byDate(first);
      case 'ascending':
        return this.#backwards(first);
      case 'unknown':
        return this.#byDate(first);
    }
  }

  #reachesBack(page: AskedPage): boolean {
    const { watermark } = this.#checkpoint;
    return timesOf(page).some(
      (time) => time !== null && watermark !== null && compareTimes(time, watermark) >= 0,
    );
  }

  /** Newest first. */
  async #forwards(first: AskedPage): Promise<ScanOutcome> {
    for (let page = first; ; page = await this.#next(page.asked + 1)) {
      if (!follows(timesOf(page), 'descending')) return 'unclear';
      if (page.total !== this.#total) return 'moved';
      if (this.#repeats) return 'unclear';
      if (this.#enough(page)) return page.asked === 1 ? 'complete' : this.#confirm(first);
      if (page.asked >= page.totalPages) return 'unclear';
      if (this.#missing > 0 && this.#pastOverlap(page)) return this.#older(page, first);
    }
  }

  /** Every newcomer has been met, if the list has not changed while several pages of it were read. */
  async #older(page: AskedPage, newest: AskedPage): Promise<ScanOutcome> {
    if (page === newest) return 'older';
    return (await this.#confirm(newest)) === 'complete' ? 'older' : 'moved';
  }

  /** Oldest first: the newest are at the end. */
  async #backwards(first: AskedPage): Promise<ScanOutcome> {
    let newest: AskedPage | undefined;
    for (let asked = first.totalPages; asked > 1; asked--) {
      const page = await this.#next(asked);
      newest ??= page;
      // Oldest first by chance, as a list in the order of arrival is until old dates are imported.
      if (!follows(timesOf(page), 'ascending')) return 'unclear';
      if (page === newest && !this.#reachesBack(page)) return 'unclear';
      // More than the rest: the list shows submissions twice and goes on after this page.
      const before = first.items.length * (first.totalPages - 1);
      if (page === newest && page.items.length > page.total - before) return 'unclear';
      if (page.total !== this.#total) return 'moved';
      // What is shown twice may push the newest off the end of the list.
      if (this.#repeats || new Set(keysOf(page)).size < page.items.length) return 'unclear';
      if (page === newest) this.#parts.ledger.noteNewest(timesOf(page));
      if (this.#enough(page)) return page === newest ? 'complete' : this.#confirm(newest);
      if (this.#missing > 0 && this.#pastOverlap(page)) return this.#older(page, newest);
    }
    return newest !== undefined && this.#enough(first) ? this.#confirm(newest) : 'unclear';
  }

  /** No order by date: equal counts prove little, since a deletion may hide a newcomer on any page. */
  async #byDate(plain: AskedPage): Promise<ScanOutcome> {
    const { watermark } = this.#checkpoint;
    if (watermark === null) return 'unclear';
    // This list shows what the page before it showed, and an answer may have been edited since.
    this.#parts.ledger.endSweep();
    const narrow = { dateFrom: minus(watermark, DATE_SLACK_MS) };
    const { pages, readAhead, sink } = this.#parts;
    const first = await pages.read({ ...narrow, page: 1 }).catch(nullWhenRefused);
    // A bound that is ignored brings the whole list; then a full scan is as cheap and proves more.
    if (first === null || first.total >= this.#total) return 'unclear';
    await sink.take(first.items);
    const shown = new IdSet();
    for (const key of keysOf(first)) shown.add(key);
    let showsWatermark = timesOf(first).includes(watermark);
    const span = { from: 2, to: first.totalPages, readAhead, narrow };
    for await (const page of pages.readOn(span)) {
      await sink.take(page.items);
      for (const key of keysOf(page)) shown.add(key);
      showsWatermark ||= timesOf(page).includes(watermark);
      if (page.total !== first.total) return 'moved';
    }
    await sink.flush();
    // With submissions shown twice, others are past the last page.
    if (shown.size !== first.total) return 'unclear';
    // A newcomer that arrived since the count was read must not make up for one that was missed.
    return this.#missing === 0 && showsWatermark ? this.#confirm(plain) : 'unclear';
  }

  /** Newcomers still to be found; negative when deletions hide some of the difference. */
  get #missing(): number {
    return this.#difference - this.#parts.ledger.newcomersInRound;
  }

  /** True when this page ends the search: the count agrees and the watermark is past, or, blurred, the overlap is. */
  #enough(page: AskedPage): boolean {
    if (this.#missing > 0) return false;
    return this.#missing === 0
      ? this.#isPast(page, this.#checkpoint.watermark)
      : this.#pastOverlap(page);
  }

  #pastOverlap(page: AskedPage): boolean {
    return this.#isPast(page, oldestPlausible(this.#checkpoint));
  }

  /** Newcomers of the very instant of the bound may come after those that are known, on the page beside, too. */
  #isPast(page: AskedPage, bound: string | null): boolean {
    const times = timesOf(page).filter((time) => time !== null);
    return bound !== null && times.some((time) => compareTimes(time, bound) < 0);
  }

  /** A scan over several pages holds only if the list did not change meanwhile: the page of the newest shows the same again. */
  async #confirm(newest: AskedPage): Promise<ScanOutcome> {
    this.#parts.ledger.endSweep();
    const again = await this.#read(newest.asked);
    const same =
      again.total === this.#total && keysOf(again).join('\n') === keysOf(newest).join('\n');
    if (!same) await this.#store(again);
    return same ? 'complete' : 'moved';
  }

  async #next(page: number): Promise<AskedPage> {
    const response = await this.#read(page);
    for (const key of keysOf(response)) this.#repeats ||= this.#shown.has(key);
    for (const key of keysOf(response)) this.#shown.add(key);
    await this.#store(response);
    return response;
  }

  async #read(page: number): Promise<AskedPage> {
    const response = await this.#parts.pages.read({ page });
    this.#parts.onTotal(response.total);
    return { ...response, asked: page };
  }

  async #store(page: AskedPage): Promise<void> {
    await this.#parts.sink.take(page.items);
    await this.#parts.sink.flush();
  }
}

/** The API may refuse `dateFrom` altogether (400). */
function nullWhenRefused(error: unknown): null {
  if (error instanceof MirrorError && error.code === 'FORMS_REFUSED') return null;
  throw error;
}

/** A canonical time, earlier by `ms`. */
function minus(time: string, ms: number): string {
  return new Date(Date.parse(time) - ms).toISOString();
}
