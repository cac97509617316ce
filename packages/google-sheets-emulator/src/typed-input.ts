import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { Formula, type Content } from './cell.ts';
import type { Locale } from './locale.ts';
import { serialOf } from './serial-date.ts';

/** The content that typing a text into a cell gives. `format` is set when the text brought its own (a date, 12%, $5). */
export interface Typed {
  readonly content: Content;
  readonly format?: sheets_v4.Schema$NumberFormat;
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function parseNumber(text: string, locale: Locale): number | undefined {
  const [decimal, group] = [escape(locale.decimal), escape(locale.group)];
  const grouped = `\\d{1,3}(?:${group}\\d{3})+`;
  const pattern = new RegExp(
    `^[+-]?(?:(?:${grouped}|\\d+)(?:${decimal}\\d*)?|${decimal}\\d+)(?:[eE][+-]?\\d{1,3})?$`,
  );
  if (!pattern.test(text)) return undefined;
  const value = Number(text.replaceAll(locale.group, '').replace(locale.decimal, '.'));
  return Number.isFinite(value) ? value : undefined;
}

const fullYear = (year: number, digits: number): number =>
  digits > 2 ? year : year < 50 ? 2000 + year : 1900 + year;

function parseTime(text: string): number | undefined {
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(am|pm)?$/i.exec(text);
  if (match === null) return undefined;
  const [, h = '', m = '', s = '0', half] = match;
  let hour = Number(h);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  }
  const [minute, second] = [Number(m), Number(s)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return (hour * 3600 + minute * 60 + second) / 86_400;
}

/** `2020-01-01` is shown in this notation in every locale. */
const dayPattern = (text: string, locale: Locale): string =>
  /^\d{4}-/.test(text) ? 'yyyy-mm-dd' : locale.date;

function parseDay(text: string, locale: Locale, yearNow: number): number | undefined {
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text);
  if (iso !== null) return serialOf(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const match = /^(\d{1,2})([-/.])(\d{1,2})(?:\2(\d{4}|\d{2})?)?$/.exec(text);
  if (match === null) return undefined;
  const [, a = '', separator, b = '', y] = match;
  // 1.5 is a number wherever the dot is the decimal sign.
  if (separator === '.' && locale.decimal === '.' && y === undefined) return undefined;
  const year = y === undefined ? yearNow : fullYear(Number(y), y.length);
  const [month, day] = locale.dateOrder === 'mdy' ? [Number(a), Number(b)] : [Number(b), Number(a)];
  return serialOf(year, month, day) ?? serialOf(year, day, month);
}

function parseDate(text: string, locale: Locale, yearNow: number): Typed | undefined {
  const time = parseTime(text);
  if (time !== undefined) return { content: time, format: { type: 'TIME', pattern: locale.time } };
  const day = parseDay(text, locale, yearNow);
  if (day !== undefined)
    return { content: day, format: { type: 'DATE', pattern: dayPattern(text, locale) } };
  const match = /^(\S+)[ T](\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]m)?)$/i.exec(text);
  const [date, clock] = [
    match && parseDay(match[1] ?? '', locale, yearNow),
    match && parseTime(match[2] ?? ''),
  ];
  if (typeof date !== 'number' || typeof clock !== 'number') return undefined;
  const iso = /^\d{4}-/.test(text);
  const pattern = iso ? 'yyyy-mm-dd h:mm:ss' : `${locale.date} ${locale.time}`;
  return { content: date + clock, format: { type: 'DATE_TIME', pattern } };
}

/**
 * USER_ENTERED: a text "parsed as if the user typed it into the UI" (discovery document). Formulas, numbers (leading
 * zeros are lost), percents, money, dates, booleans; a leading `'` keeps the rest as text.
 */
export function typeIn(text: string, locale: Locale, yearNow: number): Typed {
  if (text.startsWith("'")) return { content: text.slice(1) };
  // `+420…` and `-2+x` are formulas only if they are not numbers.
  if (text.startsWith('=') && text.length > 1) return { content: new Formula(text) };
  const trimmed = text.trim();
  if (/^true$/i.test(trimmed)) return { content: true };
  if (/^false$/i.test(trimmed)) return { content: false };
  const number = parseNumber(trimmed, locale);
  if (number !== undefined) {
    if (!trimmed.includes(locale.group)) return { content: number };
    const pattern = trimmed.includes(locale.decimal) ? '#,##0.00' : '#,##0';
    return { content: number, format: { type: 'NUMBER', pattern } };
  }
  const percent = trimmed.endsWith('%')
    ? parseNumber(trimmed.slice(0, -1).trim(), locale)
    : undefined;
  if (percent !== undefined) {
    const pattern = Number.isInteger(percent) ? '0%' : '0.00%';
    return { content: percent / 100, format: { type: 'PERCENT', pattern } };
  }
  const money = /^-?\$/.test(trimmed) ? parseNumber(trimmed.replace('$', ''), locale) : undefined;
  if (money !== undefined) {
    return { content: money, format: { type: 'CURRENCY', pattern: '"$"#,##0.00' } };
  }
  if (/^\+[^\d+]/.test(trimmed)) return { content: new Formula(`=${trimmed.slice(1)}`) };
  return parseDate(trimmed, locale, yearNow) ?? { content: text };
}
