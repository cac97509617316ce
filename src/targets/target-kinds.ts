import { type Clock, systemClock } from '../base/clock.ts';
import type { Transport } from '../base/transport.ts';
import type { Store } from '../mirror/port.ts';
import type { HistoryKind } from '../mirror/port.ts';
import { parseBigQueryUrl } from './bigquery.ts';
import { browserAddress, parseSheetAddress } from './google-sheets/api/address.ts';
import type { SheetStoreOptions } from './google-sheets/store.ts';
import {
  openSqlStore,
  parseMysqlUrl,
  parsePostgresUrl,
  parseSqliteUrl,
  type SqlAddress,
} from './sql/address.ts';
import { TargetUrlError } from './target-url-error.ts';

/** The other things that a target is opened with. */
export interface OpenTargetOptions {
  /** The real one when absent. */
  readonly clock?: Clock | undefined;
  /** The history that a SQL target keeps; statuses when absent. */
  readonly history?: HistoryKind | undefined;
  /** Access to Google's services; application default credentials when absent. */
  readonly google?: Omit<SheetStoreOptions, 'clock' | 'name'> | undefined;
  /** Called with the bytes that the target bills for what was just read or written there, where it bills any. */
  readonly onBilled?: ((bytes: number) => void) | undefined;
}

/** A target URL, parsed. The password is only in `open`, so that no listing or log of settings shows it (L15). */
export interface TargetAddress {
  readonly kind: string;
  /** For people: no password. */
  readonly shown: string;
  /** Equal for two addresses of one place, for any user. */
  readonly place: string;
  /** How safely it is reached. */
  readonly transport: Transport;
  /** Opens it under the name from the settings. Loads the driver of its kind and no other; connects at first use. */
  open(name: string, options?: OpenTargetOptions): Promise<Store>;
}

/** Everything that the program needs to know about a kind of target before one is opened. */
interface Kind {
  /** For people. */
  readonly product: string;
  /** What its URLs begin with. */
  readonly begins: RegExp;
  /** How its URL is written, for messages. */
  readonly form: string;
  /** How long an answer of `overview` serves before it is read again, where reading takes of a quota that passes need. */
  readonly overviewRestMs: number;
  /** Reads a URL without connecting or loading a driver. Throws {@link TargetUrlError}. */
  parse(url: string): Omit<TargetAddress, 'kind'>;
}

/** Every kind of target. A new one is an entry here, and an adapter that passes the contract suite. */
const KINDS: Readonly<Record<string, Kind>> = {
  sqlite: {
    product: 'SQLite',
    begins: /^sqlite:/i,
    form: 'sqlite:<file>',
    overviewRestMs: 0,
    parse: (url) => databaseAt(parseSqliteUrl(url)),
  },
  postgres: {
    product: 'PostgreSQL',
    begins: /^postgres(?:ql)?:/i,
    form: 'postgres://user:password@host:5432/database?schema=forms',
    overviewRestMs: 0,
    parse: (url) => databaseAt(parsePostgresUrl(url)),
  },
  mysql: {
    product: 'MySQL or MariaDB',
    begins: /^(?:mysql|mariadb):/i,
    form: 'mysql://user:password@host:3306/database',
    overviewRestMs: 0,
    parse: (url) => databaseAt(parseMysqlUrl(url)),
  },
  bigquery: {
    product: 'BigQuery',
    begins: /^bigquery:/i,
    form: 'bigquery://<project>/<dataset>?location=EU',
    // A look at all forms is billed as 10 MB at least.
    overviewRestMs: 60_000,
    parse(url) {
      const address = parseBigQueryUrl(url);
      return {
        shown: address.shown,
        place: address.place,
        transport: address.transport,
        open: (name, { clock = systemClock, history = 'status', google = {}, onBilled } = {}) =>
          address.open(google, { name, clock, history, onBilled }),
      };
    },
  },
  'google-sheets': {
    product: 'Google Sheets',
    begins: /^(?:sheets:|https:\/\/(?:docs|drive|sheets)\.google\.com\/)/i,
    form: 'the address of a Google Sheet',
    overviewRestMs: 45_000,
    parse(url) {
      const { spreadsheetId } = parseSheetAddress(url);
      const shown = browserAddress(spreadsheetId);
      return {
        shown,
        place: shown,
        // Google's client only speaks https; a stand-in has a setting of its own.
        transport: { host: 'sheets.googleapis.com', weaknesses: [] },
        async open(name, { clock = systemClock, google } = {}) {
          const { openSheetStore } = await import('./google-sheets/store.ts');
          return openSheetStore(spreadsheetId, { ...google, name, clock });
        },
      };
    },
  },
};

const databaseAt = (address: SqlAddress): Omit<TargetAddress, 'kind'> => ({
  shown: address.shown,
  place: address.place,
  transport: address.transport,
  open: (name, { clock = systemClock, history = 'status' } = {}) =>
    openSqlStore(address, { name, clock, history }),
});

/** Parses a target URL of any kind, the only place that does. Throws {@link TargetUrlError}. */
export function parseTargetUrl(url: string): TargetAddress {
  const text = url.trim();
  const found = Object.entries(KINDS).find(([, { begins }]) => begins.test(text));
  if (found !== undefined) {
    const [kind, entry] = found;
    return { kind, ...entry.parse(text) };
  }
  const forms = Object.values(KINDS).map(({ form }) => form);
  throw new TargetUrlError(
    `is of an unknown kind: write ${new Intl.ListFormat('en', { type: 'disjunction' }).format(forms)}`,
  );
}

/** A kind of target in words for people. */
export const productOf = (kind: string): string => KINDS[kind]?.product ?? kind;

/** How long, in ms, an answer of `overview` serves before it is read again. */
export const overviewRestMs = (kind: string): number => KINDS[kind]?.overviewRestMs ?? 0;
