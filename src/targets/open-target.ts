import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Target, TargetKind } from '../mirror/target.ts';

/** What {@link openTarget} hands to an adapter. */
export interface OpenTargetOptions {
  /** The real one when absent. */
  readonly clock?: Clock | undefined;
}

/**
 * The target at `url`; `name` is for messages. Nothing is connected to before the first use. Throws SETTINGS for an
 * address of a kind we don't know.
 */
export async function openTarget(
  name: string,
  url: string,
  options: OpenTargetOptions = {},
): Promise<Target> {
  switch (targetKindOf(url)) {
    case 'sqlite': {
      const { openSqlite } = await import('./sql/sqlite/open-sqlite.ts');
      return openSqlite(name, url, options.clock);
    }
    case 'postgres': {
      const { openPostgres } = await import('./sql/postgres/open-postgres.ts');
      return openPostgres(name, url, options.clock);
    }
    case 'google-sheets':
      throw new MirrorError('SETTINGS', `Target ${name}: this kind of target is not there yet.`);
  }
}

/** What kind of target an address leads to. Throws SETTINGS, with examples, when it is none. Never quotes it (L15). */
export function targetKindOf(url: string): TargetKind {
  const kind = KINDS.find(([pattern]) => pattern.test(url))?.[1];
  if (kind !== undefined) return kind;
  throw new MirrorError(
    'SETTINGS',
    'A target URL has to be sqlite:<file>, postgres://…, or the address of a Google Sheet. ' +
      'Examples: sqlite:./data/mirror.sqlite, postgres://user:password@host:5432/database?schema=forms.',
  );
}

const KINDS: readonly (readonly [RegExp, TargetKind])[] = [
  [/^sqlite:(?:\/\/)?\S/i, 'sqlite'],
  [/^postgres(?:ql)?:\/\//i, 'postgres'],
  [/^sheets:\S/i, 'google-sheets'],
  [/^https:\/\/docs\.google\.com\/.*spreadsheets\/(?:u\/\d+\/)?d\//i, 'google-sheets'],
];
