import { systemClock } from '../base/clock.ts';
import { AddressError } from '../base/transport.ts';
import { parseBigQueryUrl } from './bigquery.ts';
import { browserAddress, parseSheetAddress } from './google-sheets/api/address.ts';
import { parseMysqlUrl, parsePostgresUrl, parseSqliteUrl } from './sql/address.ts';
import type { Address } from './target-address.ts';

/** A target URL, parsed. */
export interface TargetAddress extends Address {
  readonly kind: string;
}

/** What the program must know about a kind of target before one is opened. */
interface Kind {
  /** For people. */
  readonly product: string;
  /** How its URLs begin. */
  readonly begins: RegExp;
  /** How its URL is written, for messages. */
  readonly form: string;
  /** How long a reading of all forms is used before they are read again, if reading costs money or a quota that runs need. */
  readonly readingLastsMs?: number;
  /** Reads a URL without connecting or loading a driver. Throws {@link AddressError}. */
  parse(url: string): Address;
}

/** Every kind of target. A new kind is an entry here, plus an adapter that passes the contract suite. */
const KINDS: Readonly<Record<string, Kind>> = {
  sqlite: {
    product: 'SQLite',
    begins: /^sqlite:/i,
    form: 'sqlite:<file>',
    parse: parseSqliteUrl,
  },
  postgres: {
    product: 'PostgreSQL',
    begins: /^postgres(?:ql)?:/i,
    form: 'postgres://user:password@host:5432/database?schema=forms',
    parse: parsePostgresUrl,
  },
  mysql: {
    product: 'MySQL or MariaDB',
    begins: /^(?:mysql|mariadb):/i,
    form: 'mysql://user:password@host:3306/database',
    parse: parseMysqlUrl,
  },
  bigquery: {
    product: 'BigQuery',
    begins: /^bigquery:/i,
    form: 'bigquery://<project>/<dataset>?location=EU',
    // Reading all forms is billed as at least 10 MB.
    readingLastsMs: 60_000,
    parse: parseBigQueryUrl,
  },
  'google-sheets': {
    product: 'Google Sheets',
    begins: /^(?:sheets:|https:\/\/(?:docs|drive|sheets)\.google\.com\/)/i,
    form: 'the address of a Google Sheet',
    readingLastsMs: 45_000,
    parse(url) {
      const spreadsheetId = parseSheetAddress(url);
      const shown = browserAddress(spreadsheetId);
      return {
        shown,
        place: shown,
        // Google's client only speaks https; a stand-in has a setting of its own.
        transport: { hosts: ['sheets.googleapis.com'], weaknesses: [] },
        async open(name, { clock = systemClock, google } = {}) {
          const { openSheetStore } = await import('./google-sheets/store.ts');
          return openSheetStore(spreadsheetId, { ...google, name, clock });
        },
      };
    },
  },
};

/** Parses a target URL of any kind; nothing else does. Throws {@link AddressError}. */
export function parseTargetUrl(url: string): TargetAddress {
  const text = url.trim();
  const found = Object.entries(KINDS).find(([, { begins }]) => begins.test(text));
  if (found !== undefined) {
    const [kind, entry] = found;
    return { kind, ...entry.parse(text) };
  }
  const forms = Object.values(KINDS).map(({ form }) => form);
  throw new AddressError(
    `is of an unknown kind: write ${new Intl.ListFormat('en', { type: 'disjunction' }).format(forms)}`,
  );
}

/** A kind of target in words for people. */
export const productOf = (kind: string): string => KINDS[kind]?.product ?? kind;

/** How long a reading of all forms is used before they are read again (milliseconds). */
export const readingLastsMs = (kind: string): number => KINDS[kind]?.readingLastsMs ?? 0;
