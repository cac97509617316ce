import { MirrorError } from '../../base/errors.ts';
import { slugsFrom, slugsText } from '../../mirror/slugs.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlSession, textOf } from './sql-session.ts';

/** Their key in `mirror_meta`. */
const KEY = 'slugs';

/** The name of the lock on them: no form's. */
export const SLUGS_LOCK = 'slugs';

/** IDs of forms by the slugs that name them; none where `mirror_meta` is not there: not yet, or not any more. */
export async function readSlugs(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<Map<string, string>> {
  if ((await dialect.columnsOf(session, 'mirror_meta')) === undefined) return new Map();
  const [row] = await session.query(
    `SELECT value FROM ${dialect.relation('mirror_meta')} WHERE "key" = $1`,
    [KEY],
  );
  return slugsFrom(row === undefined ? null : textOf(row, 'value'));
}

/** Keeps that a slug names a form, unless it names one. Resolves to the form that it names. To be called under {@link SLUGS_LOCK}. */
export async function saveSlug(
  tx: SqlSession,
  dialect: SqlDialect,
  slug: string,
  formId: string,
): Promise<string> {
  const known = await readSlugs(tx, dialect);
  const before = known.get(slug);
  if (before !== undefined) return before;
  await tx.query(
    `INSERT INTO ${dialect.relation('mirror_meta')} ("key", value) VALUES ($1, $2)
     ON CONFLICT ("key") DO UPDATE SET value = excluded.value`,
    [KEY, slugsText(known.set(slug, formId))],
  );
  return formId;
}

/** Another process is writing one. */
export const busySlugs = (place: string): MirrorError =>
  new MirrorError(
    'TARGET_BUSY',
    `${place}: another process is keeping there which form a slug names. It is tried again at the next run.`,
  );
