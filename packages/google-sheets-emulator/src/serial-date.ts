/** Days from 1899-12-30, Sheets' day 0, to 1970-01-01. 1900 is not a leap year there. */
const EPOCH_DAY = 25_569;
const DAY_MS = 86_400_000;

/** A calendar date with a time of day, in no zone. Months count from 1. */
export interface CivilTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** 0 for Sunday. */
  readonly weekday: number;
}

/** The date that a serial number means, to the millisecond. */
export function civilOf(serial: number): CivilTime {
  const date = new Date(Math.round((serial - EPOCH_DAY) * DAY_MS));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    millisecond: date.getUTCMilliseconds(),
    weekday: date.getUTCDay(),
  };
}

/** The serial number of a date; undefined for a date that no calendar has. */
export function serialOf(
  year: number,
  month: number,
  day: number,
  hour = 0,
  minute = 0,
  second = 0,
): number | undefined {
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  date.setUTCFullYear(year);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return date.getTime() / DAY_MS + EPOCH_DAY;
}

/** The serial number of an instant (milliseconds since the epoch) on the wall clock of `timeZone`. Throws RangeError for a zone that does not exist. */
export function serialOfInstant(instantMs: number, timeZone: string): number {
  const parts = wallClockOf(timeZone).formatToParts(instantMs);
  const part = (type: string): number => Number(parts.find((item) => item.type === type)?.value);
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  const milliseconds = ((instantMs % 1000) + 1000) % 1000;
  return (wall + milliseconds) / DAY_MS + EPOCH_DAY;
}

/** Making one takes a hundred times as long as using it. */
const wallClocks = new Map<string, Intl.DateTimeFormat>();

function wallClockOf(timeZone: string): Intl.DateTimeFormat {
  const known = wallClocks.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  wallClocks.set(timeZone, made);
  return made;
}
