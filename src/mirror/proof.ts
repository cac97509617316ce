import { compareTimes } from './canonical-time.ts';
import { IdSet } from './id-set.ts';

/*
 * The proof of a pass (SPEC.md, "The proof"). In one sentence: a response says `total`, how many submissions existed at
 * that instant (its base); when that many distinct submissions, each known to have existed at that instant, have been
 * seen alive at or after it, every one of them has been seen, whatever was inserted or deleted meanwhile.
 *
 * A submission seen after the base existed at the base when
 *  - the base response itself shows it, or
 *  - it was known before the base: stored by an earlier pass, or seen in an earlier round of this one, or
 *  - it is dated before something that existed at the base (rounds that are not `strict`), because the service dates
 *    submissions as they arrive. A date before the watermark is no such evidence: it smells of an import of old dates.
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
}

/** Rounds a ledger can tell apart. */
const MAX_ROUNDS = 15;

/** What a ledger keeps beside an ID, in 13 bits. */
interface Note {
  /** The round in which the pass first met it; in which it last did; in which it last counted as proven to exist. */
  first: number;
  seen: number;
  counted: number;
  /** Neither stored nor listed before this pass. */
  newcomer: boolean;
}

const packed = (note: Note): number =>
  note.first | (note.seen << 4) | (note.counted << 8) | (Number(note.newcomer) << 12);

const unpacked = (tag: number): Note => ({
  first: tag & 15,
  seen: (tag >> 4) & 15,
  counted: (tag >> 8) & 15,
  newcomer: (tag & 0x1000) !== 0,
});

/** Counts what a pass has seen and says when it is proven complete. Memory: 10 bytes and some slack for each submission. */
export class ProofLedger {
  readonly #ids = new IdSet();
  readonly #oldestPlausible: string | null;
  #round = 0;
  #base: { total: number; keys: ReadonlySet<string>; newest: string | null } | undefined;
  #seen = 0;
  #counted = 0;
  #newcomers = 0;
  #baseNewest: string | null = null;

  /** `oldestPlausible`: canonical time before which a submission we never stored cannot be recent; null when we have no history. */
  constructor(oldestPlausible: string | null = null) {
    this.#oldestPlausible = oldestPlausible;
  }

  /** Starts a round. All responses before must have been given to {@link sight}; the base's own items come to it next. */
  begin(base: Base): void {
    if (this.#round >= MAX_ROUNDS) throw new RangeError(`a pass has at most ${MAX_ROUNDS} rounds`);
    this.#round++;
    [this.#seen, this.#counted, this.#newcomers] = [0, 0, 0];
    this.#baseNewest = newestOf(base.createdAts);
    this.#base = {
      total: base.total,
      keys: new Set(base.keys),
      newest: base.strict ? null : this.#baseNewest,
    };
  }

  /** Takes note of one item. True when the pass had not seen it before. */
  sight(item: Sighting): boolean {
    const first = this.#ids.add(item.key);
    const note = first
      ? { first: this.#round, seen: 0, counted: 0, newcomer: !item.existed }
      : unpacked(this.#ids.tag(item.key) ?? 0);
    if (note.seen !== this.#round || first) {
      note.seen = this.#round;
      this.#seen++;
      if (note.newcomer) this.#newcomers++;
    }
    if (note.counted !== this.#round && this.#existedAtBase(item, note)) {
      note.counted = this.#round;
      this.#counted++;
    }
    this.#ids.setTag(item.key, packed(note));
    return first;
  }

  #existedAtBase(item: Sighting, note: Note): boolean {
    return !note.newcomer || note.first < this.#round || this.#shownByBase(item);
  }

  #shownByBase(item: Sighting): boolean {
    const base = this.#base;
    if (base === undefined) return false;
    if (base.keys.has(item.key)) return true;
    if (base.newest === null || item.createdAt === null) return false;
    if (this.#oldestPlausible !== null && compareTimes(item.createdAt, this.#oldestPlausible) < 0) {
      return false;
    }
    return compareTimes(item.createdAt, base.newest) < 0;
  }

  /** How many more rounds this ledger can hold apart. */
  get roundsLeft(): number {
    return MAX_ROUNDS - this.#round;
  }

  /** True when everything that existed at the base has been seen since. */
  get proven(): boolean {
    return this.#base !== undefined && this.#counted === this.#base.total;
  }

  /**
   * Whether what was seen explains how `total` moved from the base to `total` now: every one more is a newcomer dated
   * after the base. Only then dates are trusted: an import of old dates leaves a newcomer that nobody saw arrive.
   */
  explains(total: number): boolean {
    return total - this.baseTotal === this.#seen - this.#counted;
  }

  /** How many submissions of the base are not accounted for yet; negative when the evidence contradicts itself. */
  get shortage(): number {
    return (this.#base?.total ?? 0) - this.#counted;
  }

  /** Distinct items seen since the base, whether or not they prove anything. */
  get seenInRound(): number {
    return this.#seen;
  }

  /** Of these the ones that were neither stored nor listed before this pass. */
  get newcomersInRound(): number {
    return this.#newcomers;
  }

  /** Distinct items seen in the whole pass. */
  get distinct(): number {
    return this.#ids.size;
  }

  /** True when the pass met this item and it was neither stored nor listed before. */
  isNewcomer(key: string): boolean {
    const tag = this.#ids.tag(key);
    return tag !== undefined && unpacked(tag).newcomer;
  }

  /** `total` of the present base. */
  get baseTotal(): number {
    return this.#base?.total ?? 0;
  }

  /**
   * How many submissions of the source are accounted for after a proof: those of the base, and those seen since that
   * may have been born after it. The next incremental pass counts from here.
   */
  get accounted(): number {
    return this.baseTotal + this.#seen - this.#counted;
  }

  /** Newest date that the base response showed: after a proof nothing up to it is unaccounted for, later ones may be. */
  get baseNewest(): string | null {
    return this.#baseNewest;
  }

  /** Whether the pass has seen this item. */
  has(key: string): boolean {
    return this.#ids.has(key);
  }
}

function laterOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return compareTimes(a, b) >= 0 ? a : b;
}

function newestOf(times: readonly (string | null)[]): string | null {
  return times.reduce(laterOf, null);
}

/** How a list is sorted by date, as one page of it shows. `unknown`: in no order, or too little to tell. */
export type PageOrder = 'descending' | 'ascending' | 'unknown';

/** Fewer steps than this in one direction may be chance, as among many items of one instant. */
const TELLING_STEPS = 5;

/** The order of a page's canonical times; broken ones are passed over. */
export function orderOf(createdAts: readonly (string | null)[]): PageOrder {
  const times = createdAts.filter((time) => time !== null);
  const steps = times.slice(1).map((time, index) => compareTimes(time, times[index] ?? time));
  const up = steps.filter((step) => step > 0).length;
  const down = steps.filter((step) => step < 0).length;
  if (down === 0 && up >= TELLING_STEPS) return 'ascending';
  return up === 0 && down >= TELLING_STEPS ? 'descending' : 'unknown';
}
