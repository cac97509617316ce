const DAY_MS = 86_400_000;
/** Days from 1899-12-30, a sheet's day 0, to 1970-01-01. */
const EPOCH_DAY = 25_569;
/** Microseconds by which the second of two equal wall-clock times (the hour that autumn repeats) is set apart. */
const SECOND_TIME_MICROS = 20;

/**
 * Turns UTC times into the serial numbers that a sheet shows as dates, in the spreadsheet's time zone, and back without
 * loss. Serials are days since 1899-12-30 and know no zone (discovery document, "DateTimeRenderOption").
 */
export class SerialTime {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  /** `timeZone` as the spreadsheet's properties give it: a CLDR name, or `GMT-07:00`. An unknown one is read as UTC. */
  constructor(timeZone: string) {
    this.#format = formatFor(timeZone);
  }

  /**
   * The serial of a canonical UTC time. Undefined when a sheet's number cannot hold that time exactly, so that it would
   * come back as another one: microseconds in far-off centuries, or in the hour that autumn repeats.
   */
  toSerial(time: string): number | undefined {
    const utcMs = Date.parse(`${time.slice(0, 23)}Z`);
    if (Number.isNaN(utcMs)) return undefined;
    let micros = Number(time.slice(23, -1).padEnd(3, '0'));
    const localMs = utcMs + this.#offsetAt(utcMs);
    const [, second] = this.#instantsOf(localMs);
    if (second === utcMs && micros === 0) micros = SECOND_TIME_MICROS;
    // Day and time of day are put together last: one rounding of half a microsecond at most, in this century.
    const day = Math.floor(localMs / DAY_MS);
    const serial = day + EPOCH_DAY + (localMs - day * DAY_MS + micros / 1000) / DAY_MS;
    return this.toTime(serial) === time ? serial : undefined;
  }

  /** The serial of a time of our own clock (milliseconds), which a number can hold. */
  ofClock(atMs: number): number {
    return this.toSerial(new Date(atMs).toISOString()) ?? 0;
  }

  /** The canonical UTC time of a serial. */
  toTime(serial: number): string {
    const day = Math.floor(serial);
    const dayMicros = toWholeMillis(Math.round((serial - day) * DAY_MS * 1000), serial);
    const localMs = (day - EPOCH_DAY) * DAY_MS + Math.floor(dayMicros / 1000);
    let micros = dayMicros % 1000;
    const [first, second] = this.#instantsOf(localMs);
    let utcMs = first;
    if (second !== undefined && micros === SECOND_TIME_MICROS) {
      utcMs = second;
      micros = 0;
    }
    const date = new Date(utcMs);
    if (Number.isNaN(date.getTime())) return '';
    const fine = String(micros).padStart(3, '0').replace(/0+$/, '');
    return `${date.toISOString().slice(0, -1)}${fine}Z`;
  }

  /** The instants at which the zone's clocks show `localMs`: one, two (earlier first), or the one a gap in spring pushes it to. */
  #instantsOf(localMs: number): [number, number | undefined] {
    const before = this.#offsetAt(localMs - DAY_MS);
    const after = this.#offsetAt(localMs + DAY_MS);
    const fits = [...new Set([before, after])]
      .map((offset) => localMs - offset)
      .filter((utcMs) => utcMs + this.#offsetAt(utcMs) === localMs)
      .sort((a, b) => a - b);
    return [fits[0] ?? localMs - before, fits[1]];
  }

  /** Milliseconds that the zone's clocks are ahead of UTC at an instant. */
  #offsetAt(utcMs: number): number {
    // Offsets change on quarter hours; before 1900 they may not, and then toSerial() notices.
    const quarter = Math.floor(utcMs / 900_000);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const offset = this.#computeOffset(quarter * 900_000);
    if (this.#offsets.size > 20_000) this.#offsets.clear();
    this.#offsets.set(quarter, offset);
    return offset;
  }

  #computeOffset(utcMs: number): number {
    const date = new Date(utcMs);
    if (Number.isNaN(date.getTime())) return 0;
    const parts = new Map(this.#format.formatToParts(date).map((part) => [part.type, part.value]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
    const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year');
    const local = new Date(0);
    local.setUTCFullYear(year, part('month') - 1, part('day'));
    local.setUTCHours(part('hour'), part('minute'), part('second'));
    return local.getTime() - utcMs;
  }
}

/**
 * From the year 2079 on, and long before 1900, a serial is too coarse for single microseconds: a time that rounding moved off a
 * whole millisecond, or off the second one of an hour that autumn repeats, counts as one.
 */
function toWholeMillis(micros: number, serial: number): number {
  const step = 2 ** (Math.floor(Math.log2(Math.max(1, Math.abs(serial)))) - 52) * DAY_MS * 1000;
  if (step <= 0.7) return micros;
  const millis = Math.round(micros / 1000) * 1000;
  const whole = [millis, millis + SECOND_TIME_MICROS];
  return whole.find((candidate) => Math.abs(micros - candidate) <= step) ?? micros;
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const options: Intl.DateTimeFormatOptions = {
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  };
  const zone = timeZone.replace(/^(?:GMT|UTC)(?=[+-]\d)/, '');
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' });
  }
}
