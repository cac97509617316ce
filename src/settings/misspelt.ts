import { distance } from 'fastest-levenshtein';
import type { SettingMistake } from '../base/errors.ts';
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

/** Names that other programs use, too: a name that resembles them may be theirs. */
const COMMON_NAMES = /^(?:TARGETS|DATA_DIR|LOG_LEVEL|.*_PROXY)$/;

/**
 * Variables that are not settings but were meant as one: any with our own prefixes, one in `.env` that resembles a setting, and
 * elsewhere one so close to a long name of ours that it hardly belongs to another program. Values are never read.
 */
export function misspeltVariables(
  variables: ReadonlyMap<string, Variable>,
  targets: readonly string[],
): SettingMistake[] {
  const known = knownVariables(targets);
  const things = [...known.keys()].map((name) => ({ name }));
  return [...variables].flatMap(([name, { ours }]): SettingMistake[] => {
    const hasPrefix = OUR_PREFIXES.test(name);
    if (known.has(name)) return [];
    const ofTarget = /^TARGET_/i.test(name) ? ', nor one of a target in TARGETS' : '';
    const what = `is not a setting${ofTarget}`;
    const near = nearestName(name, things) ?? '';
    const setting = known.get(near);
    const isMeant =
      !COMMON_NAMES.test(near) && distance(name.toUpperCase(), near) <= near.length / 6;
    if (setting !== undefined && (hasPrefix || ours || isMeant)) {
      const message = `${what}: did you mean ${near}?`;
      return [{ variable: name, message, example: exampleLine(setting, near) }];
    }
    if (!hasPrefix) return [];
    const message = `${what}: correct the name, or remove this line`;
    return [{ variable: name, message, example: exampleLine('TARGETS', 'TARGETS') }];
  });
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
