import { looksLikeKey } from '../base/key-like.ts';
import { SETTING_NAMES, type SettingName, settingOf, variableOf } from './settings-table.ts';
import type { ReadFile, Variable } from './variables.ts';

/** A shorter secret may well be a word that is meant: `true`, `redis`. */
const LEAST_LENGTH = 6;
/** A shorter one may well be a part of something else. */
const LEAST_PART = 8;
/** The same where the value is wrong anyway, and only has to be hidden. */
const LEAST_HIDDEN_PART = 4;

/** Names of forms and fields: an ID may be as random as a key. A name that matches nothing is hidden in messages. */
const OF_IDS: ReadonlySet<SettingName> = new Set([
  'TARGET_FORMS',
  'TARGET_FIELDS',
  'TARGET_HASH_FIELDS',
]);

interface Secret {
  readonly setting: SettingName;
  readonly variable: string;
  readonly text: string;
}

/**
 * Decides what of the settings may be shown (L15): people paste a key into the wrong line, and any value of a setting may come
 * into a message, a log or a page. A value that may be a secret is refused where it is not meant to be one, before anything
 * reads it.
 */
export class Secrets {
  readonly #secrets: readonly Secret[];

  /** `readFile` reads the files that `X_FILE` names; an unreadable file is no secret, and is reported elsewhere. */
  constructor(variables: ReadonlyMap<string, Variable>, readFile: ReadFile) {
    this.#secrets = [...variables].flatMap(([variable, { value }]) => {
      const plain = variable.replace(/_FILE$/, '');
      const setting = secretSetting(plain);
      if (setting === undefined) return [];
      const text = plain === variable ? value : contentOf(value, readFile);
      return text === '' ? [] : [{ setting, variable: plain, text }];
    });
  }

  /**
   * The mistake in the value of a setting, in words for people; goes on after its name. Undefined: nothing. `complaint`:
   * the message of its schema, which may quote it; undefined where it is valid.
   */
  complaintAbout(
    name: SettingName,
    variable: string,
    text: string,
    complaint: string | undefined,
  ): string | undefined {
    const other = this.#secrets.find(
      (secret) => secret.variable !== variable && isMisplaced(secret, name, text),
    );
    if (other !== undefined) {
      return `holds the value of ${other.variable}, which belongs nowhere else`;
    }
    if (settingOf(name).secret) return complaint;
    if (complaint !== undefined) {
      return complaint.includes('"') && this.#mayBeSecret(text) ? HIDDEN : complaint;
    }
    return looksLikeKey(text) && !OF_IDS.has(name) ? HIDDEN : undefined;
  }

  #mayBeSecret(text: string): boolean {
    const parts = this.#secrets.flatMap(({ text: secret }) => [secret, ...passwordsIn(secret)]);
    const isIn = parts.some((part) => part === text || holds(text, part, LEAST_HIDDEN_PART));
    return isIn || looksLikeKey(text);
  }
}

const HIDDEN = 'holds what looks like a key or a password, and so is not shown';

/** The setting whose secret a variable holds, that of a named target included. */
function secretSetting(variable: string): SettingName | undefined {
  const target = /^TARGET_(.+)_URL$/.exec(variable)?.[1]?.toLowerCase();
  return SETTING_NAMES.find(
    (name) =>
      settingOf(name).secret && (name === variable || variableOf(name, target) === variable),
  );
}

function contentOf(path: string, readFile: ReadFile): string {
  try {
    return readFile(path).trim();
  } catch {
    return '';
  }
}

/** A key is misplaced anywhere; another secret may be a word in a path. */
function isMisplaced({ setting, text: secret }: Secret, name: SettingName, text: string): boolean {
  const isKey = setting === 'FORMS_API_KEY';
  // Two passwords may be the same, and neither is ever shown.
  if (settingOf(name).secret) return isKey && holds(text, secret, LEAST_PART);
  if (text === secret) return secret.length >= LEAST_LENGTH;
  return (isKey || looksLikeKey(secret)) && holds(text, secret, LEAST_PART);
}

const holds = (text: string, part: string, least: number): boolean =>
  part.length >= least && text.toLowerCase().includes(part.toLowerCase());

/** The password in an address, as written and decoded. */
function passwordsIn(secret: string): string[] {
  const password = URL.parse(secret)?.password ?? '';
  if (password === '') return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
