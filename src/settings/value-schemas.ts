import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { isLoopback } from '../base/transport.ts';

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const YEAR_MS = 366 * UNITS_MS.d;

/** A value as a message quotes it, shortened, on one line. Only for values that cannot be secret. */
export function quoted(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ');
  return `"${line.length > 40 ? `${line.slice(0, 39)}…` : line}"`;
}

/** A schema from a parser that returns undefined for invalid text; `complain` makes the message. */
function textTo<T>(parse: (text: string) => T | undefined, complain: (text: string) => string) {
  return z.string().transform((text, context): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: complain(text) });
    return z.NEVER;
  });
}

/** `30s`, `1m`, `6h`, `1d` (`1.5h` too) as whole milliseconds, from one second to a year. */
export const duration = textTo(
  (text) => {
    const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/i.exec(text);
    if (!match) return undefined;
    const unit = (match[2] ?? '').toLowerCase() as keyof typeof UNITS_MS;
    const ms = Math.round(Number(match[1]) * UNITS_MS[unit]);
    return ms >= 1_000 && ms <= YEAR_MS ? ms : undefined;
  },
  (text) =>
    /^[\d.]+$/.test(text)
      ? `is ${quoted(text)} without a unit: write ${text}s, ${text}m, ${text}h or ${text}d`
      : `is ${quoted(text)}: write a duration of one second to a year, such as 30s, 1m, 6h or 1d`,
);

/** A whole number within bounds. */
export const wholeNumber = (min: number, max: number) =>
  textTo(
    (text) => {
      const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
    (text) => `is ${quoted(text)}: write a whole number from ${min} to ${max}`,
  );

/** A part of one: 0 to 1. */
export const fraction = textTo(
  (text) => {
    const number = /^(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
    return number <= 1 ? number : undefined;
  },
  (text) => `is ${quoted(text)}: write a number from 0 to 1, such as 0.2 for a fifth`,
);

/** One of a few words, in any case. */
export const oneOf = <const T extends string>(words: readonly T[]) =>
  textTo(
    (text) => words.find((word) => word.toLowerCase() === text.toLowerCase()),
    (text) => `is ${quoted(text)}: write ${wordList(words)}`,
  );

/** `a, b or c`. */
function wordList(words: readonly string[]): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}

/** A secret of at least so many characters: fewer can be found by trial and error. `command` makes a good one. */
export const secretOf = (least: number, command: string) =>
  z
    .string()
    .min(
      least,
      `is shorter than ${least} characters, so it can be guessed. Make one with: ${command}`,
    );

/** Entries between commas, white space or line breaks, each once. */
export const list = textTo(
  (text) => {
    const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
    return entries.length > 0 ? [...new Set(entries)] : undefined;
  },
  () => 'is an empty list',
);

/** A list of some of these words, in any case. */
export const listOf = <const T extends string>(words: readonly T[]) =>
  list.pipe(
    z.array(z.string()).transform((entries, context): T[] => {
      const found = entries.map((entry) =>
        words.find((word) => word.toLowerCase() === entry.toLowerCase()),
      );
      const wrong = entries.filter((_, index) => found[index] === undefined);
      if (wrong.length > 0) {
        context.addIssue({
          code: 'custom',
          message: `holds ${quoted(wrong.join(', '))}: it takes ${wordList(words)}`,
        });
      }
      return found.filter((word) => word !== undefined);
    }),
  );

/** A cron expression of five or six fields, or `@hourly` and its like, as BullMQ reads it. */
export const cronPattern = textTo(
  (text) => {
    if (!text.startsWith('@') && ![5, 6].includes(text.split(/\s+/).length)) return undefined;
    try {
      CronExpressionParser.parse(text).next();
      return text;
    } catch {
      return undefined;
    }
  },
  (text) =>
    `is ${quoted(text)}, which is not a cron expression: write minute hour day month weekday`,
);

/** A name of the IANA time zone database, in its own spelling. */
export const timeZone = textTo(
  (text) => {
    if (/^[+-]/.test(text)) return undefined;
    try {
      return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
    } catch {
      return undefined;
    }
  },
  (text) =>
    `is ${quoted(text)}, which is not a known time zone: write a name such as Europe/Prague`,
);

/**
 * A web address, without a slash at its end: https, or http for a loopback host. Messages never quote it: people paste
 * keys into the wrong line.
 */
export const apiAddress = z.string().transform((text, context): string => {
  const wrong = complaintAboutAddress(text);
  if (wrong === undefined) return text.replace(/\/+$/, '');
  context.addIssue({ code: 'custom', message: wrong });
  return z.NEVER;
});

function complaintAboutAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return 'is not a web address: write it whole, beginning with https://';
  }
  if (url.username !== '' || url.password !== '') {
    return 'holds a user name or password: the address takes none';
  }
  // Not url.search and url.hash, which are empty for a bare ? or #.
  if (/[?#]/.test(text)) return 'must end before any ? or #';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'is plain http: others could read the traffic; write https:// (http is for a loopback host only)';
  }
  return undefined;
}
