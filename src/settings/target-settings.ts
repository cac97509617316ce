import { join } from 'node:path';
import type { HistoryKind } from '../mirror/port.ts';
import { parseSelection } from '../mirror/selection.ts';
import type { NamingSettings } from '../sync/names.ts';
import { parseTargetUrl, type TargetAddress } from '../targets/target-kinds.ts';
import { requireSafeTransport } from './service-settings.ts';
import type { SettingsReader } from './settings-reader.ts';
import { type SettingName, variableOf } from './settings-table.ts';

/** A target into which forms are mirrored. */
export interface TargetSettings extends NamingSettings {
  readonly address: TargetAddress;
  /** The history that it keeps, if it is a database. */
  readonly history: HistoryKind;
}

/**
 * All targets. `names`: undefined if there is one target without a name. Complains about two targets in one place, and, if fields
 * are required, about a target without them.
 */
export function readTargets(
  reader: SettingsReader,
  names: readonly string[] | undefined,
  dataDir: string,
  needsFields: true | string | undefined,
): TargetSettings[] {
  const places = new Map<string, string>();
  const targets = (names ?? [undefined]).map((name) => {
    const target = readTarget(reader, name, dataDir);
    const isMeant = needsFields === true || needsFields === target.name;
    if (isMeant && !reader.isGiven('TARGET_FIELDS', reader.sourceOf('TARGET_FIELDS', name)))
      reader.complain('TARGET_FIELDS', NO_FIELDS, name);
    const { place } = target.address;
    const twin = places.get(place);
    places.set(place, target.name);
    if (twin !== undefined) {
      const problem = `is the same place as that of target ${twin}: give each target its own`;
      reader.complain('TARGET_URL', problem, name);
    }
    return target;
  });
  return targets;
}

const NO_FIELDS =
  'is missing: only fields that you select leave the source. forms-mirror forms lists the forms, forms-mirror forms <form> the fields of one; * selects all of them';

function readTarget(
  reader: SettingsReader,
  name: string | undefined,
  dataDir: string,
): TargetSettings {
  const forms = reader.read('TARGET_FORMS', name);
  const fields = reader.read('TARGET_FIELDS', name);
  const hashed = reader.read('TARGET_HASH_FIELDS', name);
  const variable = (setting: SettingName): string =>
    variableOf(setting, reader.sourceOf(setting, name));
  const address =
    reader.read('TARGET_URL', name) ?? parseTargetUrl(`sqlite:${join(dataDir, 'mirror.sqlite')}`);
  const from = reader.sourceOf('TARGET_URL', name);
  requireSafeTransport(reader, address.transport, 'TARGET_URL', from);
  return {
    name: name ?? 'default',
    address,
    forms: forms.includes('*') ? '*' : forms,
    selection: fields && parseSelection(fields, hashed),
    history: reader.read('TARGET_HISTORY', name),
    variables: {
      forms: variable('TARGET_FORMS'),
      fields: variable('TARGET_FIELDS'),
      hashFields: variable('TARGET_HASH_FIELDS'),
    },
  };
}

/** The key of the hashes. Complains if a target hashes and there is none, and if there is one and no target hashes. */
export function readHashKey(
  reader: SettingsReader,
  names: readonly string[] | undefined,
): string | undefined {
  const hashing = [undefined, ...(names ?? [])].filter((name) =>
    reader.isGiven('TARGET_HASH_FIELDS', name),
  );
  const isGiven = reader.isGiven('HASH_KEY');
  if (hashing.length > 0 && !isGiven) {
    const needing = variableOf('TARGET_HASH_FIELDS', hashing[0]);
    const remedy = 'Make one with: openssl rand -base64 32';
    reader.complain('HASH_KEY', `is missing: ${needing} needs it. ${remedy}`);
  }
  // A key shows that someone wants hashes. If the name of the fields' setting were misspelled, they would be stored in plain text.
  const areKnown = names !== undefined || !reader.isGiven('TARGETS');
  if (hashing.length === 0 && areKnown && isGiven) {
    const message = `is set, and no target hashes: name the fields in ${variableOf('TARGET_HASH_FIELDS')}, or remove this line`;
    reader.complain('HASH_KEY', message);
  }
  return reader.read('HASH_KEY');
}
