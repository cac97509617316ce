const DAY_MS = 86_400_000;
/** Days from 1899-12-30, a sheet's day 0, to 1970-01-01. */
const EPOCH_DAY = 25_569;

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
   * The serial of a canonical UTC time. Undefined when a sheet's number cannot hold that time exactly, so that it would come back as
   * another one: in the second of the hours that autumn repeats, and in far-off years.
   */
  toSerial(time: string): number | undefined {
    const utcMs = Date.parse(`${time.slice(0, 23)}Z`);
    if (Number.isNaN(utcMs)) return undefined;
    const micros = Number(time.slice(23, -1).padEnd(3, '0'));
    const localMs = utcMs + this.#offsetAt(utcMs);
    // Day and time of day are put together last: one rounding of half a microsecond at most, in this century.
    const day = Math.floor(localMs / DAY_MS);
    const serial = day + EPOCH_DAY + (localMs - day * DAY_MS + micros / 1000) / DAY_MS;
    return this.toTime(serial) === time ? serial : undefined;
  }

  /** The canonical UTC time of a serial; the earlier of two. */
  toTime(serial: number): string {
    const day = Math.floor(serial);
    const dayMicros = Math.round((serial - day) * DAY_MS * 1000);
    const localMs = (day - EPOCH_DAY) * DAY_MS + Math.floor(dayMicros / 1000);
    const date = new Date(this.#instantOf(localMs));
    if (Number.isNaN(date.getTime())) return '';
    const fine = String(dayMicros % 1000)
      .padStart(3, '0')
      .replace(/0+$/, '');
    return `${date.toISOString().slice(0, -1)}${fine}Z`;
  }

  /** The first instant at which the zone's clocks show `localMs`, or the one that a gap in spring pushes it to. */
  #instantOf(localMs: number): number {
    const before = localMs - this.#offsetAt(localMs - DAY_MS);
    const after = localMs - this.#offsetAt(localMs + DAY_MS);
    const fits = [before, after].filter((utcMs) => utcMs + this.#offsetAt(utcMs) === localMs);
    return fits.length === 0 ? before : Math.min(...fits);
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
