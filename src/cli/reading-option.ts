import { closest } from 'fastest-levenshtein';
import { MirrorError } from '../base/errors.ts';
import type { SandboxBehaviour } from '../sandbox/forms-api/behaviour.ts';
import { READINGS } from '../sandbox/forms-api/readings.ts';

/** How a reading is written; for help texts. */
export const READING_SYNTAX = 'POINT=VALUE, such as sort=ignored or wrapper=data';

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
    throw wrong(text, `there is no point ${point}; did you mean ${closest(point, known)}?`);
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
  throw wrong(text, `${point} takes ${words.map(String).join(', ')}`);
}

function wrong(text: string, reason: string): MirrorError {
  return new MirrorError(
    'USAGE',
    `--reading ${text} is wrong: ${reason}. It takes ${READING_SYNTAX}.`,
  );
}
