/** A typed event emitter. Emitting never throws: a listener's error goes to `onListenerError`. */
export class Events<EventMap extends Record<keyof EventMap, object>> {
  readonly #listeners = new Map<PropertyKey, ((event: never) => void)[]>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void = () => {}) {
    this.#onListenerError = onListenerError;
  }

  /** Subscribes for as long as this exists. */
  on<K extends keyof EventMap>(name: K, listener: (event: EventMap[K]) => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
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
