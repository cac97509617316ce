import { printable } from './printable.ts';

/*
 * Parts of command lines that are printed for a person to copy. What they hold may come from the source.
 */

/**
 * An argument as a POSIX shell takes it: exactly `text`, and nothing of it is run. Characters that can't be shown are
 * replaced as {@link printable} does; names are found by that, too.
 */
export function shellWord(text: string): string {
  const shown = printable(text);
  return /^[\w.:@/-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

/** `--form contact`; `--form=-x` where the value would be taken for an option. */
export const shellOption = (option: string, value: string): string =>
  `${option}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;

/** True for a name that a list in a setting can hold, in `.env` as in a shell: neither separated, quoted nor trimmed away. */
export const canBeListed = (name: string): boolean =>
  name !== '' && printable(name) === name && !/[\s,:*'"`$\\#]/.test(name);

/** `TARGET_FIELDS='a,b'`, for `.env` and a shell alike, of names that {@link canBeListed}. */
export const settingLine = (variable: string, value: string): string => `${variable}='${value}'`;
