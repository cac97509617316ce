import { type Clock, systemClock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Target, TargetKind } from '../mirror/target.ts';
import { browserAddress, parseSheetAddress } from './google-sheets/address.ts';
import type { SheetsOptions } from './google-sheets/target.ts';
import { parsePostgresUrl } from './sql/postgres/postgres-address.ts';
import { parseSqliteUrl } from './sql/sqlite/sqlite-address.ts';

/** What {@link openTarget} hands to an adapter. */
export interface OpenTargetOptions {
  /** The real one when absent. */
  readonly clock?: Clock | undefined;
  /** Access to Google Sheets; its application default credentials when absent. */
  readonly google?: Omit<SheetsOptions, 'clock'> | undefined;
}

/** Where a target URL leads. */
export interface TargetPlace {
  readonly kind: TargetKind;
  /** For people: no password (L15). */
  readonly address: string;
}

/**
 * The target at `url`; `name` is for messages. Connects to nothing before its first use, and loads no driver but its
 * own. Throws SETTINGS for a URL that can't be used.
 */
export async function openTarget(
  name: string,
  url: string,
  options: OpenTargetOptions = {},
): Promise<Target> {
  switch (kindOf(url)) {
    case 'sqlite': {
      const { openSqlite } = await import('./sql/sqlite/open-sqlite.ts');
      return openSqlite(name, url, options.clock);
    }
    case 'postgres': {
      const { openPostgres } = await import('./sql/postgres/open-postgres.ts');
      return openPostgres(name, url, options.clock);
    }
    case 'google-sheets': {
      const { openSheets } = await import('./google-sheets/target.ts');
      return openSheets(name, url, { ...options.google, clock: options.clock ?? systemClock });
    }
  }
}

/** Looks at a target URL without connecting. Throws SETTINGS, with an example, when it can't be used; never quotes it (L15). */
export function describeTargetUrl(url: string): TargetPlace {
  const kind = kindOf(url);
  switch (kind) {
    case 'sqlite':
      return { kind, address: `sqlite:${parseSqliteUrl(url)}` };
    case 'postgres':
      return { kind, address: parsePostgresUrl(url).shown };
    case 'google-sheets':
      return { kind, address: browserAddress(parseSheetAddress(url).spreadsheetId) };
  }
}

const KINDS: readonly (readonly [RegExp, TargetKind])[] = [
  [/^sqlite:/i, 'sqlite'],
  [/^postgres(?:ql)?:/i, 'postgres'],
  [/^sheets:/i, 'google-sheets'],
  [/^https:\/\/(?:docs|drive|sheets)\.google\.com\//i, 'google-sheets'],
];

function kindOf(url: string): TargetKind {
  const kind = KINDS.find(([pattern]) => pattern.test(url.trim()))?.[1];
  if (kind !== undefined) return kind;
  throw new MirrorError(
    'SETTINGS',
    'The target URL is of no kind we know: write sqlite:<file>, postgres://…, or the address of a Google Sheet. ' +
      'Examples: sqlite:./data/mirror.sqlite, postgres://user:password@host:5432/database?schema=forms.',
  );
}
