/** `1,250`. */
export const count = (number: number): string => number.toLocaleString('en-US');

/** `1 form`, `1,250 forms`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A length of time for a person: `0.4 s`, `12 s`, `3 m 20 s`, `2 d 4 h`. */
export function timeSpan(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  const parts: string[] = [];
  let left = Math.round(ms / 1_000) * 1_000;
  for (const [unit, size] of STEPS) {
    const whole = Math.floor(left / size);
    left -= whole * size;
    if (whole > 0) parts.push(`${whole} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** How long ago an ISO time was; `never` for none. */
export function ago(time: string | null, nowMs: number): string {
  if (time === null) return 'never';
  const ms = nowMs - Date.parse(time);
  return ms < 1_000 ? 'just now' : `${timeSpan(ms)} ago`;
}
