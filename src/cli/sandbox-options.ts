import { MirrorError } from '../base/errors.ts';
import { READINGS, type SandboxBehaviour } from '../sandbox/behaviour.ts';
import type { FaultRule } from '../sandbox/faults.ts';
import { FAULT_SYNTAX } from './commands.ts';

/** The words of a fault rule: a pattern, and what its groups mean. */
const WORDS: readonly (readonly [RegExp, (first: string, second?: string) => FaultRule])[] = [
  [/^(GET|POST|PATCH|PUT|DELETE)$/i, (method) => ({ method: method.toUpperCase() })],
  [
    /^(\/[^?]*)(?:\?(.+))?$/,
    (path, query) =>
      query === undefined
        ? { path }
        : { path, query: Object.fromEntries(new URLSearchParams(query)) },
  ],
  [/^([2-5]\d\d)$/, (status) => ({ status: Number(status) })],
  [/^after=(\d{1,9})$/, (after) => ({ after: Number(after) })],
  [
    /^times=(\d{1,9}|always)$/,
    (times) => ({ times: times === 'always' ? Number.POSITIVE_INFINITY : Number(times) }),
  ],
  [
    /^delay=(\d{1,9})(ms|s)$/,
    (number, unit) => ({ delayMs: Number(number) * (unit === 's' ? 1_000 : 1) }),
  ],
  [/^retry-after=(\d{1,9})$/, (seconds) => ({ retryAfter: Number(seconds) })],
  [/^cut=(\d{1,9})$/, (bytes) => ({ cutBodyAt: Number(bytes) })],
  [/^(hang)$/, () => ({ hang: true })],
  [/^(drop)$/, () => ({ dropConnection: true })],
  [/^(applied)$/, () => ({ applied: true })],
];

/**
 * Reads a rule as written on a command line, such as `GET /submissions 500 after=3 times=2`; see {@link FAULT_SYNTAX}.
 * Throws USAGE with the word that is wrong.
 */
export function parseFault(text: string): FaultRule {
  const [, head = text, body] = /^(.*?)(?:^|\s)body=(.*)$/s.exec(text) ?? [];
  const parts = head
    .split(/\s+/)
    .filter(Boolean)
    .map((word): FaultRule => {
      for (const [pattern, meaning] of WORDS) {
        const [, first, second] = pattern.exec(word) ?? [];
        if (first !== undefined) return meaning(first, second);
      }
      throw new MirrorError('USAGE', `--fault does not take ${word}. It takes ${FAULT_SYNTAX}.`);
    });
  return Object.assign({}, ...parts, body === undefined ? {} : { body }) as FaultRule;
}

/** Reads `--reading sort=ignored …`: how the sandbox takes what the specification leaves unsaid. Throws USAGE. */
export const parseReadings = (texts: readonly string[]): Partial<SandboxBehaviour> =>
  Object.fromEntries(texts.map(parseReading));

function parseReading(text: string): [string, unknown] {
  const [point = '', value] = text.split('=');
  const [, readings = []] =
    Object.entries<readonly unknown[]>(READINGS).find(([name]) => name === point) ?? [];
  if (typeof readings[0] === 'number' && /^[1-9]\d{0,5}$/.test(value ?? '')) {
    return [point, Number(value)];
  }
  const words = readings.filter((reading) => typeof reading !== 'object' || reading === null);
  const found = words.find((reading) => String(reading) === value);
  if (found !== undefined) return [point, found];
  const takes =
    words.length > 0
      ? `${point} is ${words.map(String).join(', ')}`
      : `the points are ${Object.keys(READINGS).join(', ')}`;
  throw new MirrorError('USAGE', `--reading does not take ${text}: ${takes}.`);
}
