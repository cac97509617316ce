import { MirrorError } from '../base/errors.ts';
import type { AskedPage } from '../forms/form-pages.ts';
import { compareTimes } from '../mirror/canonical-time.ts';
import { orderOf } from '../mirror/proof.ts';
import type { Checkpoint } from '../mirror/types.ts';
import { fullScan, type ScanParts, timesOf } from './full-scan.ts';

/** Submissions may become visible a little later than their date says; so far back we look when deletions blur the count. */
const OVERLAP_MS = 60 * 60_000;
/** How far `dateFrom` is set back: it may mean the day, exclude its bound, or follow another clock. */
const DATE_SLACK_MS = 3 * 24 * 60 * 60_000;
/** How often a scan over several pages starts again because the list moved under it. */
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
 * - Newest first (the documented order): from page 1 on until they do, and the page reaches the watermark. When there
 *   are more newcomers than the difference, submissions were deleted meanwhile, and the scan goes on past the overlap.
 * - Oldest first: the same from the last page backwards.
 * - No order by date: by `dateFrom`, which has to show that it works; its result is held against the count.
 * - Whatever does not add up (an import of old dates, a list that keeps moving) ends in a full scan.
 *
 * Returns whether it is proven, as {@link fullScan} does. Nothing new costs one or two requests.
 */
export async function incrementalScan(parts: ScanParts, checkpoint: Checkpoint): Promise<boolean> {
  for (let start = 0; start < RESTARTS; start++) {
    const verdict = await new IncrementalScan(parts, checkpoint).run();
    if (verdict === 'complete') return true;
    if (verdict === 'unclear') break;
  }
  return fullScan(parts);
}

/** `moved`: the list changed between two pages; `unclear`: the count cannot be made to agree. */
type Verdict = 'complete' | 'moved' | 'unclear';

class IncrementalScan {
  readonly #parts: ScanParts;
  readonly #checkpoint: Checkpoint;
  #difference = 0;
  #total = 0;

  constructor(parts: ScanParts, checkpoint: Checkpoint) {
    this.#parts = parts;
    this.#checkpoint = checkpoint;
  }

  async run(): Promise<Verdict> {
    const { sink, ledger } = this.#parts;
    const first = await this.#read(1);
    this.#total = first.total;
    this.#difference = first.total - this.#checkpoint.total;
    await sink.flush();
    ledger.begin({
      total: first.total,
      keys: first.items.map((item) => item.key),
      createdAts: timesOf(first),
      strict: false,
    });
    await this.#store(first);
    // One response that holds the whole list leaves nothing to prove.
    if (first.items.length >= first.total) return 'complete';
    switch (orderOf(timesOf(first))) {
      case 'descending':
        // A list that is sorted so begins with the newest we know, unless that one was deleted.
        return this.#reachesBack(first) ? this.#forwards(first) : this.#byDate(first);
      case 'ascending':
        return this.#backwards(first.totalPages);
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
  async #forwards(first: AskedPage): Promise<Verdict> {
    for (let page = first; ; page = await this.#next(page.asked + 1)) {
      if (page.total !== this.#total) return 'moved';
      if (this.#enough(page)) return page.asked === 1 ? 'complete' : this.#confirm(first);
      if (page.asked >= page.totalPages) return 'unclear';
      if (this.#missing > 0 && this.#pastOverlap(page)) return 'unclear';
    }
  }

  /** Oldest first: the newest are at the end. */
  async #backwards(lastPage: number): Promise<Verdict> {
    let newest: AskedPage | undefined;
    for (let asked = lastPage; asked > 1; asked--) {
      const page = await this.#next(asked);
      newest ??= page;
      if (page === newest && !this.#reachesBack(page)) return 'unclear';
      if (page.total !== this.#total) return 'moved';
      if (this.#enough(page)) return page === newest ? 'complete' : this.#confirm(newest);
      if (this.#missing > 0 && this.#pastOverlap(page)) return 'unclear';
    }
    return 'unclear';
  }

  /** No order by date: equal counts prove little, since a deletion may hide a newcomer on any page. */
  async #byDate(plain: AskedPage): Promise<Verdict> {
    const { watermark } = this.#checkpoint;
    if (watermark === null) return 'unclear';
    const narrow = { dateFrom: minus(watermark, DATE_SLACK_MS) };
    const { pages, readAhead, sink } = this.#parts;
    const first = await pages.read({ ...narrow, page: 1 }).catch(nullWhenRefused);
    // A bound that is ignored brings the whole list; then a full scan is as cheap and proves more.
    if (first === null || first.total >= this.#total) return 'unclear';
    await sink.take(first.items);
    let showsWatermark = timesOf(first).includes(watermark);
    const span = { from: 2, to: first.totalPages, readAhead, narrow };
    for await (const page of pages.readOn(span)) {
      await sink.take(page.items);
      showsWatermark ||= timesOf(page).includes(watermark);
      if (page.total !== first.total) return 'moved';
    }
    await sink.flush();
    // A newcomer that arrived since the count was read must not stand in for one that we don't see.
    return this.#missing <= 0 && showsWatermark ? this.#confirm(plain) : 'unclear';
  }

  /** Newcomers still to be found; negative when deletions hide some of the difference. */
  get #missing(): number {
    return this.#difference - this.#parts.ledger.newcomersInRound;
  }

  /** True when this page ends the search: the count agrees and the watermark is reached, or, blurred, the overlap is past. */
  #enough(page: AskedPage): boolean {
    if (this.#missing > 0) return false;
    return this.#missing === 0
      ? this.#reaches(page, this.#checkpoint.watermark)
      : this.#pastOverlap(page);
  }

  #pastOverlap(page: AskedPage): boolean {
    return this.#reaches(page, oldestPlausible(this.#checkpoint));
  }

  #reaches(page: AskedPage, bound: string | null): boolean {
    const times = timesOf(page).filter((time) => time !== null);
    return bound !== null && times.some((time) => compareTimes(time, bound) <= 0);
  }

  /** A scan over several pages must not have been overtaken: the page of the newest still shows what it showed. */
  async #confirm(newest: AskedPage): Promise<Verdict> {
    const again = await this.#read(newest.asked);
    const same = again.total === this.#total && keysOf(again) === keysOf(newest);
    if (!same) await this.#store(again);
    return same ? 'complete' : 'moved';
  }

  async #next(page: number): Promise<AskedPage> {
    const response = await this.#read(page);
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

function keysOf(page: AskedPage): string {
  return page.items.map((item) => item.key).join('\n');
}

/** An API may not take `dateFrom` at all (400). */
function nullWhenRefused(error: unknown): null {
  if (error instanceof MirrorError && error.code === 'FORMS_REFUSED') return null;
  throw error;
}

/** A canonical time, earlier by `ms`. */
function minus(time: string, ms: number): string {
  return new Date(Date.parse(time) - ms).toISOString();
}
