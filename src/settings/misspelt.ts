import { distance } from 'fastest-levenshtein';
import type { SettingMistake } from '../base/errors.ts';
import { looksLikeKey } from '../base/key-like.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { Variable } from './settings-reader.ts';
import {
  exampleLine,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  variableOf,
} from './settings-table.ts';

/** Prefixes that only this program uses: any unknown name with one is a mistake. */
const OUR_PREFIXES = /^(?:FORMS_API|TARGET|SYNC|MARK|SHEETS|RECONCILE)_/i;

/** Names of other programs that resemble ours. */
const OF_OTHERS = /^(?:TARGET|DATADIR|LOGLEVEL|LOG_LEVELS)$/i;

/** Docker Compose reads the same `.env`, and passes it to every container. */
const OF_CONTAINERS = /^(?:(?:COMPOSE|DOCKER|NODE|POSTGRES|MYSQL|MARIADB|REDIS|LC)_\w+|LANG|TZ)$/;

/**
 * Variables that are not settings but were meant as one: any with our own prefixes, any in `.env`, and elsewhere one so close to a
 * long name of ours that it hardly belongs to another program. Values are never read.
 */
export function misspeltVariables(
  variables: ReadonlyMap<string, Variable>,
  targets: readonly string[],
): SettingMistake[] {
  const known = knownVariables(targets);
  return [...variables].flatMap(([name, { ours }]): SettingMistake[] => {
    const isOurs = OUR_PREFIXES.test(name) || (ours && !OF_CONTAINERS.test(name));
    if (known.has(name)) return [];
    const isTargets = /^TARGET_/i.test(name);
    const what = `is not a setting${isTargets ? ', nor one of a target in TARGETS' : ''}`;
    const near = nearestName(name, known.keys()) ?? '';
    const setting = known.get(near);
    const isMeant = !OF_OTHERS.test(name) && slips(name.toUpperCase(), near) <= near.length / 6;
    if (setting !== undefined && (isOurs || isMeant)) {
      const message = `${what}: did you mean ${near}?`;
      return [{ variable: name, message, example: exampleLine(setting, near) }];
    }
    if (!isOurs) return [];
    if (looksLikeKey(name) || !/^\w+$/.test(name)) return [NO_NAME];
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

/** How many typing mistakes lie between two names. Two letters that changed places are one. */
function slips(name: string, near: string): number {
  const edits = distance(name, near);
  const lettersOf = (text: string): string => text.split('').toSorted().join('');
  return edits === 2 && lettersOf(name) === lettersOf(near) ? 1 : edits;
}

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
