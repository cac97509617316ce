import { closest } from 'fastest-levenshtein';
import { MirrorError } from '../base/errors.ts';
import type { FaultRule } from './faults.ts';

type Parts = { -readonly [Key in keyof FaultRule]: FaultRule[Key] };

/** How a rule is written; for help texts. */
export const FAULT_SYNTAX =
  '[METHOD] [/path[?name=value]|~pattern] [STATUS] [after=N] [times=N|always] [delay=MS|2s] ' +
  '[retry-after=SECONDS] [cut=BYTES] [hang] [drop] [applied] [body=TEXT to the end]';

const METHODS = new Set(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']);

/** What `name=value` does. */
const SETTINGS: Readonly<Record<string, (rule: Parts, value: string, text: string) => void>> = {
  after: (rule, value, text) => void (rule.after = wholeNumber('after', value, text)),
  times: (rule, value, text) =>
    void (rule.times =
      value === 'always' ? Number.POSITIVE_INFINITY : wholeNumber('times', value, text)),
  delay: (rule, value, text) => void (rule.delayMs = duration(value, text)),
  cut: (rule, value, text) => void (rule.cutBodyAt = wholeNumber('cut', value, text)),
  'retry-after': (rule, value) =>
    void (rule.retryAfter = /^\d+$/.test(value) ? Number(value) : value),
};

/** What a word alone does. */
const FLAGS: Readonly<Record<string, (rule: Parts) => void>> = {
  hang: (rule) => void (rule.hang = true),
  drop: (rule) => void (rule.dropConnection = true),
  applied: (rule) => void (rule.applied = true),
};

/**
 * Reads a rule as written on a command line, such as `GET /submissions 500 after=3 times=2` or
 * `/submissions?page=2 cut=100`; see {@link FAULT_SYNTAX}. Throws USAGE with the word that is wrong.
 */
export function parseFault(text: string): FaultRule {
  const rule: Parts = {};
  const [, head = text, body] = /^(.*?)(?:^|\s)body=(.*)$/s.exec(text) ?? [];
  for (const word of head.split(/\s+/).filter(Boolean)) readWord(rule, word, text);
  if (body !== undefined) rule.body = body;
  const effects = [rule.status, rule.delayMs, rule.cutBodyAt, rule.hang, rule.dropConnection];
  if (effects.every((effect) => effect === undefined)) {
    throw wrong(text, 'it says nothing to do: give a status, delay=, cut=, hang or drop');
  }
  if (rule.status === undefined && (rule.body !== undefined || rule.retryAfter !== undefined)) {
    throw wrong(text, 'body= and retry-after= need a status');
  }
  return rule;
}

function readWord(rule: Parts, word: string, text: string): void {
  const [, name = '', value] = /^([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
  const flag = value === undefined ? own(FLAGS, name) : undefined;
  const setting = value === undefined ? undefined : own(SETTINGS, name);
  if (flag) flag(rule);
  else if (setting) setting(rule, value ?? '', text);
  else if (word.startsWith('/')) readPath(rule, word, text);
  else if (word.startsWith('~')) rule.path = pattern(word.slice(1), text);
  else if (METHODS.has(word.toUpperCase())) rule.method = word.toUpperCase();
  else if (/^\d+$/.test(word)) rule.status = status(word, text);
  else throw unknownWord(word, name, text);
}

/** Names such as `constructor` are unknown words like any other. */
function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function readPath(rule: Parts, word: string, text: string): void {
  const mark = word.indexOf('?');
  rule.path = mark < 0 ? word : word.slice(0, mark);
  if (mark < 0) return;
  const query = Object.fromEntries(new URLSearchParams(word.slice(mark + 1)));
  if (Object.keys(query).length === 0) throw wrong(text, `${word} has a ? but no parameter`);
  rule.query = query;
}

function pattern(source: string, text: string): RegExp {
  try {
    return new RegExp(source);
  } catch {
    throw wrong(text, `~${source} is not a regular expression`);
  }
}

function status(word: string, text: string): number {
  const code = Number(word);
  if (code >= 200 && code <= 599) return code;
  throw wrong(text, `${word} is not a status from 200 to 599`);
}

function wholeNumber(name: string, value: string, text: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw wrong(text, `${name}=${value} is not a whole number`);
}

function duration(value: string, text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(value) ?? [];
  if (number === undefined)
    throw wrong(text, `delay=${value} is not a time such as 500, 500ms or 2s`);
  return Math.round(Number(number) * (unit === 's' ? 1000 : unit === 'm' ? 60_000 : 1));
}

function unknownWord(word: string, name: string, text: string): MirrorError {
  const known = [...Object.keys(SETTINGS).map((key) => `${key}=`), ...Object.keys(FLAGS)];
  const near = closest(name || word, known);
  return wrong(text, `“${word}” is not understood; did you mean ${near}?`);
}

function wrong(text: string, reason: string): MirrorError {
  return new MirrorError(
    'USAGE',
    `The fault rule “${text}” is wrong: ${reason}. A rule reads: ${FAULT_SYNTAX}`,
  );
}
