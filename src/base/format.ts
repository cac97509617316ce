import { isAhead } from './clock.ts';

/*
 * The notation of numbers and times for people, everywhere. Intl writes a duration ("3 min, 20 sec") and a distance in time ("3
 * min. ago") differently.
 */

/** A whole number: `1,250`. Without Intl: its first use takes almost a tenth of a second in every command. */
export const count = (number: number): string =>
  String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** `1 form`, `1,250 forms`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `3 new`; nothing for 0 or an unknown number. */
export const someOf = (number: number | null, what: string): string[] =>
  number ? [`${count(number)} ${what}`] : [];

/** `a, b and c`, `a or b`. */
export const wordList = (words: readonly string[], between: 'and' | 'or'): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(` ${between} `);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const JUST_NOW = 5 * SECOND;

/** An age or a distance in time: `42 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. Always rounded down. */
export function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return twoUnits(ms, [HOUR, 'h'], [MINUTE, 'min']);
  return twoUnits(ms, [DAY, 'd'], [HOUR, 'h']);
}

/** How long something took: `0.4 s`, otherwise as {@link span}. */
export const duration = (ms: number): string =>
  ms < 10 * SECOND ? `${(Math.max(0, ms) / SECOND).toFixed(1)} s` : span(ms);

type Unit = readonly [size: number, name: string];

function twoUnits(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  const whole = `${count(Math.floor(ms / large))} ${largeName}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`;
}

/** How long ago an ISO time was: `just now`, `3 min ago`. A time from a wrong clock is marked. */
export function ago(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso);
  if (isAhead(Date.parse(iso), nowMs)) return `${span(-ms)} from now (check the clock)`;
  return ms < JUST_NOW ? 'just now' : `${span(ms)} ago`;
}

/** How long something has lasted since an ISO time: `for 3 min`. */
export const lasting = (iso: string, nowMs: number): string =>
  `for ${span(nowMs - Date.parse(iso))}`;

/** How soon an ISO time is: `in 40 s`, `now`, or how late: `40 s late`. */
export function soon(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  if (ms >= SECOND) return `in ${span(ms)}`;
  return ms > -30 * SECOND ? 'now' : `${span(-ms)} late`;
}

/** Milliseconds since the epoch as an ISO time. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** An ISO time, or milliseconds since the epoch, to the second: `2026-11-20 14:03:12 UTC`. Any other text is returned unchanged. */
export function exact(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
