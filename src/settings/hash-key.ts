import { z } from 'zod';
import { isSequence } from '../base/common-password.ts';
import type { SettingsReader } from './settings-reader.ts';
import { SETTING_NAMES, settingOf, variableOf } from './settings-table.ts';

/** As many as a key of 24 random bytes has in base64, and half as many as one of 32 in hexadecimal digits. */
const MIN_LENGTH = 32;
/** A random key of {@link MIN_LENGTH} hexadecimal digits has fewer different ones once in ten million times. */
const MIN_DIFFERENT = 8;

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
  const weakness = key === undefined ? undefined : weaknessOfKey(key);
  if (weakness !== undefined) {
    reader.complain('HASH_KEY', `${weakness}, so the hashed answers can be guessed. ${REMEDY}`);
  }
  return key;
}

/** What makes a key one that can be guessed; undefined: nothing. Quotes nothing of it (L15). */
export function weaknessOfKey(key: string): string | undefined {
  if (SETTING_NAMES.some((name) => key.includes(settingOf(name).example) && isLong(name))) {
    return 'is the one of an example, which everybody knows';
  }
  if (key.length < MIN_LENGTH) return `is shorter than ${MIN_LENGTH} characters`;
  const repeats = (key + key).indexOf(key, 1) <= key.length / 2;
  if (repeats || new Set(key).size < MIN_DIFFERENT || isSequence(key)) {
    return 'repeats itself or counts up';
  }
  return undefined;
}

/** Examples such as `2` stand in any key. */
const isLong = (name: (typeof SETTING_NAMES)[number]): boolean =>
  settingOf(name).example.length >= 16;
