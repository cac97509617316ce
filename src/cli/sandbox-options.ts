import { MirrorError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { FaultRule } from '../sandbox/faults.ts';
import { READINGS, type SandboxBehaviour } from '../sandbox/behaviour.ts';
import { FAULT_SYNTAX, READING_SYNTAX } from './commands.ts';

type Parts = { -readonly [Key in keyof FaultRule]: FaultRule[Key] };

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

/** The meaning of a word without a number. */
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
    throw wrongFault(text, 'it says nothing to do: give a status, delay=, cut=, hang or drop');
  }
  if (rule.status === undefined && (rule.body !== undefined || rule.retryAfter !== undefined)) {
    throw wrongFault(text, 'body= and retry-after= need a status');
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
  if (Object.keys(query).length === 0) throw wrongFault(text, `${word} has a ? but no parameter`);
  rule.query = query;
}

function pattern(source: string, text: string): RegExp {
  try {
    return new RegExp(source);
  } catch {
    throw wrongFault(text, `~${source} is not a regular expression`);
  }
}

function status(word: string, text: string): number {
  const code = Number(word);
  if (code >= 200 && code <= 599) return code;
  throw wrongFault(text, `${word} is not a status from 200 to 599`);
}

function wholeNumber(name: string, value: string, text: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw wrongFault(text, `${name}=${value} is not a whole number`);
}

function duration(value: string, text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(value) ?? [];
  if (number === undefined)
    throw wrongFault(text, `delay=${value} is not a time such as 500, 500ms or 2s`);
  return Math.round(Number(number) * (unit === 's' ? 1000 : unit === 'm' ? 60_000 : 1));
}

function unknownWord(word: string, name: string, text: string): MirrorError {
  const known = [
    ...Object.keys(SETTINGS).map((key) => ({ name: `${key}=`, aliases: [key] })),
    ...Object.keys(FLAGS).map((key) => ({ name: key })),
  ];
  const near = nearestName(name || word, known);
  return wrongFault(text, `“${word}” is not understood${didYouMean(near)}`);
}

const didYouMean = (near: string | undefined): string =>
  near === undefined ? '' : `; did you mean ${near}?`;

/** A sentence ends once. */
const sentence = (text: string): string => (text.endsWith('?') ? text : `${text}.`);

function wrongFault(text: string, reason: string): MirrorError {
  return new MirrorError(
    'USAGE',
    `The fault rule “${text}” is wrong: ${sentence(reason)} A rule reads: ${FAULT_SYNTAX}`,
  );
}

/** Reads `--reading sort=ignored …`: how the stand-in takes what the specification leaves unsaid. Throws USAGE. */
export function parseReadings(texts: readonly string[]): Partial<SandboxBehaviour> {
  return Object.fromEntries(texts.map(parseReading));
}

function parseReading(text: string): [string, unknown] {
  const [, point = text, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const known = Object.keys(READINGS);
  const readings: readonly unknown[] | undefined = Object.hasOwn(READINGS, point)
    ? READINGS[point as keyof typeof READINGS]
    : undefined;
  if (readings === undefined) {
    const near = nearestName(
      point,
      known.map((name) => ({ name })),
    );
    const hint = near === undefined ? `: there is ${known.join(', ')}` : didYouMean(near);
    throw wrongReading(text, `there is no point ${point}${hint}`);
  }
  if (
    readings.some((reading) => typeof reading === 'number') &&
    /^[1-9]\d{0,5}$/.test(value ?? '')
  ) {
    return [point, Number(value)];
  }
  const words = readings.filter((reading) => typeof reading !== 'object' || reading === null);
  const found = words.find((reading) => String(reading) === value);
  if (found !== undefined) return [point, found];
  throw wrongReading(text, `${point} takes ${words.map(String).join(', ')}`);
}

function wrongReading(text: string, reason: string): MirrorError {
  return new MirrorError(
    'USAGE',
    `--reading ${text} is wrong: ${sentence(reason)} It takes ${READING_SYNTAX}.`,
  );
}
