import { z } from 'zod';
import type { SettingsReader } from './settings-reader.ts';
import { variableOf } from './settings-table.ts';

/** As many as a key of 24 random bytes has in base64, and half as many as one of 32 in hexadecimal digits. */
const MIN_LENGTH = 32;

const REMEDY = 'Make one with: openssl rand -base64 32';

/**
 * The key of the hashes. Complains when a target hashes and there is none, when there is one and no target hashes, and about
 * one that can be guessed.
 */
export function readHashKey(
  reader: SettingsReader,
  names: readonly string[] | undefined,
): string | undefined {
  const key = reader.read('HASH_KEY', z.string());
  const hashing = [undefined, ...(names ?? [])].find((name) =>
    reader.isGiven('TARGET_HASH_FIELDS', name),
  );
  const asked = reader.isGiven('TARGET_HASH_FIELDS') || hashing !== undefined;
  if (asked && !reader.isGiven('HASH_KEY')) {
    const needing = variableOf('TARGET_HASH_FIELDS', hashing);
    reader.complain('HASH_KEY', `is missing: ${needing} needs it. ${REMEDY}`);
  }
  // Whoever has made a key wants hashes: under a name that is not read, say, the fields would be stored in plain.
  const areKnown = names !== undefined || !reader.isGiven('TARGETS');
  if (!asked && areKnown && reader.isGiven('HASH_KEY')) {
    const message = `is set, and no target hashes: name the fields in ${variableOf('TARGET_HASH_FIELDS')}, or remove this line`;
    reader.complain('HASH_KEY', message);
  }
  if (key !== undefined && key.length < MIN_LENGTH) {
    const message = `is shorter than ${MIN_LENGTH} characters, so the hashed answers can be guessed. ${REMEDY}`;
    reader.complain('HASH_KEY', message);
  }
  return key;
}
