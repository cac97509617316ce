/** Date, then optionally a time, then optionally an offset. */
const ISO_8601 =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * An ISO 8601 time as UTC `YYYY-MM-DDTHH:MM:SS.mmmZ`. Keeps up to six fraction digits if the fourth to sixth are not all zero, and
 * cuts off finer ones. A date without a time is its midnight; a time without an offset is UTC. Null for anything else: other
 * notations, days and hours that do not exist, years outside 1 to 9999 in UTC.
 *
 * Equal times have equal texts, and canonicalTime(canonicalTime(t)) is canonicalTime(t).
 */
export function canonicalTime(text: string): string | null {
  // Most times are in this notation: matching it is many times cheaper than taking it apart.
  if (USUAL.test(text)) return text;
  const match = ISO_8601.exec(text.trim());
  if (match === null) return null;
  const [, date = '', hour = '00', minute = '00', second = '00', fraction = '', offset] = match;
  const offsetMinutes = parseOffset(offset);
  const time = `${date}T${hour}:${minute}:${second}.000Z`;
  if (offsetMinutes === null || !isMoment(time)) return null;
  const utc = new Date(Date.parse(time) - offsetMinutes * 60_000);
  const utcYear = utc.getUTCFullYear();
  if (utcYear < 1 || utcYear > 9999) return null;
  // Three digits, or up to six if the further ones are not all zero.
  const digits = fraction.slice(0, 6).replace(/0+$/, '').padEnd(3, '0');
  return `${utc.toISOString().slice(0, 19)}.${digits}Z`;
}

/** The result's own notation, on a day that every month has. */
const USUAL =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether the date and time exist (24:00 and leap seconds do not). JavaScript takes 30 February for 2 March. */
function isMoment(time: string): boolean {
  return new Date(time).getUTCDate() === Number(time.slice(8, 10));
}

/** Minutes east of UTC; null when out of range. */
function parseOffset(offset: string | undefined): number | null {
  if (offset === undefined || offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return null;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
