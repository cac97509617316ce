import { fingerprint, HASH_FORMAT, keyFingerprint } from './hashing.ts';
import { namesFor } from './picks.ts';
import type { StoringSettings } from './proven-for.ts';
import type { FormIdentity } from './types.ts';

/** Fingerprints of the settings that decide what of an answer is stored. */
export interface StoredUnder {
  readonly selection: string;
  readonly hashing: string;
}

export const isSameUnder = (a: StoredUnder | null, b: StoredUnder | null): boolean =>
  a?.selection === b?.selection && a?.hashing === b?.hashing;

/** What the settings say of a form. */
export function storedUnder(
  { picks, hashKey }: StoringSettings,
  form: Pick<FormIdentity, 'id' | 'slug'>,
): StoredUnder {
  const hashed = namesFor(picks.hashed, form);
  const key = hashKey === undefined || hashed.length === 0 ? '' : keyFingerprint(hashKey);
  return {
    selection: fingerprint(namesFor(picks, form)),
    hashing: fingerprint([...hashed, key, String(HASH_FORMAT)]),
  };
}
