import { isCommonPassword, isPlainPattern } from '../base/common-password.ts';
import { SETTING_NAMES, settingOf } from './settings-table.ts';

/** Fewer characters can be found by trial and error, or were meant for trying things out. */
const MIN_LENGTH = 12;
/** What is weak about a secret that guards something others can reach; undefined: nothing. Goes on after its name, quotes nothing of it (L15). */
export function weaknessOf(text: string): string | undefined {
  const isExample = SETTING_NAMES.some((other) => settingOf(other).example === text);
  if (isExample) return 'is the one of the example, which everybody knows: set your own';
  if (text.length < MIN_LENGTH) {
    return `is short: with fewer than ${MIN_LENGTH} characters it can be guessed. Make one with: openssl rand -hex 16`;
  }
  if (isPlainPattern(text) || isCommonPassword(text)) {
    return 'is among the first that are tried. Make one with: openssl rand -hex 16';
  }
  return undefined;
}
