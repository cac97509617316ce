import { errorCode } from '../../../base/errors.ts';
import { wordsFor } from '../errors.ts';

/** Primary result codes: https://www.sqlite.org/rescode.html */
const [ERROR, LOCKED, FULL, TOO_BIG] = [1, 6, 13, 18];
/** Another connection uses the file. */
export const BUSY = 5;
/** SQLite has no code of its own for a missing table or column. */
const GONE = 'no such';

/** The result code of a SQLite error; undefined for another error. */
function resultOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return error instanceof Error && typeof errcode === 'number' ? errcode : undefined;
}

/** The lowest byte is the primary code. */
const primaryOf = (error: unknown): number => (resultOf(error) ?? 0) & 0xff;

/** Another connection is using the file at this moment. */
export const isBusy = (error: unknown): boolean => [BUSY, LOCKED].includes(primaryOf(error));

/** The code of an error of ours: there is no room to rewrite the file. */
const NO_ROOM_TO_REWRITE = 'NO_ROOM_TO_REWRITE';

/** A failure to rewrite the file without what was erased. The disk need not be full: SQLite first writes a second copy. */
export const rewriteFailure = (error: unknown): unknown =>
  primaryOf(error) === FULL
    ? Object.assign(new Error('no room', { cause: error }), { code: NO_ROOM_TO_REWRITE })
    : error;

/** The code of an error of ours: a reader keeps what was erased in the file. */
const KEPT_BY_READER = 'KEPT_BY_READER';

/** A failure to move what replaces erased data into the file. */
export const readerFailure = (error: unknown): unknown =>
  isBusy(error)
    ? Object.assign(new Error('a reader', { cause: error }), { code: KEPT_BY_READER })
    : error;

/** SQLite's own wording of constraint errors, which names columns only. A trigger may say anything: it is not quoted. */
const OWN_WORDING =
  /^(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed(?:: [\w ".,-]{1,200})?$/;

/** Errors of node:sqlite and of the file system. */
export const describeSqliteError = wordsFor({
  read(error) {
    const code = resultOf(error);
    if (code === undefined) return { codes: [errorCode(error)] };
    const [primary, { message }] = [primaryOf(error), error];
    const isGone = primary === ERROR && /^no such (?:table|column)/.test(message);
    return {
      codes: [code, isGone ? GONE : primary],
      statement: `SQLite refused a statement (${OWN_WORDING.test(message) ? message : `code ${primary}`})`,
    };
  },
  codes: {
    changed: [GONE],
    // On a full disk, opening a file that no other process has open fails for lack of room for its -shm file: SQLITE_IOERR_SHMSIZE.
    full: [FULL, 4874, 'ENOSPC'],
  },
  remedies: {},
  own: [
    [
      [NO_ROOM_TO_REWRITE],
      'TARGET_FULL',
      'the disk has no room for a second copy of the file, which an erasure needs: what was erased may still be in it',
      'Make as much room as the file takes. The next run rewrites it and continues.',
    ],
    [
      [KEPT_BY_READER],
      'TARGET_FAILED',
      'another program reads the file in a transaction, so what was erased is still in the file',
      'Close that program: the next run removes it. Then repeat the command.',
    ],
    [
      [7, 10],
      'TARGET_FAILED',
      'reading or writing the file failed',
      'Check the disk and the memory of this machine.',
    ],
    [
      [BUSY, LOCKED],
      'TARGET_FAILED',
      'another program has kept the file locked for a minute',
      'A database browser with unsaved changes does that: save or close it there.',
    ],
    [
      [11, 26],
      'TARGET_DENIED',
      'the file is damaged, or not a SQLite database; it was not changed',
      'Choose another file, or restore a backup: the next run adds the missing rows.',
    ],
    [
      // Some folders, such as /proc, do not allow subfolders: ENOENT.
      [
        3,
        8,
        14,
        23,
        ...'EACCES EEXIST EISDIR ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS'.split(' '),
      ],
      'TARGET_DENIED',
      'the file cannot be opened or written',
      'Check that the path names a file, not a folder, and that this user may write the file and its folder.',
    ],
  ],
  faults: { [TOO_BIG]: 'the answers are too large for a row of SQLite' },
});
