/** A stream of numbers that a seed determines, for sample data and traffic. Not for secrets. */
export class Random {
  #state: number;

  constructor(...seeds: readonly (number | string)[]) {
    this.#state = hashSeeds(seeds);
  }

  /** The next number, in [0, 1). (mulberry32, public domain, by Tommy Ettinger.) */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number in [min, max], both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the items; throws RangeError if there are none. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new RangeError('pick() from an empty list');
    return item;
  }

  /** A word of this many characters of a–z and 0–9. */
  word(length: number): string {
    let text = '';
    while (text.length < length) text += Math.floor(this.next() * 36).toString(36);
    return text;
  }
}

/** 32 bits that depend on every character of every seed (FNV-1a with a final mix). */
function hashSeeds(seeds: readonly (number | string)[]): number {
  let hash = 0x811c9dc5;
  for (const seed of seeds) {
    for (const char of `${seed}|`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}
