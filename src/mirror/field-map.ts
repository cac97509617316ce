/** The order of fields in the {@link FieldMap}s that share this order. Fields can be added; each keeps its place. */
export class FieldOrder {
  readonly #ids: string[] = [];
  readonly #places = new Map<string, number>();

  constructor(ids: Iterable<string> = []) {
    for (const id of ids) this.place(id);
  }

  /** In their order. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The place of a field; undefined when it has none. */
  find(id: string): number | undefined {
    return this.#places.get(id);
  }

  /**
   * The place of a field, the next one for a new field. `guess` is tried first, because fields mostly come in the
   * same order.
   */
  place(id: string, guess = -1): number {
    if (guess >= 0 && this.#ids[guess] === id) return guess;
    const found = this.#places.get(id);
    if (found !== undefined) return found;
    this.#places.set(id, this.#ids.length);
    return this.#ids.push(id) - 1;
  }
}

/** The part of a map by field ID that is needed. */
export type FieldValues<V> = Pick<
  ReadonlyMap<string, V>,
  'get' | 'keys' | 'size' | typeof Symbol.iterator
>;

/**
 * Values by field ID, in an array whose order many maps share: several times cheaper than a Map for each submission. As a
 * map it is in that order.
 */
export class FieldMap<V> implements FieldValues<V> {
  readonly order: FieldOrder;
  /** The values in the order of the fields; undefined, or past the end, for a field without a value. */
  readonly slots: readonly (V | undefined)[];

  constructor(order: FieldOrder, slots: readonly (V | undefined)[]) {
    this.order = order;
    this.slots = slots;
  }

  get size(): number {
    return this.#present().length;
  }

  get(id: string): V | undefined {
    const place = this.order.find(id);
    return place === undefined ? undefined : this.slots[place];
  }

  keys(): MapIterator<string> {
    return this.#present()
      .map(([id]) => id)
      .values();
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.#present().values();
  }

  /** An array at once: a generator takes several times longer. */
  #present(): [string, V][] {
    const { ids } = this.order;
    const present: [string, V][] = [];
    for (let place = 0; place < this.slots.length; place++) {
      const [id, value] = [ids[place], this.slots[place]];
      if (id !== undefined && value !== undefined) present.push([id, value]);
    }
    return present;
  }
}

/** See {@link readerOf}. */
export type FieldReader = <V>(map: FieldValues<V>) => readonly (V | undefined)[];

/**
 * Reads the values of maps in the order of `ids`. For {@link FieldMap}s that share an order, it looks up the places
 * once, and returns the map's own array if it has exactly these fields.
 */
export function readerOf(ids: readonly string[]): FieldReader {
  let known: FieldOrder | undefined;
  let size = 0;
  let places: number[] = [];
  let isSame = false;
  return (map) => {
    if (!(map instanceof FieldMap)) return ids.map((id) => map.get(id));
    const { order, slots } = map;
    if (order !== known || order.ids.length !== size) {
      [known, size] = [order, order.ids.length];
      places = ids.map((id) => order.find(id) ?? -1);
      isSame = places.every((place, at) => place === at);
    }
    if (isSame && slots.length === ids.length) return slots;
    const values = [];
    for (const place of places) {
      values.push(place >= 0 && place < slots.length ? slots[place] : undefined);
    }
    return values;
  };
}
