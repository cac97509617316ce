import { MirrorError } from '../base/errors.ts';
import type { CommandCall } from './command-spec.ts';

/** An option that must be a whole number of at least `min`; `preset` when not given. Throws USAGE. */
export function wholeNumberOption(
  call: CommandCall,
  name: string,
  preset: number,
  min = 0,
): number {
  const text = call.text(name);
  if (text === undefined) return preset;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min) return number;
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new MirrorError('USAGE', `${flag} takes a whole number of at least ${min}.`);
}

/** For commander: collects an option that may be given several times. */
export function collect(value: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? before.map(String) : []), value];
}
