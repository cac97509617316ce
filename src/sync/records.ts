import type { Store } from '../mirror/port.ts';

const MOST_TRIES = 5;

/** Changes a record of a target that several processes may change: `apply` returns the same value where nothing is to change. */
export async function changeRecord<T>(
  store: Store,
  key: string,
  none: T,
  apply: (before: T) => T,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const record = await store.record(key);
    const before = (record?.value ?? none) as T;
    const after = apply(before);
    if (after === before || (await store.putRecord(key, after, record?.revision ?? null)))
      return after;
    if (tries === MOST_TRIES)
      throw new Error(`other processes keep changing the record ${key} of the target`);
  }
}

/** A record of a target, or `none`. */
export const readRecord = async <T>(store: Store, key: string, none: T): Promise<T> =>
  ((await store.record(key))?.value ?? none) as T;
