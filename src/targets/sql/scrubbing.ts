import type { TargetNotice } from '../../mirror/notices.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlSession, textOf } from './sql-session.ts';

/** Begins a key in `mirror_meta`, with a form's ID: something of it was removed whose bytes may still be in the database's files. */
const KEY = 'scrub:';

/** Notes, with what removes it, that the files have to be scrubbed: whoever dies before leaves that to the next. */
export async function noteScrub(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  at: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO ${dialect.relation('mirror_meta')} ("key", value) VALUES ($1, $2)
     ON CONFLICT ("key") DO UPDATE SET value = excluded.value`,
    [`${KEY}${formId}`, at],
  );
}

/** The forms of which that was noted and not done since. */
async function scrubsOf(session: SqlSession, dialect: SqlDialect): Promise<string[]> {
  const rows = await session.query(
    `SELECT "key" FROM ${dialect.relation('mirror_meta')} WHERE ${IS_NOTE}`,
  );
  return rows.map((row) => textOf(row, 'key').slice(KEY.length));
}

/** Whether that was noted and not done since. */
export const needsScrub = async (session: SqlSession, dialect: SqlDialect): Promise<boolean> =>
  (await scrubsOf(session, dialect)).length > 0;

/** Takes the notes back. */
export async function endScrub(session: SqlSession, dialect: SqlDialect): Promise<void> {
  await session.query(`DELETE FROM ${dialect.relation('mirror_meta')} WHERE ${IS_NOTE}`);
}

const IS_NOTE = `"key" LIKE '${KEY}%'`;

/** What there is to say of a form whose erasure has not come to its end yet, or never did. */
export async function scrubNotice(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<(formId: string, place: string) => TargetNotice[]> {
  const forms = dialect.scrubs ? await scrubsOf(session, dialect) : [];
  return (formId, place) =>
    forms.includes(formId)
      ? [
          {
            code: 'SCRUB_PENDING',
            blocks: false,
            tab: place,
            columns: [],
            rows: [],
            message: 'What was erased or replaced here is still in the files of the database.',
            remedy:
              'The next pass takes it out of them, and so does the same erasure again: forms-mirror sync',
          },
        ]
      : [];
}
