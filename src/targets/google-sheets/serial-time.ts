const DAY_MS = 86_400_000;
const DAY_US = DAY_MS * 1_000;
/** Days from 1899-12-30, a sheet's day 0, to 1970-01-01. */
const EPOCH_DAY = 25_569;
/** How many microseconds are added to the second of two equal wall-clock times (in the hour that autumn repeats). */
const SECOND_TIME_MICROS = 20;

/**
 * Converts UTC times into the serial numbers that a sheet shows as dates, in the spreadsheet's time zone, and back without loss.
 * Serials are days since 1899-12-30 and have no zone (discovery document, "DateTimeRenderOption").
 */
export class SerialTime {
  readonly timeZone: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  /** `timeZone` from the spreadsheet's properties: a CLDR name, or `GMT-07:00`. An unknown one counts as UTC. */
  constructor(timeZone: string) {
    this.timeZone = timeZone;
    this.#format = formatFor(timeZone);
  }

  /**
   * The serial of a canonical UTC time. Undefined if a sheet's number cannot hold that time exactly, so that it would come back
   * changed: from the year 2079 on, in distant centuries, and microseconds in the hour that autumn repeats.
   */
  toSerial(time: string): number | undefined {
    const utcMs = Date.parse(`${time.slice(0, 23)}Z`);
    if (Number.isNaN(utcMs)) return undefined;
    const micros = Number(time.slice(23, -1).padEnd(3, '0'));
    const localMs = utcMs + this.#offsetAt(utcMs);
    const isSecond = micros === 0 && this.#instantsOf(localMs)[1] === utcMs;
    // Day and time of day are added last: one rounding of half a microsecond at most, in this century.
    const day = Math.floor(localMs / DAY_MS);
    const dayUs = (localMs - day * DAY_MS) * 1_000 + (isSecond ? SECOND_TIME_MICROS : micros);
    const serial = day + EPOCH_DAY + dayUs / DAY_US;
    return this.toTime(serial) === time ? serial : undefined;
  }

  /** The serial of a time of our own clock (milliseconds). A number can always hold it. */
  ofClock(atMs: number): number {
    return this.toSerial(new Date(atMs).toISOString()) ?? 0;
  }

  /** An ISO time in words: `2026-11-20 15:03 Europe/Prague`. Any other text is returned unchanged. */
  text(iso: string): string {
    const utcMs = Date.parse(iso);
    if (Number.isNaN(utcMs)) return iso;
    const local = new Date(utcMs + this.#offsetAt(utcMs)).toISOString();
    return `${local.slice(0, 16).replace('T', ' ')} ${this.timeZone}`;
  }

  /** The canonical UTC time of a serial; '' if there is none. */
  toTime(serial: number): string {
    const day = Math.floor(serial);
    const dayUs = Math.round((serial - day) * DAY_US);
    const localMs = (day - EPOCH_DAY) * DAY_MS + Math.floor(dayUs / 1_000);
    const micros = dayUs % 1_000;
    const [first, second] = this.#instantsOf(localMs);
    const isSecond = second !== undefined && micros === SECOND_TIME_MICROS;
    const date = new Date(isSecond ? second : first);
    if (Number.isNaN(date.getTime())) return '';
    const fine = isSecond ? '' : String(micros).padStart(3, '0').replace(/0+$/, '');
    return `${date.toISOString().slice(0, -1)}${fine}Z`;
  }

  /**
   * The instants at which the zone's clocks show `localMs`: one, two (the earlier first), or for a time that a gap in spring skips
   * the instant after it.
   */
  #instantsOf(localMs: number): [number, number | undefined] {
    const before = this.#offsetAt(localMs - DAY_MS);
    const after = this.#offsetAt(localMs + DAY_MS);
    const fits = [...new Set([before, after])]
      .map((offset) => localMs - offset)
      .filter((utcMs) => utcMs + this.#offsetAt(utcMs) === localMs)
      .sort((a, b) => a - b);
    return [fits[0] ?? localMs - before, fits[1]];
  }

  /** How many milliseconds the zone's clocks are ahead of UTC at an instant. */
  #offsetAt(utcMs: number): number {
    // Offsets change on quarter hours; before 1900 they may not, and then toSerial() notices.
    const quarter = new Date(Math.floor(utcMs / 900_000) * 900_000);
    const key = quarter.getTime();
    if (Number.isNaN(key)) return 0;
    const known = this.#offsets.get(key);
    if (known !== undefined) return known;
    // "7/1/2026, GMT+02:00"
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /([+-])(\d+):(\d+)(?::(\d+))?$/.exec(this.#format.format(quarter)) ?? [];
    const ms = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000;
    const offset = sign === '-' ? -ms : ms;
    if (this.#offsets.size > 20_000) this.#offsets.clear();
    this.#offsets.set(key, offset);
    return offset;
  }
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const zone = timeZone.replace(/^(?:GMT|UTC)(?=[+-]\d)/, '');
  const options = { timeZoneName: 'longOffset' } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' });
  }
}
