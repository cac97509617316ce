/** Date, then optionally a time, then optionally an offset. */
const ISO_8601 =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+-](?:[01]\d|2[0-3]))(?::?([0-5]\d))?)?)?$/;

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
  const [, date = '', minute = '00:00', second = '00', fraction = '', east = '+00', and = '00'] =
    match;
  const time = `${date}T${minute}:${second}`;
  if (!isMoment(`${time}Z`)) return null;
  const utc = new Date(`${time}${east}:${and}`);
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
