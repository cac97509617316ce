import { join } from 'node:path';
import { z } from 'zod';
import { toMirrorError } from '../base/errors.ts';
import { type FieldPicks, parsePicks } from '../mirror/picks.ts';
import { describeTargetUrl } from '../targets/open-target.ts';
import type { SettingsReader } from './settings-reader.ts';
import { variableOf } from './settings-table.ts';
import { list, quoted } from './value-schemas.ts';

/** One place to mirror into. */
export interface TargetSettings {
  /** As TARGETS names it, in lower case; `default` when unnamed. */
  readonly name: string;
  /** May hold a password: never shown. */
  readonly url: string;
  /** Form IDs or slugs. */
  readonly forms: '*' | readonly string[];
  /** Undefined when TARGET_FIELDS is not set: then nothing may leave the source (L11). */
  readonly picks: FieldPicks | undefined;
  /** The variables to name when something about them is wrong. */
  readonly variables: { readonly url: string; readonly forms: string; readonly fields: string };
}

/** The name of the only target when TARGETS is not set. */
const DEFAULT_TARGET = 'default';

const TARGET_NAME = /^[a-z](?:[a-z0-9_-]{0,38}[a-z0-9])?$/;

/** The names in TARGETS, or undefined when there is one target without a name. Complains about names we cannot use. */
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

/** All targets. Complains about addresses we don't know, two targets in one place, and hashing without a key. */
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
  return {
    name: name ?? DEFAULT_TARGET,
    url:
      reader.read('TARGET_URL', targetAddress, name) ?? `sqlite:${join(dataDir, 'mirror.sqlite')}`,
    forms: forms.includes('*') ? '*' : forms,
    picks: fields && parsePicks(fields, hashed),
    variables: {
      url: variableOf('TARGET_URL', name),
      forms: variableOf('TARGET_FORMS', name),
      fields: variableOf('TARGET_FIELDS', name),
    },
  };
}

const fieldList = list.pipe(
  z.array(z.string()).superRefine((entries, context) => {
    const wrong = entries.find((entry) => entry.includes(':') && !/^[^:]+:\*$/.test(entry));
    if (wrong === undefined) return;
    const message = `holds ${quoted(wrong)}: write field IDs, <form>:* for a whole form, or *`;
    context.addIssue({ code: 'custom', message });
  }),
);

/** What TARGET_URL takes. The value is not quoted: it may hold a password (L15). */
const targetAddress = z.string().transform((text, context): string => {
  const wrong = complaintAboutTarget(text);
  if (wrong === undefined) return text;
  context.addIssue({ code: 'custom', message: wrong });
  return z.NEVER;
});

function complaintAboutTarget(text: string): string | undefined {
  const url = /^postgres/i.test(text) ? URL.parse(text) : null;
  // An unencoded # or / in a password ends the host too early; what follows it then holds the real @.
  if (url !== null && (url.hash !== '' || url.pathname.includes('@'))) return UNENCODED;
  try {
    describeTargetUrl(text);
    return undefined;
  } catch (error) {
    return toMirrorError(error)
      .message.replace(/^(TARGET_URL|The ([A-Z]\w+ )?target URL) /, '')
      .replace(/ Examples?: .*$/s, '')
      .replace(/\.$/, '');
  }
}

const UNENCODED =
  'is no address: special characters in a password must be percent-encoded (@ is %40, / is %2F, # is %23)';

function complainAboutSharedPlaces(
  reader: SettingsReader,
  targets: readonly TargetSettings[],
  names: readonly string[] | undefined,
): void {
  if (names === undefined) return;
  const places = new Map<string, string>();
  for (const { name, url } of targets) {
    const place = describedPlace(url);
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

/** Equal for two addresses of one place, whatever user comes to it. */
function describedPlace(url: string): string {
  const { address } = describeTargetUrl(url);
  const parsed = URL.parse(address.replace(/^postgresql:/, 'postgres:'));
  if (parsed?.protocol !== 'postgres:') return address;
  parsed.username = '';
  if (parsed.port === '5432') parsed.port = '';
  return parsed.href.toLowerCase();
}

/** Shorter keys of a hash can be found by trial. */
const GOOD_KEY_LENGTH = 16;

/** The key of the hashes. Complains when a target hashes and there is none. */
export function readHashKey(
  reader: SettingsReader,
  names: readonly string[] | undefined,
  warnings: string[],
): string | undefined {
  const key = reader.read('HASH_KEY', z.string());
  const hashing = [undefined, ...(names ?? [])].find((name) =>
    reader.isGiven('TARGET_HASH_FIELDS', name),
  );
  const asked = reader.isGiven('TARGET_HASH_FIELDS') || hashing !== undefined;
  if (asked && !reader.isGiven('HASH_KEY')) {
    reader.complain(
      'HASH_KEY',
      `is missing: ${variableOf('TARGET_HASH_FIELDS', hashing)} needs it`,
    );
  }
  if (key !== undefined && key.length < GOOD_KEY_LENGTH) {
    warnings.push(
      `HASH_KEY is short: with fewer than ${GOOD_KEY_LENGTH} characters the hashed answers can be guessed. Make one with: openssl rand -hex 32`,
    );
  }
  return key;
}
