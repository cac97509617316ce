import { fingerprint, HASH_FORMAT, keyFingerprint } from './cells.ts';
import { type FieldPicks, isHashed, isPicked, namesFor } from './picks.ts';
import type { FormIdentity, PickedField } from './types.ts';

/*
 * What the answers in a target were stored as: which fields, which of them hashed, in which format and under which key. A
 * checkpoint keeps it as a short text: fingerprints of the names in TARGET_FIELDS and TARGET_HASH_FIELDS, of the form's
 * picked and hashed fields, and of the key. A pass under other settings has to write every row again before the copy is
 * what was asked for.
 */

/** In what the settings differ from those that a checkpoint was proven for. */
export type SettingsChange = 'picks' | 'hashes' | 'key' | 'fields';

/** The settings of a target that decide what is stored of an answer. */
export interface StoringSettings {
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
}

const NONE = '0';

/** What the settings alone say of a form. Bare field IDs may be those of other forms. */
function settingsParts(form: FormIdentity, { picks }: StoringSettings): [string, string] {
  const hashed = namesFor(picks.hashed, form);
  return [fingerprint(namesFor(picks, form)), hashed.length === 0 ? NONE : fingerprint(hashed)];
}

/** What the form's own fields are: of those to be hashed none where nothing is. */
function fieldParts(
  form: FormIdentity,
  { picks, hashKey }: StoringSettings,
  fields: readonly FieldId[],
): [fields: string, hashed: string, key: string] {
  const ids = fields.map(({ id }) => id).filter((id) => isPicked(picks, form, id));
  const hashed = ids.filter((id) => isHashed(picks, form, id)).toSorted();
  const key = hashKey === undefined ? NONE : keyFingerprint(hashKey);
  return hashed.length === 0
    ? [fingerprint(ids.toSorted()), NONE, NONE]
    : [fingerprint(ids.toSorted()), `${HASH_FORMAT}-${fingerprint(hashed)}`, key];
}

type FieldId = Pick<PickedField, 'id'>;

/** As a checkpoint keeps it. `fields`: those that have been written, in any order. Holds no name, no answer and no key. */
export const provenFor = (
  form: FormIdentity,
  settings: StoringSettings,
  fields: readonly FieldId[],
): string => [...settingsParts(form, settings), ...fieldParts(form, settings, fields)].join('.');

/**
 * As {@link changesSince}, for who does not know all fields of the form. `filled`: those that hold something, picked or
 * not. A change of which fields are hashed counts where one of them is, or was, hashed.
 */
export function knownChangesSince(
  stored: string,
  form: FormIdentity,
  settings: StoringSettings,
  filled: readonly FieldId[],
): SettingsChange[] {
  const [picks, hashes] = settingsParts(form, settings);
  const [, hashed, key] = fieldParts(form, settings, filled);
  const [oldPicks, oldHashes, , oldHashed, oldKey] = stored.split('.');
  const isFormatOld = hashed.split('-')[0] !== oldHashed?.split('-')[0];
  const changes: SettingsChange[] = [];
  if (picks !== oldPicks) changes.push('picks');
  if (hashes !== oldHashes || isFormatOld) {
    if (hashed !== NONE || oldHashed !== NONE) changes.push('hashes');
  } else if (hashed !== NONE && key !== oldKey) changes.push('key');
  return changes;
}
