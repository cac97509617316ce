/** Date, then optionally a time, then optionally an offset. */
const ISO_8601 =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * An ISO 8601 time as UTC `YYYY-MM-DDTHH:MM:SS.mmmZ`; a fourth to sixth fraction digit is kept when it, or one after
 * it, is not zero; finer digits are cut off. A date without a time is its midnight, a time without offset is read as UTC.
 * Null for anything else: other notations, days and hours that do not exist, years outside 1 to 9999 in UTC.
 *
 * Equal times have equal texts, and canonicalTime(canonicalTime(t)) is canonicalTime(t).
 */
export function canonicalTime(text: string): string | null {
  if (!USUAL.test(text) || !hasDay(text)) return parsedTime(text);
  return text.length === '2026-01-31T23:59:59Z'.length ? `${text.slice(0, 19)}.000Z` : text;
}

/** The notation of most sources. Matching it is many times cheaper than parsing a time. */
const USUAL =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;

/** Whether the month of such a time has this day. */
function hasDay(text: string): boolean {
  const day = number(text, 8, 10);
  if (day <= 28) return true;
  const month = number(text, 5, 7);
  if (month !== 2) return day <= 30 || (month !== 4 && month !== 6 && month !== 9 && month !== 11);
  const year = number(text, 0, 4);
  return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** The value of these digits. */
function number(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + text.charCodeAt(at) - 48;
  return value;
}

function parsedTime(text: string): string | null {
  const match = ISO_8601.exec(text.trim());
  if (match === null) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset] = match;
  const seconds = utcSeconds(
    [Number(year), Number(month), Number(day)],
    [Number(hour), Number(minute), Number(second)],
  );
  const offsetMinutes = parseOffset(offset);
  if (seconds === null || offsetMinutes === null) return null;
  const utc = new Date((seconds - offsetMinutes * 60) * 1000);
  const utcYear = utc.getUTCFullYear();
  if (utcYear < 1 || utcYear > 9999) return null;
  return `${utc.toISOString().slice(0, 19)}.${canonicalFraction(fraction)}Z`;
}

/** Seconds since the epoch; null when the calendar or the clock has no such moment (24:00 and leap seconds included). */
function utcSeconds(
  [year, month, day]: [number, number, number],
  [hour, minute, second]: [number, number, number],
): number | null {
  const date = new Date(0);
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59) return null;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second;
}

/** Minutes east of UTC; null when out of range. */
function parseOffset(offset: string | undefined): number | null {
  if (offset === undefined || offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return null;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** Three fraction digits, or up to six if the further ones are not all zero. */
function canonicalFraction(fraction: string): string {
  return fraction.slice(0, 6).replace(/0+$/, '').padEnd(3, '0');
}
