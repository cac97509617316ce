import { join } from 'node:path';
import { z } from 'zod';
import type { HistoryKind } from '../mirror/port.ts';
import { type FieldPicks, parsePicks } from '../mirror/picks.ts';
import { keepsHistory, parseTargetUrl, type TargetAddress } from '../targets/target-kinds.ts';
import { TargetUrlError } from '../targets/target-url-error.ts';
import { requireSafeTransport } from './plaintext.ts';
import type { SettingsReader } from './settings-reader.ts';
import { type SettingName, variableOf } from './settings-table.ts';
import { list, oneOf, quoted, secretOf } from './value-schemas.ts';

/** A target that forms are mirrored into. */
export interface TargetSettings {
  /** As TARGETS names it, in lower case; `default` when unnamed. */
  readonly name: string;
  readonly address: TargetAddress;
  /** Form IDs or slugs. */
  readonly forms: '*' | readonly string[];
  /** Undefined when TARGET_FIELDS is not set: then nothing may leave the source (L11). */
  readonly picks: FieldPicks | undefined;
  /** The history that it keeps, where it is a database. */
  readonly history: HistoryKind;
  /** The variables that they came from, to name when something about them is wrong. */
  readonly variables: {
    readonly url: string;
    readonly forms: string;
    readonly fields: string;
    readonly hashFields: string;
  };
}

const HISTORY_KINDS = ['status', 'full'] as const satisfies readonly HistoryKind[];

/** The name of the only target when TARGETS is not set. */
const DEFAULT_TARGET = 'default';

const TARGET_NAME = /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;

/** The names in TARGETS, or undefined when there is one target without a name. Complains about invalid names. */
export function readTargetNames(reader: SettingsReader): readonly string[] | undefined {
  const names = reader.read('TARGETS', list)?.map((name) => name.toLowerCase());
  if (names === undefined) return undefined;
  const seen = new Map<string, string>();
  for (const name of names) {
    const part = name.replaceAll('-', '_');
    const complaint = complaintAboutName(name, seen.get(part));
    if (complaint !== undefined) reader.complain('TARGETS', complaint);
    else seen.set(part, name);
  }
  return [...seen.values()];
}

function complaintAboutName(name: string, twin: string | undefined): string | undefined {
  if (!TARGET_NAME.test(name)) {
    return `names ${quoted(name)}: a name is letters, digits, - and _, begins with a letter, and has at most 40 characters`;
  }
  if (/(^|[-_])hash$/.test(name)) {
    return `names ${quoted(name)}: no name may end in "hash", or TARGET_…HASH_FIELDS would mean two things`;
  }
  if (twin !== undefined) return `names ${quoted(twin)} twice`;
  return undefined;
}

/** All targets. Complains about unknown addresses and two targets in one place. */
export function readTargets(
  reader: SettingsReader,
  names: readonly string[] | undefined,
  dataDir: string,
): TargetSettings[] {
  const targets = (names ?? [undefined]).map((name) => readTarget(reader, name, dataDir));
  complainAboutSharedPlaces(reader, targets, names);
  return targets;
}

function readTarget(
  reader: SettingsReader,
  name: string | undefined,
  dataDir: string,
): TargetSettings {
  const forms = reader.readWithDefault('TARGET_FORMS', list, name);
  const fields = reader.read('TARGET_FIELDS', fieldList, name);
  const hashed = reader.read('TARGET_HASH_FIELDS', fieldList, name);
  const variable = (setting: SettingName): string =>
    variableOf(setting, reader.sourceOf(setting, name));
  const address =
    reader.read('TARGET_URL', targetAddress, name) ??
    parseTargetUrl(`sqlite:${join(dataDir, 'mirror.sqlite')}`);
  const from = reader.sourceOf('TARGET_URL', name);
  requireSafeTransport(reader, address.transport, 'TARGET_URL', from);
  return {
    name: name ?? DEFAULT_TARGET,
    address,
    forms: forms.includes('*') ? '*' : forms,
    picks: fields && parsePicks(fields, hashed),
    history: reader.readWithDefault('TARGET_HISTORY', oneOf(HISTORY_KINDS), name),
    variables: {
      url: variable('TARGET_URL'),
      forms: variable('TARGET_FORMS'),
      fields: variable('TARGET_FIELDS'),
      hashFields: variable('TARGET_HASH_FIELDS'),
    },
  };
}

const fieldList = list.pipe(
  z.array(z.string()).superRefine((entries, context) => {
    const wrong = entries.find((entry) => entry.includes(':') && !/^[^:]+:.+$/.test(entry));
    if (wrong === undefined) return;
    const message = `holds ${quoted(wrong)}: write field IDs, <form>:* for a whole form, <form>:<field ID> for one field of it, or *`;
    context.addIssue({ code: 'custom', message });
  }),
);

/** What TARGET_URL takes. The value is not quoted: it may hold a password (L15). */
const targetAddress = z.string().transform((text, context): TargetAddress => {
  try {
    return parseTargetUrl(text);
  } catch (error) {
    if (!(error instanceof TargetUrlError)) throw error;
    context.addIssue({ code: 'custom', message: error.problem });
    return z.NEVER;
  }
});

function complainAboutSharedPlaces(
  reader: SettingsReader,
  targets: readonly TargetSettings[],
  names: readonly string[] | undefined,
): void {
  if (names === undefined) return;
  const places = new Map<string, string>();
  for (const { name, address } of targets) {
    const { place } = address;
    const twin = places.get(place);
    if (twin === undefined) places.set(place, name);
    else
      reader.complain(
        'TARGET_URL',
        `is the same place as that of target ${twin}: give each target its own`,
        name,
      );
  }
}

/** What to say of targets that are to keep every version of every row and can't. */
export const idleHistories = (targets: readonly TargetSettings[]): string[] =>
  targets
    .filter(({ address, history }) => history === 'full' && !keepsHistory(address.kind))
    .map(
      ({ name }) =>
        `TARGET_HISTORY=full does nothing for target ${name}: only a database keeps the versions of rows. In a spreadsheet there is Google's own version history.`,
    );

/** As many as a key of 24 random bytes has in base64, and as one of 16 in hexadecimal digits. */
const LEAST_HASH_KEY = 32;

/** The key of the hashes. Complains when a target hashes and there is none, and when there is one and no target hashes. */
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
  // Who has made a key wants hashes: under a name that is not read, say, the fields would be stored in plain.
  const areKnown = names !== undefined || !reader.isGiven('TARGETS');
  if (hashing.length === 0 && areKnown && isGiven) {
    const message = `is set, and no target hashes: name the fields in ${variableOf('TARGET_HASH_FIELDS')}, or remove this line`;
    reader.complain('HASH_KEY', message);
  }
  return reader.read('HASH_KEY', secretOf(LEAST_HASH_KEY, 'openssl rand -base64 32'));
}
