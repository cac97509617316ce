import { closest, distance } from 'fastest-levenshtein';
import type { SettingMistake } from '../base/errors.ts';
import type { Variable } from './settings-reader.ts';
import {
  exampleLine,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  variableOf,
} from './settings-table.ts';

/** Prefixes that only this program uses: any unknown name with one is a mistake. */
const OUR_PREFIXES = /^(?:FORMS_API|TARGET|SYNC|MARK|SHEETS|RECONCILE)_/;

/** Docker Compose reads the same `.env`, and passes it to every container. */
const OF_CONTAINERS = /^(?:(?:COMPOSE|DOCKER|NODE|POSTGRES|MYSQL|MARIADB|REDIS|LC)_\w+|LANG|TZ)$/;

/** More typing mistakes than this make another name. */
const MOST_SLIPS = 2;

/** A name with one typing mistake for so many letters hardly belongs to another program. */
const LETTERS_PER_SLIP = 10;

/**
 * Variables that are not settings but were meant as one: any with our own prefixes, any in `.env`, and elsewhere one that is close to
 * a long name of ours. Values are never read.
 */
export function misspeltVariables(
  variables: ReadonlyMap<string, Variable>,
  targets: readonly string[],
): SettingMistake[] {
  const known = knownVariables(targets);
  return [...variables].flatMap(([name, { ours }]): SettingMistake[] => {
    if (known.has(name)) return [];
    const near = closest(name.toUpperCase(), [...known.keys()]);
    const slips = distance(name.toUpperCase(), near);
    const isOurs = OUR_PREFIXES.test(name) || (ours && !OF_CONTAINERS.test(name));
    if (!isOurs && slips > near.length / LETTERS_PER_SLIP) return [];
    const isTargets = name.startsWith('TARGET_');
    const what = `is not a setting${isTargets ? ', nor one of a target in TARGETS' : ''}`;
    const setting = slips > MOST_SLIPS ? undefined : known.get(near);
    if (setting !== undefined) {
      const message = `${what}: did you mean ${near}?`;
      return [{ variable: name, message, example: exampleLine(setting, near) }];
    }
    if (!/^[A-Z0-9_]+$/.test(name)) return [NO_NAME];
    const message = `${what}: correct the name, or remove this line`;
    const example = isTargets ? exampleLine('TARGETS', 'TARGETS') : `#${name}=`;
    return [{ variable: name, message, example }];
  });
}

/** A line of `.env` that someone pasted: it may be a key, so it is not shown (L15). */
const NO_NAME: SettingMistake = {
  variable: '.env',
  message: 'holds a line that does not begin with the name of a setting: correct or remove it',
  example: exampleLine('FORMS_API_URL', 'FORMS_API_URL'),
};

/** Every variable that is read, and its setting. */
function knownVariables(targets: readonly string[]): Map<string, SettingName> {
  const known = new Map<string, SettingName>();
  for (const setting of SETTING_NAMES) {
    for (const target of [undefined, ...targets]) {
      const variable = variableOf(setting, target);
      known.set(variable, setting);
      if (settingOf(setting).secret) known.set(`${variable}_FILE`, setting);
    }
  }
  return known;
}
