/** A typed event emitter. Emitting never throws: a listener's error goes to `onListenerError`. */
export class Events<EventMap extends Record<keyof EventMap, object>> {
  readonly #listeners = new Map<PropertyKey, Set<(event: never) => void>>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void = () => {}) {
    this.#onListenerError = onListenerError;
  }

  /** Subscribes; the returned function unsubscribes. */
  on<K extends keyof EventMap>(name: K, listener: (event: EventMap[K]) => void): () => void {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Calls every listener in turn, synchronously. */
  emit<K extends keyof EventMap>(name: K, event: EventMap[K]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as (event: EventMap[K]) => void)(event);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }
}
