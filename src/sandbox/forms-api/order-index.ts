/** Compares two submission indexes; never 0 for two different ones. */
export type IndexOrder = (left: number, right: number) => number;

/** Submission indexes kept in one order: four bytes each, a place is found by binary search. */
export class OrderIndex {
  #items: Uint32Array;
  #length: number;
  readonly #order: IndexOrder;

  /** Takes over `items`, which may be in any order. */
  constructor(items: Uint32Array, order: IndexOrder) {
    this.#items = items;
    this.#length = items.length;
    this.#order = order;
    if (!this.#isSorted()) items.sort(order);
  }

  /** Number of indexes. */
  get length(): number {
    return this.#length;
  }

  /** All of them, in order. A view of the present state: use it before the next change. */
  items(): Uint32Array {
    return this.#items.subarray(0, this.#length);
  }

  /** Puts one in its place. */
  insert(index: number): void {
    const place = this.#placeOf(index);
    if (this.#length === this.#items.length) this.#grow();
    this.#items.copyWithin(place + 1, place, this.#length);
    this.#items[place] = index;
    this.#length++;
  }

  /** Takes one out; no effect when it isn't there. */
  remove(index: number): void {
    const place = this.#placeOf(index);
    if (place >= this.#length || this.#items[place] !== index) return;
    this.#items.copyWithin(place, place + 1, this.#length);
    this.#length--;
  }

  /** The first place whose item does not come before `index`. */
  #placeOf(index: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#order(this.#items[middle] ?? 0, index) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(): void {
    const larger = new Uint32Array(Math.max(64, this.#items.length * 1.5));
    larger.set(this.#items);
    this.#items = larger;
  }

  #isSorted(): boolean {
    for (let place = 1; place < this.#length; place++) {
      if (this.#order(this.#items[place - 1] ?? 0, this.#items[place] ?? 0) > 0) return false;
    }
    return true;
  }
}
