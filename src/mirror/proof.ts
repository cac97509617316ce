/*
 * Decides when a list proves that nothing was missed (docs/proof.md). Pure: pages go in, a verdict comes out.
 */

/** What a proof needs from a response. */
export interface Shown {
  /** In their order; twice if the list shows one twice. */
  readonly keys: readonly string[];
  /** How many submissions the list has, according to the response. */
  readonly total: number;
  /** All of them belong to the requested range. */
  readonly isWithin: boolean;
  /** The list ends here, according to the response. */
  readonly isLast: boolean;
}

/**
 * `proven`: everything was shown. `moved`: the list changed while it was read. `elsewhere`: it shows submissions outside the range.
 * `contradiction`: it did not change, but the number of submissions shown is not its total.
 */
export type Verdict = 'proven' | 'moved' | 'elsewhere' | 'contradiction';

/** One reading of a list from its first page to its last. */
export class Sweep {
  readonly seen = new Set<string>();
  /** How many submissions the pages showed; one that was shown twice counts twice. */
  shown = 0;
  /** How many the list has, according to its first response; null before it. */
  total: number | null = null;
  #pages = 0;
  #isSteady = true;
  #isWithin = true;
  #isComplete = false;

  add({ keys, total, isWithin, isLast }: Shown): void {
    this.total ??= total;
    if (total !== this.total) this.#isSteady = false;
    if (!isWithin) this.#isWithin = false;
    for (const key of keys) this.seen.add(key);
    this.#pages++;
    this.shown += keys.length;
    this.#isComplete = isLast;
  }

  /** A page after the first showed a submission that was not known before: it may have taken the place of another. */
  noteNewcomer(): void {
    this.#isSteady = false;
  }

  /** The verdict on all pages so far. */
  get verdict(): Verdict {
    if (!this.#isWithin) return 'elsewhere';
    if (!this.#isSteady || !this.#isComplete) return 'moved';
    // One response is a snapshot: an item shown twice there is counted once.
    const isOnce = this.#pages === 1 || this.shown === this.seen.size;
    if (isOnce && this.seen.size === this.total) return 'proven';
    return this.shown === this.total ? 'moved' : 'contradiction';
  }
}

/** A moment when the list reported its total. Every submission met before it and seen after it existed then. */
interface Base {
  readonly total: number;
  readonly metBefore: number;
  readonly since: Set<string>;
}

/** The number of bases to keep. More would cost memory and rarely help. */
const MOST_BASES = 32;

/**
 * The base argument, for a list that cannot be divided: a response reports `total`. If exactly that many distinct submissions, each
 * known to have existed at that moment, have been seen since, then all were seen. Every response is a base.
 */
export class BaseProof {
  readonly seen = new Set<string>();
  readonly #met = new Map<string, number>();
  #bases: Base[] = [];

  /** `known`: the submissions that were live in the target before. */
  constructor(known: Iterable<string>) {
    for (const key of known) this.#meet(key);
  }

  add({ keys, total }: Shown): void {
    for (const key of keys) {
      this.#meet(key);
      this.seen.add(key);
    }
    const metBefore = this.#met.size;
    // Until this many are known, no base can be complete; an earlier base with the same numbers has seen more.
    const isNew = !this.#bases.some((base) => base.total === total && base.metBefore === metBefore);
    if (metBefore >= total && isNew)
      this.#bases = [...this.#bases.slice(-MOST_BASES + 1), { total, metBefore, since: new Set() }];
    for (const base of this.#bases) {
      for (const key of keys)
        if ((this.#met.get(key) ?? Infinity) < base.metBefore) base.since.add(key);
    }
  }

  get isProven(): boolean {
    return this.#bases.some(({ total, since }) => since.size === total);
  }

  /** It grows as long as more reading may still prove the list. */
  get progress(): number {
    return this.#met.size + Math.max(0, ...this.#bases.map(({ since }) => since.size));
  }

  #meet(key: string): void {
    if (!this.#met.has(key)) this.#met.set(key, this.#met.size);
  }
}
