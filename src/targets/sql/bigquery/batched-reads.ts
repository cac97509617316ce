/** A reading that is about to be made. */
interface Batch<T> {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlyMap<string, T>>;
}

/**
 * Reads that are asked for at the same moment, made as one: for answers that are billed by the statement. What is asked for
 * while a reading is under way waits for the next one, so that nobody gets what was true before they asked.
 */
export class BatchedReads<T> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  #next: Batch<T> | undefined;

  /** `read`: reads all of these at once; what is not there is missing in its answer. */
  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#read = read;
  }

  /** One of them; undefined when it is not there. Rejects as the reading that it was part of. */
  async get(key: string): Promise<T | undefined> {
    const batch = this.#next ?? this.#begin();
    batch.keys.add(key);
    return (await batch.found).get(key);
  }

  #begin(): Batch<T> {
    const keys = new Set<string>();
    const found = new Promise<void>((go) => setImmediate(go)).then(() => {
      this.#next = undefined;
      return this.#read([...keys]);
    });
    const batch = { keys, found };
    this.#next = batch;
    return batch;
  }
}
