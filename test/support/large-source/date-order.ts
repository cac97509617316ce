/** When a submission was made, by its index. */
export type MadeAt = (index: number) => number;

/** Indexes of submissions, oldest first: four bytes each. Those of one instant are in the order of their indexes. */
export class DateOrder {
  #indexes: Uint32Array;
  #length = 0;
  readonly #madeAt: MadeAt;

  constructor(madeAt: MadeAt, capacity = 16) {
    this.#madeAt = madeAt;
    this.#indexes = new Uint32Array(Math.max(16, capacity));
  }

  get length(): number {
    return this.#length;
  }

  /** The index at a place from 0; -1 beyond the end. */
  at(place: number): number {
    return place < this.#length ? (this.#indexes[place] ?? -1) : -1;
  }

  add(index: number): void {
    if (this.#length === this.#indexes.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#indexes);
      this.#indexes = larger;
    }
    const place = this.#placeOf(index);
    this.#indexes.copyWithin(place + 1, place, this.#length);
    this.#indexes[place] = index;
    this.#length++;
  }

  remove(index: number): void {
    const place = this.#placeOf(index);
    if (this.at(place) !== index) throw new Error(`${index} is not in the list`);
    this.#indexes.copyWithin(place, place + 1, this.#length);
    this.#length--;
  }

  /** How many were made before an instant. */
  countBefore(instantMs: number): number {
    return this.#search((index) => this.#madeAt(index) < instantMs);
  }

  #placeOf(index: number): number {
    const atMs = this.#madeAt(index);
    const newest = this.at(this.#length - 1);
    // As a rule the new one is the newest.
    if (newest === -1 || this.#madeAt(newest) < atMs) return this.#length;
    return this.#search((other) => {
      const otherMs = this.#madeAt(other);
      return otherMs < atMs || (otherMs === atMs && other < index);
    });
  }

  /** How many at the beginning of the list are so; those that are come first. */
  #search(isBefore: (index: number) => boolean): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#indexes[middle] ?? 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
