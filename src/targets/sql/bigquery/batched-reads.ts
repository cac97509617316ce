/** A reading that is about to be made. */
interface Batch<T> {
  readonly keys: Set<string>;
  isOfAll: boolean;
  readonly found: Promise<ReadonlyMap<string, T>>;
}

/** How a {@link BatchedReads} reads: what is not there is missing in the answer. */
export interface Reading<T> {
  /** All of these at once. */
  readonly some: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  /** All that there is. */
  readonly all: () => Promise<ReadonlyMap<string, T>>;
}

/**
 * Reads that are asked for at the same moment, made as one: for answers that are billed by the statement. What is asked for
 * while a reading is under way waits for the next one, so that nobody gets what was true before they asked.
 */
export class BatchedReads<T> {
  readonly #reading: Reading<T>;
  #next: Batch<T> | undefined;

  constructor(reading: Reading<T>) {
    this.#reading = reading;
  }

  /** One of them; undefined when it is not there. Rejects as the reading that it was part of. */
  async get(key: string): Promise<T | undefined> {
    const batch = this.#next ?? this.#begin();
    batch.keys.add(key);
    return (await batch.found).get(key);
  }

  /** All of them, with whatever is asked for one by one at the same moment. */
  async all(): Promise<ReadonlyMap<string, T>> {
    const batch = this.#next ?? this.#begin();
    batch.isOfAll = true;
    return batch.found;
  }

  #begin(): Batch<T> {
    const begun = new Promise<void>((go) => setImmediate(go));
    const batch: Batch<T> = {
      keys: new Set(),
      isOfAll: false,
      found: begun.then(() => {
        this.#next = undefined;
        return batch.isOfAll ? this.#reading.all() : this.#reading.some([...batch.keys]);
      }),
    };
    this.#next = batch;
    return batch;
  }
}
