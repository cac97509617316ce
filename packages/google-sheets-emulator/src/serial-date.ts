/** Days from 1899-12-30, Sheets' day 0, to 1970-01-01. 1900 is not a leap year there. */
const EPOCH_DAY = 25_569;
const DAY_MS = 86_400_000;

/** The date of a serial number, to the millisecond, as if its wall clock were UTC. */
export const dateOf = (serial: number): Date => new Date(Math.round((serial - EPOCH_DAY) * DAY_MS));

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

/** Creating one takes a hundred times as long as using it. */
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
