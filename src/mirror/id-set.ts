import { hash } from 'node:crypto';

const FIRST_CAPACITY = 1 << 10;
const MAX_LOAD = 0.6;

/** The highest tag an {@link IdSet} keeps beside an ID. */
export const MAX_TAG = 0xffff;

/**
 * A set of IDs in compact memory (L14): 8 bytes of a SHA-1 and 2 bytes of tag for each, not the string. Two IDs of a
 * million share their key with a probability of 1 in 37 million; then a pass counts one too few and finds no proof.
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
    if (this.#size >= this.#capacity * MAX_LOAD) this.#grow();
    const [high, low] = keyOf(id);
    const slot = this.#slot(high, low);
    if (this.#filled(slot)) return false;
    this.#keys[slot * 2] = high;
    this.#keys[slot * 2 + 1] = low;
    this.#size++;
    return true;
  }

  has(id: string): boolean {
    const [high, low] = keyOf(id);
    return this.#filled(this.#slot(high, low));
  }

  /** The tag last set for an ID; undefined when it is not in the set. */
  tag(id: string): number | undefined {
    const [high, low] = keyOf(id);
    const slot = this.#slot(high, low);
    return this.#filled(slot) ? this.#tags[slot] : undefined;
  }

  /** Sets the tag (0 to {@link MAX_TAG}) of an ID that is in the set; does nothing for another. */
  setTag(id: string, tag: number): void {
    const [high, low] = keyOf(id);
    const slot = this.#slot(high, low);
    if (this.#filled(slot)) this.#tags[slot] = tag;
  }

  #filled(slot: number): boolean {
    return this.#keys[slot * 2] !== 0 || this.#keys[slot * 2 + 1] !== 0;
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

function keyOf(id: string): [number, number] {
  const digest = hash('sha1', id, 'buffer');
  const low = digest.readUInt32LE(4);
  // Both halves zero means an empty slot.
  return [digest.readUInt32LE(0), low === 0 ? 1 : low];
}
