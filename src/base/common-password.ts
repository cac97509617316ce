/** `aaaaaaaaaaaa`, `121212121212`: long, and guessed at once. */
const MIN_DIFFERENT = 5;
/** Of the steps from a character to the next so many may be alike: more in `abcdefgh…`, far fewer in what is random. */
const MAX_ALIKE = 0.5;

/** Words that stand for a password, in examples and in the lists that are tried first. */
const COMMON =
  /^(?:(?:your|my|password|passw0rd|passwort|secret|changeme|letmein|welcome|qwerty|admin|forms|mirror|[0-9])+)$/i;

/** Whether a password is made of words that everybody tries first, whatever signs stand between them. */
export const isCommonPassword = (text: string): boolean =>
  COMMON.test(text.replace(/[\s._!-]/g, ''));

/** Whether a text of some length has few characters, or counts up or down. */
export const isPlainPattern = (text: string): boolean =>
  new Set(text).size < MIN_DIFFERENT || isSequence(text);

/** Whether most characters are as far from the one before them as others are: `abcdefgh`, `13579`. */
export function isSequence(text: string): boolean {
  const steps = new Map<number, number>();
  for (let at = 1; at < text.length; at++) {
    const step = text.charCodeAt(at) - text.charCodeAt(at - 1);
    steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return Math.max(...steps.values()) > (text.length - 1) * MAX_ALIKE;
}
