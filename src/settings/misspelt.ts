import { closest, distance } from 'fastest-levenshtein';
import type { SettingMistake } from '../base/errors.ts';
import {
  exampleLine,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  variableOf,
} from './settings-table.ts';
import type { Variable } from './settings-reader.ts';

/** Prefixes that only this program uses: any unknown name with one is a mistake. */
const OUR_PREFIXES = /^(?:FORMS_API|TARGET|SYNC|MARK|SHEETS|RECONCILE)_/;

/**
 * Variables that are not settings but were meant as one. With our own prefixes and in `.env`, where every line is ours,
 * anything like a setting counts; elsewhere only a name close to a long, distinctive one, so that `HOSTNAME` or
 * `LOGLEVEL` of the machine does not count. Values are never read.
 */
export function misspeltVariables(
  variables: ReadonlyMap<string, Variable>,
  targets: readonly string[],
): SettingMistake[] {
  const known = knownVariables(targets);
  return [...variables].flatMap(([name, { ours }]): SettingMistake[] => {
    const upper = name.toUpperCase();
    if (known.has(name)) return [];
    const isOurs = OUR_PREFIXES.test(upper);
    const candidates = [...known]
      .filter(([variable, setting]) => ours || isOurs || isDistinctive(variable, setting))
      .map(([variable]) => variable);
    const plain = name.replace(/_FILE$/, '');
    const near = known.has(plain) ? plain : closest(upper, candidates);
    const setting = known.get(near);
    const isClose = distance(upper, near) <= Math.floor(near.length / 6);
    if (setting === undefined || !(isClose || isOurs)) return [];
    const message =
      near === plain
        ? `is not a setting, only secrets may come from a file: set ${near} itself`
        : isClose
          ? `is not a setting: did you mean ${near}?`
          : `is not a setting, nor one of a target in TARGETS; the nearest is ${near}: correct the name, or remove this line`;
    return [{ variable: name, message, example: exampleLine(setting, near) }];
  });
}

/** Every variable that is read, and the setting it belongs to. */
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

/** No other variable of a machine is likely to resemble it. */
const isDistinctive = (variable: string, setting: SettingName): boolean =>
  !settingOf(setting).commonName && variable.length >= 8;
