import { compareTimes, laterOf } from './canonical-time.ts';
import { IdSet } from './id-set.ts';

/*
 * The proof of a pass (SPEC.md, "The proof"). In one sentence: a response says `total`, how many submissions existed at
 * that instant (its base); when that many distinct submissions, each known to have existed at that instant, have been
 * seen alive at or after it, every one of them has been seen, whatever was inserted or deleted meanwhile.
 *
 * That a submission seen after the base existed at the base is
 *  - sure when the base response itself shows it, or when this pass saw it before the base;
 *  - likely when an earlier pass stored it, or when it is dated before something that existed at the base (rounds that
 *    are not `strict`), because the service dates submissions as they arrive. A submission may have been deleted since it
 *    was stored, and restored after the base; a date before the watermark suggests an import of old dates and is no
 *    evidence at all.
 */

/** The response that a round counts from. */
export interface Base {
  /** `total` of the response. */
  readonly total: number;
  /** Keys of its items. */
  readonly keys: readonly string[];
  /** Canonical times of its items, null where broken. */
  readonly createdAts: readonly (string | null)[];
  /** True: dates are no evidence in this round. */
  readonly strict: boolean;
}

/** One item of a response that was requested after the round's base had arrived, or of the base itself. */
export interface Sighting {
  readonly key: string;
  readonly createdAt: string | null;
  /** Stored, or listed as rejected, when it was applied. Evidence only when the pass meets it for the first time. */
  readonly existed: boolean;
  /** It is a row of the target with a date, not marked deleted, by now. */
  readonly stored?: boolean;
  /** One response showed it more than once. */
  readonly doubled?: boolean;
}

/** How many rounds a ledger can distinguish. */
const MAX_ROUNDS = 15;
/** How many sweeps: after so many it begins anew, and may take an ID for met that was met so long ago. */
const MAX_SWEEPS = 15;

/** What a ledger keeps beside an ID, in 16 bits. */
interface Note {
  /** The round in which the pass first met it, and in which it last did. */
  first: number;
  seen: number;
  /** The sweep in which it was last met; 0: in none. */
  sweep: number;
  /** In that last round it counted as likely, or as sure, to have existed at the base. */
  counted: boolean;
  sure: boolean;
  /** Neither stored nor listed before this pass. */
  newcomer: boolean;
  doubled: boolean;
}

const packed = (note: Note): number =>
  note.first |
  (note.seen << 4) |
  (Number(note.counted) << 8) |
  (Number(note.sure) << 9) |
  (Number(note.newcomer) << 10) |
  (Number(note.doubled) << 11) |
  (note.sweep << 12);

const unpacked = (tag: number): Note => ({
  first: tag & 15,
  seen: (tag >> 4) & 15,
  counted: (tag & 0x100) !== 0,
  sure: (tag & 0x200) !== 0,
  newcomer: (tag & 0x400) !== 0,
  doubled: (tag & 0x800) !== 0,
  sweep: tag >> 12,
});

const UNSEEN = { seen: 0, sweep: 0, counted: false, sure: false, doubled: false } as const;

/** Counts what a pass has seen and says when it is proven complete. Memory: 10 bytes and some slack for each submission. */
export class ProofLedger {
  readonly #ids = new IdSet();
  readonly #oldestPlausible: string | null;
  #round = 0;
  #base: { total: number; keys: ReadonlySet<string>; newest: string | null } | undefined;
  #seen = 0;
  #counted = 0;
  #sure = 0;
  #newcomers = 0;
  #newcomersInPass = 0;
  #stored = 0;
  #doubled = 0;
  /** Of all that the pass met, and of what it had met by the base: newest dates. */
  #newestMet: string | null = null;
  #newestByBase: string | null = null;
  #newestShown: string | null = null;
  /** How `total` moved in this round: as last heard, by how much it rose in all, and whether it ever fell. */
  #heard = 0;
  #rises = 0;
  #fell = false;
  #asListed = false;
  #newestLost = false;
  /** 0: what is met belongs to no sweep. */
  #sweep = 0;
  #sweeps = 0;
  #seenInSweep = 0;

  /** `oldestPlausible`: canonical time before which a submission we never stored cannot be recent; null when we have no history. */
  constructor(oldestPlausible: string | null = null) {
    this.#oldestPlausible = oldestPlausible;
  }

  /** Starts a round. All responses before must have been given to {@link sight}; the base's own items come to it next. */
  begin(base: Base): void {
    if (this.#round >= MAX_ROUNDS) throw new RangeError(`a pass has at most ${MAX_ROUNDS} rounds`);
    this.#round++;
    [this.#seen, this.#counted, this.#sure, this.#newcomers] = [0, 0, 0, 0];
    [this.#heard, this.#rises, this.#fell] = [base.total, 0, false];
    this.#asListed = false;
    const newest = newestOf(base.createdAts);
    this.#newestMet = laterOf(this.#newestMet, newest);
    this.#newestByBase = this.#newestMet;
    this.#newestShown = null;
    this.#base = {
      total: base.total,
      keys: new Set(base.keys),
      newest: base.strict ? null : newest,
    };
  }

  /** From now on each page of the list is met once, until the next sweep or {@link endSweep}. */
  beginSweep(): void {
    this.#sweep = (this.#sweeps++ % MAX_SWEEPS) + 1;
    this.#seenInSweep = 0;
  }

  /** Single pages and narrowed lists belong to no sweep. */
  endSweep(): void {
    this.#sweep = 0;
  }

  /** Whether what is met now belongs to a sweep. */
  get inSweep(): boolean {
    return this.#sweep > 0;
  }

  /** Which sweep is going on, counted from 1; 0: none. */
  get sweep(): number {
    return this.#sweep > 0 ? this.#sweeps : 0;
  }

  /** Whether the sweep that is going on has met this item. */
  metInSweep(key: string): boolean {
    return this.#sweep > 0 && unpacked(this.#ids.tag(key) ?? 0).sweep === this.#sweep;
  }

  /** Records `total` of a response of this round, in the order in which they were read. */
  hear(total: number): void {
    if (total > this.#heard) this.#rises += total - this.#heard;
    if (total < this.#heard) this.#fell = true;
    this.#heard = total;
  }

  /** Records one item. True when the pass had not seen it before. */
  sight(item: Sighting): boolean {
    const before = this.#ids.size;
    const place = this.#ids.enter(item.key);
    const first = this.#ids.size > before;
    const note: Note = first
      ? { ...UNSEEN, first: this.#round, newcomer: !item.existed }
      : unpacked(this.#ids.tagAt(place));
    if (note.seen !== this.#round || first) {
      [note.seen, note.counted, note.sure] = [this.#round, false, false];
      this.#seen++;
      if (note.newcomer) this.#newcomers++;
    }
    if (first) {
      this.#newestMet = laterOf(this.#newestMet, item.createdAt);
      if (note.newcomer) this.#newcomersInPass++;
      if (item.stored === true && this.#round > 0) this.#stored++;
    }
    if (this.#sweep > 0 && note.sweep !== this.#sweep) {
      note.sweep = this.#sweep;
      this.#seenInSweep++;
    }
    this.#weigh(item, note);
    if (item.doubled === true && !note.doubled) {
      note.doubled = true;
      this.#doubled++;
    }
    this.#ids.setTagAt(place, packed(note));
    return first;
  }

  /** What this sighting says about the base, beyond what earlier ones of this round said. */
  #weigh(item: Sighting, note: Note): void {
    if (!note.sure && (note.first < this.#round || this.#base?.keys.has(item.key) === true)) {
      note.sure = true;
      this.#sure++;
    }
    if (!note.counted && (note.sure || !note.newcomer || this.#datedBeforeBase(item))) {
      note.counted = true;
      this.#counted++;
    }
  }

  #datedBeforeBase({ createdAt }: Sighting): boolean {
    const newest = this.#base?.newest ?? null;
    if (newest === null || createdAt === null) return false;
    const oldest = this.#oldestPlausible;
    if (oldest !== null && compareTimes(createdAt, oldest) < 0) return false;
    return compareTimes(createdAt, newest) < 0;
  }

  /** How many more rounds this ledger can distinguish. */
  get roundsLeft(): number {
    return MAX_ROUNDS - this.#round;
  }

  /** True when as many as `total` of the base, each at least likely to have existed at it, have been seen since. */
  get proven(): boolean {
    return this.#base !== undefined && this.#counted === this.#base.total;
  }

  /**
   * The same, where each is sure to have existed: no date and nothing of an earlier pass is trusted. What remains is a
   * submission that was deleted and restored in this very pass, around the base; when `total` shows that something was
   * deleted, each of its rises must be explained by a newcomer, so that none is left for a restored one. More newcomers
   * than `total` ever rose contradict it: then it counts something else than the list shows, and proves nothing.
   */
  get provenSurely(): boolean {
    if (this.#base === undefined || this.#sure !== this.#base.total) return false;
    const newcomers = this.#seen - this.#sure;
    return this.#fell ? this.#rises === newcomers : newcomers <= this.#rises;
  }

  /** True when `total` has not moved in this round: then nothing shifts from page to page, as far as it tells. */
  get still(): boolean {
    return !this.#fell && this.#rises === 0;
  }

  /** True when `total` fell in this round: something was deleted. */
  get fell(): boolean {
    return this.#fell;
  }

  /**
   * Whether what was seen accounts for how `total` moved from the base to `total` now: nothing is gone, and each addition
   * is a newcomer. Only then is what is merely likely trusted: a restored or imported submission is an addition that
   * looks old.
   */
  accountsFor(total: number): boolean {
    return !this.#fell && total - this.baseTotal === this.#seen - this.#counted;
  }

  /** Accepts that the list was seen whole, double entries and all (see `ListPicture`): then `total` itself is accounted for. */
  acceptAsListed(): void {
    this.#asListed = true;
  }

  /** True when `total` counts entries of the list, of which some repeat a submission. */
  get isAsListed(): boolean {
    return this.#asListed;
  }

  /** How many entries repeat a submission without being certain, in the last sweep that saw the list whole. */
  unclearDoubles = 0;

  /** Double entries may push others off the end of the list: it could not be read from there. */
  unclearEnd = false;

  /** How many entries of the list are further ones of a submission, as far as this pass can tell. */
  get doubles(): number {
    const further = this.#asListed ? this.baseTotal - this.#seen : 0;
    return Math.max(this.#doubled, further);
  }

  /** How many submissions of the base are not accounted for yet; negative when the evidence contradicts itself. */
  get shortage(): number {
    return (this.#base?.total ?? 0) - this.#counted;
  }

  /** Distinct items seen since the base, whether or not they prove anything. */
  get seenInRound(): number {
    return this.#seen;
  }

  /** Distinct items that the sweep met. */
  get seenInSweep(): number {
    return this.#seenInSweep;
  }

  /** Of those of the round, the ones that were neither stored nor listed before this pass. */
  get newcomersInRound(): number {
    return this.#newcomers;
  }

  /** The same of the whole pass: what came and went during it is among them. */
  get newcomersInPass(): number {
    return this.#newcomersInPass;
  }

  /** Distinct items seen in the whole pass. */
  get distinct(): number {
    return this.#ids.size;
  }

  /** Distinct items that a round met first, and that were rows of the target with a date then. */
  get stored(): number {
    return this.#stored;
  }

  /** True when the pass met this item and it was neither stored nor listed before. */
  isNewcomer(key: string): boolean {
    const tag = this.#ids.tag(key);
    return tag !== undefined && unpacked(tag).newcomer;
  }

  /** `total` of the current base. */
  get baseTotal(): number {
    return this.#base?.total ?? 0;
  }

  /**
   * How many submissions of the source are accounted for after a proof: those of the base, and those seen since that
   * may have been created after it. The next incremental pass counts from here.
   */
  get accounted(): number {
    if (this.#asListed) return this.baseTotal;
    if (this.provenSurely) return this.#seen;
    return this.baseTotal + this.#seen - this.#counted;
  }

  /**
   * The watermark after a proof: the newest date that the pass had met by its base, on whatever page. What is dated up to it
   * existed then, and is accounted for; what is dated later, though it was met, may have come beside others that were not.
   * `before`: the last one, for a list that shows no date.
   */
  watermark(before: string | null): string | null {
    return this.#newestLost ? null : (this.#newestShown ?? this.#newestByBase ?? before);
  }

  /** The times of the page with the newest submissions, where that is not the base; `total` was the same there. */
  noteNewest(createdAts: readonly (string | null)[]): void {
    this.#newestShown = newestOf(createdAts);
  }

  /** The newest submissions are not where the base was read: nothing is known of how far the list was accounted for by date. */
  loseNewest(): void {
    this.#newestLost = true;
  }

  /** The round that goes on, or was the last; 0 before the first. */
  get round(): number {
    return this.#round;
  }

  /** Whether a later round than this one has seen this item. */
  seenAfter(round: number, key: string): boolean {
    return unpacked(this.#ids.tag(key) ?? 0).seen > round;
  }

  /** Whether the pass has seen this item. */
  has(key: string): boolean {
    return this.#ids.has(key);
  }
}

function newestOf(times: readonly (string | null)[]): string | null {
  return times.reduce(laterOf, null);
}

/** How a list is sorted by date, as one page of it shows. `unknown`: in no order, or too little to tell. */
export type PageOrder = 'descending' | 'ascending' | 'unknown';

/** Fewer steps in one direction may be chance, as among many items of one instant. */
const CLEAR_STEPS = 5;

/** The order of a page's canonical times; broken ones are passed over. */
export function orderOf(createdAts: readonly (string | null)[]): PageOrder {
  const times = createdAts.filter((time) => time !== null);
  const steps = times.slice(1).map((time, index) => compareTimes(time, times[index] ?? time));
  const up = steps.filter((step) => step > 0).length;
  const down = steps.filter((step) => step < 0).length;
  if (down === 0 && up >= CLEAR_STEPS) return 'ascending';
  return up === 0 && down >= CLEAR_STEPS ? 'descending' : 'unknown';
}
