import { MirrorError } from '../../base/errors.ts';
import { plural } from '../../base/format.ts';
import { forgottenHash, newSalt } from '../../mirror/forgotten.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import type { Catalogue } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import {
  numberOf,
  piecesOf,
  placeholders,
  type SqlSession,
  textOf,
  textOrNull,
} from './sql-session.ts';

/*
 * `mirror_forgotten`: which submissions stay away (L18). All of a form share one salt, so that a batch is looked up by
 * its own hashes, however many were forgotten. Nothing else could tell them again, so that `mirror_meta` holds a copy of
 * each note, from which a writer restores what people deleted, and `mirror_forms` counts them: where some are missing all
 * the same, nothing is stored that might be one of them. The count moves by what a statement added or removed alone:
 * forgetting others, or letting them come back, does not make good what is lost.
 */

/** Hashes looked up or written by one statement. */
const HASHES_A_STATEMENT = 1_000;

const saltOf = async (
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<string | undefined> => {
  const [row] = await session.query(
    `SELECT salt FROM ${dialect.relation('mirror_forgotten')} WHERE form_id = $1 LIMIT 1`,
    [formId],
  );
  return row && textOf(row, 'salt');
};

/** Of these IDs those that were forgotten, each with when. */
export async function readForgotten(
  { session, dialect }: Catalogue,
  formId: string,
  ids: Iterable<string>,
): Promise<Map<string, string>> {
  const salt = await saltOf(session, dialect, formId);
  return salt === undefined ? new Map() : notesOf(session, dialect, { formId, salt }, ids);
}

async function notesOf(
  session: SqlSession,
  dialect: SqlDialect,
  { formId, salt }: { readonly formId: string; readonly salt: string },
  ids: Iterable<string>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const byHash = new Map([...ids].map((id) => [forgottenHash(salt, formId, id), id]));
  for (const piece of piecesOf([...byHash.keys()], HASHES_A_STATEMENT)) {
    const rows = await session.query(
      `SELECT id_hash, ${dialect.timeText('forgotten_at')} AS forgotten_at
       FROM ${dialect.relation('mirror_forgotten')} WHERE form_id = $1 AND ${dialect.isIn('id_hash', '$2')}`,
      [formId, dialect.list(piece)],
    );
    for (const row of rows) {
      const id = byHash.get(textOf(row, 'id_hash'));
      if (id !== undefined) found.set(id, dialect.time(row['forgotten_at']) ?? '');
    }
  }
  return found;
}

/** Those of a batch that is to be stored. Throws TARGET_FAILED when notes of the form are lost. */
export async function forgottenOf(
  tx: SqlSession,
  dialect: SqlDialect,
  { id: formId, slug }: FormIdentity,
  ids: Iterable<string>,
  place: string,
): Promise<Set<string>> {
  const table = dialect.relation('mirror_forgotten');
  const [row] = await tx.query(
    `SELECT coalesce((SELECT forgotten_count FROM ${dialect.relation('mirror_forms')} WHERE form_id = $1), 0)
       - (SELECT count(*) FROM ${table} WHERE form_id = $1) AS missing,
       (SELECT salt FROM ${table} WHERE form_id = $1 LIMIT 1) AS salt`,
    [formId],
  );
  const missing = row === undefined ? 0 : numberOf(row, 'missing');
  if (missing > 0) {
    const name = dialect.shownRelation('mirror_forgotten');
    // Only mid-pass, where the next writer finds the copies.
    const remedy =
      (await readCopies(tx, dialect, formId)).length > 0
        ? 'The next pass restores it.'
        : `Its copy in ${dialect.shownRelation('mirror_meta')} is gone, too: restore both from a backup, or ${dialect.chooseAnotherPlace} and forget them there.`;
    throw new MirrorError(
      'TARGET_FAILED',
      `${place}: the table ${name}, which keeps forgotten submissions away, was dropped or changed: ` +
        `${plural(missing, 'submission')} of ${slug} could come back, so nothing was written. ${remedy}`,
      { retryable: false },
    );
  }
  const salt = row === undefined ? null : textOrNull(row, 'salt');
  if (salt === null) return new Set();
  return new Set((await notesOf(tx, dialect, { formId, salt }, ids)).keys());
}

/** A note as it is kept twice. */
interface Note {
  readonly hash: string;
  readonly salt: string;
  readonly at: string;
}

const copyPrefix = (formId: string): string => `forgotten ${formId} `;

/** The notes of a form that `mirror_meta` holds copies of. */
async function readCopies(
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<Note[]> {
  const prefix = copyPrefix(formId);
  const rows = await session.query(
    `SELECT "key", value FROM ${dialect.relation('mirror_meta')} WHERE substr("key", 1, $2) = $1`,
    // In code points, as every product counts them.
    [prefix, Array.from(prefix).length],
  );
  return rows.flatMap((row) => {
    const hash = textOf(row, 'key').slice(prefix.length);
    const [salt = '', at = ''] = textOf(row, 'value').split(' ');
    // The ID of another form may begin as this one does, with a space behind it.
    return hash.includes(' ') || Number.isNaN(Date.parse(at)) ? [] : [{ hash, salt, at }];
  });
}

async function saveCopies(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  notes: readonly Note[],
): Promise<void> {
  for (const piece of piecesOf(notes, HASHES_A_STATEMENT / 2)) {
    await tx.query(
      `INSERT INTO ${dialect.relation('mirror_meta')} ("key", value)
       VALUES ${placeholders(piece.length, 2)} ON CONFLICT ("key") DO NOTHING`,
      piece.flatMap(({ hash, salt, at }) => [copyPrefix(formId) + hash, `${salt} ${at}`]),
    );
  }
}

/** Adds notes to the table; hashes of those that it did not have. */
async function addNotes(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  notes: readonly Note[],
): Promise<Set<string>> {
  const added = new Set<string>();
  for (const piece of piecesOf(notes, HASHES_A_STATEMENT / 4)) {
    const rows = await tx.query(
      `INSERT INTO ${dialect.relation('mirror_forgotten')} (form_id, id_hash, salt, forgotten_at)
       VALUES ${placeholders(piece.length, 4)} ON CONFLICT (form_id, id_hash) DO NOTHING RETURNING id_hash`,
      piece.flatMap(({ hash, salt, at }) => [formId, hash, salt, dialect.timeValue(at)]),
    );
    for (const row of rows) added.add(textOf(row, 'id_hash'));
  }
  return added;
}

/**
 * Restores notes of a form that people deleted from their copies, and copies from the notes; a count that is gone, or too
 * small, is taken from what is there. For a writer that opens, under the lock of the form.
 */
export async function restoreForgotten(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<void> {
  const table = dialect.relation('mirror_forgotten');
  const copies = await readCopies(tx, dialect, formId);
  const rows = await tx.query(
    `SELECT id_hash, salt, ${dialect.timeText('forgotten_at')} AS forgotten_at FROM ${table} WHERE form_id = $1`,
    [formId],
  );
  const notes = rows.map((row): Note => {
    const at = dialect.time(row['forgotten_at']) ?? '';
    return { hash: textOf(row, 'id_hash'), salt: textOf(row, 'salt'), at };
  });
  await addNotes(tx, dialect, formId, without(copies, notes));
  await saveCopies(tx, dialect, formId, without(notes, copies));
  await tx.query(
    `UPDATE ${dialect.relation('mirror_forms')} SET forgotten_count = $1
     WHERE form_id = $2 AND coalesce(forgotten_count, 0) < $1`,
    [new Set([...notes, ...copies].map(({ hash }) => hash)).size, formId],
  );
}

function without(notes: readonly Note[], known: readonly Note[]): Note[] {
  const hashes = new Set(known.map(({ hash }) => hash));
  return notes.filter(({ hash }) => !hashes.has(hash));
}

const countNotes = (
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  change: number,
): Promise<unknown> =>
  tx.query(
    `UPDATE ${dialect.relation('mirror_forms')}
     SET forgotten_count = coalesce(forgotten_count, 0) + $1 WHERE form_id = $2`,
    [change, formId],
  );

/** Notes that these submissions stay away; those noted already keep their time. */
export async function saveForgotten(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  ids: readonly string[],
  at: string,
): Promise<void> {
  const salt = (await saltOf(tx, dialect, formId)) ?? newSalt();
  const notes = ids.map((id): Note => ({ hash: forgottenHash(salt, formId, id), salt, at }));
  const added = await addNotes(tx, dialect, formId, notes);
  const isNew = ({ hash }: Note): boolean => added.has(hash);
  await saveCopies(tx, dialect, formId, notes.filter(isNew));
  await countNotes(tx, dialect, formId, added.size);
}

/** Takes the notes back; how many there were. */
export async function dropForgotten(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  ids: readonly string[],
): Promise<number> {
  const salt = await saltOf(tx, dialect, formId);
  if (salt === undefined) return 0;
  let dropped = 0;
  for (const piece of piecesOf(ids, HASHES_A_STATEMENT)) {
    const hashes = piece.map((id) => forgottenHash(salt, formId, id));
    const rows = await tx.query(
      `DELETE FROM ${dialect.relation('mirror_forgotten')}
       WHERE form_id = $1 AND ${dialect.isIn('id_hash', '$2')} RETURNING id_hash`,
      [formId, dialect.list(hashes)],
    );
    await tx.query(
      `DELETE FROM ${dialect.relation('mirror_meta')} WHERE ${dialect.isIn('"key"', '$1')}`,
      [dialect.list(hashes.map((hash) => copyPrefix(formId) + hash))],
    );
    dropped += rows.length;
  }
  await countNotes(tx, dialect, formId, -dropped);
  return dropped;
}

/** How many submissions of each form were forgotten. */
export async function countForgotten({
  session,
  dialect,
}: Catalogue): Promise<Map<string, number>> {
  const rows = await session.query(
    `SELECT form_id, count(*) AS forgotten FROM ${dialect.relation('mirror_forgotten')} GROUP BY form_id`,
  );
  return new Map(rows.map((row) => [textOf(row, 'form_id'), numberOf(row, 'forgotten')]));
}
