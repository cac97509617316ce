/** `1,250`. */
export const count = (number: number): string => number.toLocaleString('en-US');

/** `1 form`, `1,250 forms`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time as people say it, two units at most: `42 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export function span(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return twoUnits(ms, [HOUR, 'h'], [MINUTE, 'min']);
  return twoUnits(ms, [DAY, 'd'], [HOUR, 'h']);
}

type Unit = readonly [size: number, name: string];

function twoUnits(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  const whole = `${count(Math.floor(ms / large))} ${largeName}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`;
}

/** A duration that was measured: `0.4 s`, `12 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < 10 * SECOND) return `${(Math.max(0, ms) / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  return ms < HOUR ? twoUnits(ms, [MINUTE, 'min'], [SECOND, 's']) : span(ms);
}

/** How long ago: `just now`, `3 min ago`. */
export function ago(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso);
  return ms < 5 * SECOND ? 'just now' : `${span(ms)} ago`;
}

/** How soon: `in 40 s`, `now`, or how late: `40 s late`. */
export function soon(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  if (ms >= SECOND) return `in ${span(ms)}`;
  return ms > -30 * SECOND ? 'now' : `${span(-ms)} late`;
}

/** `2026-11-20 14:03:12 UTC`. */
export function exact(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** An argument as a POSIX shell takes it. */
export function shellWord(text: string): string {
  return /^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
