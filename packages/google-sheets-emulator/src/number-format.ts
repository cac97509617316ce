import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { type Locale } from './locale.ts';
import { civilOf, type CivilTime } from './serial-date.ts';

type NumberFormat = sheets_v4.Schema$NumberFormat;

const DATE_TYPES = new Set(['DATE', 'TIME', 'DATE_TIME']);

/** True for a format that shows a number as a date or time. */
export const isDateFormat = (format: NumberFormat | null | undefined): boolean =>
  DATE_TYPES.has(format?.type ?? '');

/** The pattern of a format that names none, as the locale has it. */
export function patternOf(format: NumberFormat, locale: Locale): string {
  if (format.pattern !== undefined && format.pattern !== null && format.pattern !== '') {
    return format.pattern;
  }
  switch (format.type ?? 'TEXT') {
    case 'DATE':
      return locale.date;
    case 'TIME':
      return locale.time;
    case 'DATE_TIME':
      return `${locale.date} ${locale.timeOfDate}`;
    case 'PERCENT':
      return '0.00%';
    case 'CURRENCY':
      return '"$"#,##0.00';
    case 'SCIENTIFIC':
      return '0.00E+00';
    case 'NUMBER':
      return '#,##0.00';
    default:
      return '';
  }
}

/** A number as a cell shows it. */
export function formatNumber(
  value: number,
  format: NumberFormat | null | undefined,
  locale: Locale,
): string {
  if (format === undefined || format === null || format.type === 'TEXT')
    return general(value, locale);
  const pattern = patternOf(format, locale);
  if (pattern === '' || pattern === 'General' || pattern === '@') return general(value, locale);
  if (isDateFormat(format)) return formatDate(value, pattern, locale);
  return formatPattern(value, pattern, locale);
}

/** "Automatic": up to ten significant digits; 1.23457E+15 from sixteen digits on. */
function general(value: number, locale: Locale): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-9)) {
    const [mantissa = '', exponent = ''] = value.toExponential(5).split('e');
    const short = mantissa.replace(/\.?0+$/, '').replace('.', locale.decimal);
    const sign = exponent.startsWith('-') ? '-' : '+';
    return `${short}E${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
  }
  if (Number.isInteger(value)) return String(value);
  return plainDigits(Number(value.toPrecision(10))).replace('.', locale.decimal);
}

/** String() turns to exponents below 1e-6; a cell does not before 1e-9. */
const plainDigits = (value: number): string =>
  Math.abs(value) < 1e-6 ? value.toFixed(19).replace(/0+$/, '') : String(value);

type DatePart = { readonly text: string; readonly literal: boolean };

const DATE_PARTS =
  /"([^"]*)"|\\(.)|\[(h+|m+|s+)\]|(am\/pm|a\/p)|(y+|m+|d+|h+|s+(?:\.0+)?)|([^"\\])/giy;

function dateParts(pattern: string): DatePart[] {
  DATE_PARTS.lastIndex = 0;
  const parts: DatePart[] = [];
  for (const match of pattern.matchAll(new RegExp(DATE_PARTS.source, 'gi'))) {
    const [text, quoted, escaped, elapsed, meridiem, field, other] = match;
    const literal = quoted ?? escaped ?? other;
    if (literal !== undefined) parts.push({ text: literal, literal: true });
    else
      parts.push({
        text: (elapsed ? text : (meridiem ?? field ?? '')).toLowerCase(),
        literal: false,
      });
  }
  return parts;
}

/** `m` means minutes right after hours or right before seconds, months elsewhere. */
function isMinute(parts: readonly DatePart[], at: number): boolean {
  const fields = parts.filter((part) => !part.literal && !part.text.startsWith('a'));
  const index = fields.indexOf(parts[at] as DatePart);
  const [before, after] = [fields[index - 1]?.text ?? '', fields[index + 1]?.text ?? ''];
  return /^\[?h/.test(before) || after.startsWith('s');
}

const two = (value: number): string => String(value).padStart(2, '0');

function monthName(time: CivilTime, length: number, locale: Locale): string {
  const month = length === 3 ? 'short' : length === 5 ? 'narrow' : 'long';
  const name = new Intl.DateTimeFormat(locale.tag, { month, timeZone: 'UTC' });
  return name.format(Date.UTC(2001, time.month - 1, 1));
}

function dayName(time: CivilTime, length: number, locale: Locale): string {
  const weekday = length === 3 ? 'short' : 'long';
  const name = new Intl.DateTimeFormat(locale.tag, { weekday, timeZone: 'UTC' });
  return name.format(Date.UTC(2001, 0, 7 + time.weekday));
}

function dateField(
  text: string,
  time: CivilTime,
  serial: number,
  locale: Locale,
  twelve: boolean,
  minute: boolean,
): string {
  const { length } = text;
  const hour = twelve ? time.hour % 12 || 12 : time.hour;
  switch (text[0] ?? '') {
    case 'y':
      return length <= 2 ? two(time.year % 100) : String(time.year).padStart(4, '0');
    case 'm':
      if (minute) return length === 1 ? String(time.minute) : two(time.minute);
      if (length > 2) return monthName(time, length, locale);
      return length === 1 ? String(time.month) : two(time.month);
    case 'd':
      if (length > 2) return dayName(time, length, locale);
      return length === 1 ? String(time.day) : two(time.day);
    case 'h':
      return length === 1 ? String(hour) : two(hour);
    case 's': {
      const fraction = text.split('.')[1];
      const whole = text.startsWith('ss') ? two(time.second) : String(time.second);
      if (fraction === undefined) return whole;
      return `${whole}.${String(time.millisecond).padStart(3, '0').slice(0, fraction.length)}`;
    }
    case 'a':
      return text === 'a/p' ? (time.hour < 12 ? 'A' : 'P') : time.hour < 12 ? 'AM' : 'PM';
    case '[':
      return String(elapsed(text[1] ?? 'h', serial)).padStart(length - 2, '0');
    default:
      return text;
  }
}

const elapsed = (unit: string, serial: number): number =>
  Math.floor(Math.round(serial * 86_400) / (unit === 'h' ? 3600 : unit === 'm' ? 60 : 1));

/** A serial number through a date pattern such as `yyyy-mm-dd hh:mm:ss`. */
function formatDate(serial: number, pattern: string, locale: Locale): string {
  const parts = dateParts(pattern);
  const twelve = parts.some((part) => !part.literal && part.text.startsWith('a'));
  const showsFraction = parts.some((part) => !part.literal && part.text.includes('.'));
  // Without a fraction in the pattern 11:59:59.9996 is shown as 12:00:00, not as 11:59:60.
  const time = civilOf(showsFraction ? serial : Math.round(serial * 86_400) / 86_400);
  return parts
    .map((part, at) =>
      part.literal
        ? part.text
        : dateField(
            part.text,
            time,
            serial,
            locale,
            twelve,
            part.text.startsWith('m') && isMinute(parts, at),
          ),
    )
    .join('');
}

/** A number through a pattern of digits: `0`, `#,##0.00`, `0%`, `0.00E+00`, text in quotes; `;` parts for negative and zero. */
function formatPattern(value: number, pattern: string, locale: Locale): string {
  const [positive = '', negative, zero] = pattern.split(';');
  if (value === 0 && zero !== undefined) return digits(0, zero, locale);
  if (value < 0 && negative !== undefined) return digits(-value, negative, locale);
  return (value < 0 ? '-' : '') + digits(Math.abs(value), positive, locale);
}

function digits(value: number, pattern: string, locale: Locale): string {
  const bare = pattern.replace(/\[[^\]]*\]/g, '');
  const match = /^((?:"[^"]*"|\\.|[^0#?"])*)([0#?,]*(?:\.[0#?]*)?)(E[+-]0+)?((?:.|\n)*)$/.exec(
    bare,
  );
  const [, before = '', number = '', exponent, after = ''] = match ?? [];
  const clean = (text: string): string =>
    text.replace(/"([^"]*)"|\\(.)/g, '$1$2').replace(/[_*]./g, '');
  if (number === '') return clean(bare);
  const scaled = /%/.test(before + after) ? value * 100 : value;
  return clean(before) + numberText(scaled, number, exponent, locale) + clean(after);
}

function numberText(
  value: number,
  pattern: string,
  exponent: string | undefined,
  locale: Locale,
): string {
  const [whole = '', fraction = ''] = pattern.split('.');
  if (exponent !== undefined) {
    const [mantissa = '', power = '0'] = value.toExponential(fraction.length).split('e');
    const width = exponent.length - 2;
    const sign = power.startsWith('-') ? '-' : '+';
    return `${mantissa.replace('.', locale.decimal)}E${sign}${power.replace(/^[+-]/, '').padStart(width, '0')}`;
  }
  const [integer = '0', decimals = ''] = value.toFixed(Math.min(fraction.length, 20)).split('.');
  const least = (whole.match(/0/g) ?? []).length;
  const padded = integer === '0' && least === 0 ? '' : integer.padStart(least, '0');
  const grouped = whole.includes(',') ? padded.replace(/\B(?=(\d{3})+$)/g, locale.group) : padded;
  const required = (fraction.match(/0/g) ?? []).length;
  let shown = decimals;
  while (shown.length > required && shown.endsWith('0')) shown = shown.slice(0, -1);
  return shown === '' ? grouped : `${grouped}${locale.decimal}${shown}`;
}
