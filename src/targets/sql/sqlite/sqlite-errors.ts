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
  remedies: {
    // SQLite writes a second copy to rewrite the file.
    full: 'Make room. An erasure needs as much as the file takes; until then, what it erased may still be in the file. The next run continues.',
  },
  own: [
    [
      [7, 10],
      'TARGET_FAILED',
      'reading or writing the file failed',
      'Check the disk and the memory of this machine.',
    ],
    [
      [BUSY, LOCKED],
      'TARGET_FAILED',
      'another program has kept the file in use for a minute',
      'A database browser with unsaved changes or an open query does that: save or close it there. Repeat an erasure that ended so: what it erased may still be in the file.',
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
