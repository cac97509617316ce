import { getRandomValues, hash } from 'node:crypto';

const FIRST_CAPACITY = 1 << 10;
const MAX_LOAD = 0.6;

/** The highest tag an {@link IdSet} keeps beside an ID. */
export const MAX_TAG = 0xffff;

/**
 * A set of IDs in compact memory (L14): a hash of 8 bytes and 2 bytes of tag for each, not the string. Two IDs of a
 * million share their hash with a probability of 1 in 37 million, whoever chose them (see {@link takeKey}); then a pass counts
 * one too few and finds no proof.
 */
export class IdSet {
  #capacity = FIRST_CAPACITY;
  #keys = new Uint32Array(FIRST_CAPACITY * 2);
  #tags = new Uint16Array(FIRST_CAPACITY);
  #size = 0;

  /** How many distinct IDs were added. */
  get size(): number {
    return this.#size;
  }

  /** Adds an ID with tag 0 unless it is there already. True when it is new. */
  add(id: string): boolean {
    const before = this.#size;
    this.enter(id);
    return this.#size > before;
  }

  /** Adds an ID unless it is there already; its place, which {@link tagAt} and {@link setTagAt} take until another one is added. */
  enter(id: string): number {
    if (this.#size >= this.#capacity * MAX_LOAD) this.#grow();
    const slot = this.#slotOf(id);
    if (this.#filled(slot)) return slot;
    this.#keys[slot * 2] = key[0] ?? 0;
    this.#keys[slot * 2 + 1] = key[1] ?? 0;
    this.#size++;
    return slot;
  }

  has(id: string): boolean {
    return this.#filled(this.#slotOf(id));
  }

  /** The tag last set for an ID; undefined when it is not in the set. */
  tag(id: string): number | undefined {
    const slot = this.#slotOf(id);
    return this.#filled(slot) ? this.#tags[slot] : undefined;
  }

  /** The tag at a place, and what replaces it (0 to {@link MAX_TAG}): several questions about one ID for the price of one. */
  tagAt(place: number): number {
    return this.#tags[place] ?? 0;
  }

  setTagAt(place: number, tag: number): void {
    this.#tags[place] = tag;
  }

  #filled(slot: number): boolean {
    return this.#keys[slot * 2] !== 0 || this.#keys[slot * 2 + 1] !== 0;
  }

  /** The slot of an ID, whose key is in {@link key} then. */
  #slotOf(id: string): number {
    takeKey(id);
    return this.#slot(key[0] ?? 0, key[1] ?? 0);
  }

  /** The slot of this key, or the empty one where it belongs (linear probing; capacity is a power of two). */
  #slot(high: number, low: number): number {
    let slot = low & (this.#capacity - 1);
    while (
      this.#filled(slot) &&
      (this.#keys[slot * 2] !== high || this.#keys[slot * 2 + 1] !== low)
    ) {
      slot = (slot + 1) & (this.#capacity - 1);
    }
    return slot;
  }

  #grow(): void {
    const [keys, tags, capacity] = [this.#keys, this.#tags, this.#capacity];
    this.#capacity = capacity * 2;
    this.#keys = new Uint32Array(this.#capacity * 2);
    this.#tags = new Uint16Array(this.#capacity);
    for (let old = 0; old < capacity; old++) {
      const [high = 0, low = 0] = [keys[old * 2], keys[old * 2 + 1]];
      if (high === 0 && low === 0) continue;
      const slot = this.#slot(high, low);
      this.#keys[slot * 2] = high;
      this.#keys[slot * 2 + 1] = low;
      this.#tags[slot] = tags[old] ?? 0;
    }
  }
}

/** Longer IDs are hashed as their SHA-256: no source has them. */
const MAX_PLAIN = 512;
const DIGEST_LENGTH = 64;
/** The largest prime below 2^32, and what 2^32 leaves when divided by it. */
const PRIME = 4_294_967_291;
const REST = 5;
/** So many products of a random number below 2^32 and a character, of 17 bits at most, stay below 2^53. */
const BLOCK = 15;

/** For each place of a character two numbers below {@link PRIME}, drawn once for the process. */
const factors = [drawn(), drawn()] as const;

/**
 * Two sums of the characters, each multiplied by a secret random number for its place, modulo a prime. Any two texts have the
 * same pair with a probability of 1 in 2^64 over the draw of those numbers (multilinear hashing; Carter and Wegman,
 * "Universal classes of hash functions", 1979). So not even a source that chooses its IDs on purpose can make two of them
 * collide, as it could with eight bytes of a hash without a secret; and it costs a fraction of a SHA-1.
 */
function takeKey(id: string): void {
  if (id.length > MAX_PLAIN) takeSums(hash('sha256', id), MAX_PLAIN);
  else takeSums(id, 0);
}

/** The two halves of the key that was last taken. A pair for each would be more than all else that a set allocates. */
const key = new Uint32Array(2);

/** `from`: the place of the first character; a digest is no ID, so it has places of its own. */
function takeSums(text: string, from: number): void {
  const [highs, lows] = factors;
  let [high, low] = [0, 0];
  for (let start = 0; start < text.length; start += BLOCK) {
    const end = Math.min(start + BLOCK, text.length);
    for (let at = start; at < end; at++) {
      // One more than the character: what is shorter differs from what goes on with U+0000.
      const character = text.charCodeAt(at) + 1;
      high += character * (highs[from + at] ?? 0);
      low += character * (lows[from + at] ?? 0);
    }
    high = reduced(high);
    low = reduced(low);
  }
  key[0] = high;
  // Both halves zero means an empty slot.
  key[1] = low === 0 ? 1 : low;
}

/** The rest of a whole number below 2^53 when divided by {@link PRIME}; `%` takes several times longer. */
function reduced(sum: number): number {
  const highest = Math.floor(sum / 2 ** 32);
  const rest = sum - highest * 2 ** 32 + highest * REST;
  return rest >= PRIME ? rest - PRIME : rest;
}

function drawn(): Float64Array {
  const numbers = new Uint32Array(MAX_PLAIN + DIGEST_LENGTH);
  getRandomValues(numbers);
  return Float64Array.from(numbers, (number) => number % PRIME);
}
