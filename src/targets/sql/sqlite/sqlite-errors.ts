import { errorCode } from '../../../base/error-code.ts';
import {
  diskFull,
  type ErrorDescription,
  refusedStatement,
  SCHEMA_CHANGED,
} from '../sql-errors.ts';

/** Primary result codes: https://www.sqlite.org/rescode.html */
const [ERROR, BUSY, LOCKED, TOO_BIG, CONSTRAINT, MISMATCH] = [1, 5, 6, 18, 19, 20];

/** The primary result code of an error of SQLite's; undefined for another error. */
export function resultOf(error: unknown): number | undefined {
  const errcode = error instanceof Error ? (error as { errcode?: unknown }).errcode : undefined;
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Another connection has the file for the moment. */
export const isBusy = (error: unknown): boolean => {
  const result = resultOf(error);
  return result === BUSY || result === LOCKED;
};

const LOCKED_FILE: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'another program has kept the file locked for a minute',
  remedy: 'A database browser with unsaved changes does that: save or close it there.',
};
const UNWRITABLE: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the file cannot be written',
  remedy: 'Give this user the right to write it and its folder, or choose another file.',
};
const BROKEN_DISK: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'reading or writing the file failed',
  remedy: 'Check the disk and the memory of this machine.',
};

const CANNOT_OPEN: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the file cannot be opened',
  remedy:
    'Check that the path is right and not a folder, and that this user may read and write it.',
};

const BY_SQLITE_CODE: Readonly<Record<number, ErrorDescription>> = {
  3: UNWRITABLE,
  [BUSY]: LOCKED_FILE,
  [LOCKED]: LOCKED_FILE,
  7: BROKEN_DISK,
  8: UNWRITABLE,
  10: BROKEN_DISK,
  11: {
    code: 'TARGET_FAILED',
    what: 'the database is damaged',
    remedy: 'Move the file away or restore a backup; the next run adds the missing rows.',
    retryable: false,
  },
  13: diskFull('the disk'),
  14: CANNOT_OPEN,
  23: UNWRITABLE,
  26: {
    code: 'TARGET_DENIED',
    what: 'the file is not a SQLite database, so it was not changed',
    remedy: 'Choose another file.',
  },
};

/**
 * SQLITE_IOERR_SHMSIZE: the few pages beside a file that it is opened with cannot be made. On a full disk this is the
 * first symptom, as a file that no process has open has no such pages yet.
 */
const NO_ROOM_TO_OPEN = 4874;

const UNWRITABLE_FOLDER: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'the folder cannot be written',
  remedy: 'Give this user the right to write there, or choose another place.',
};
const NO_FOLDER: ErrorDescription = {
  code: 'TARGET_DENIED',
  what: 'a part of the path is a file, not a folder',
  remedy: 'Choose another place.',
};

const BY_SYSTEM_CODE: Readonly<Record<string, ErrorDescription>> = {
  EISDIR: CANNOT_OPEN,
  EACCES: UNWRITABLE_FOLDER,
  // Some folders take no subfolders, such as /proc.
  ENOENT: UNWRITABLE_FOLDER,
  ENAMETOOLONG: UNWRITABLE_FOLDER,
  ELOOP: UNWRITABLE_FOLDER,
  EPERM: UNWRITABLE_FOLDER,
  EROFS: UNWRITABLE_FOLDER,
  ENOTDIR: NO_FOLDER,
  EEXIST: NO_FOLDER,
  ENOSPC: diskFull('the disk'),
};

/** Errors of node:sqlite and of the file system. */
export function describeSqliteError(error: unknown): ErrorDescription | undefined {
  const code = resultOf(error);
  if (code === undefined) return BY_SYSTEM_CODE[errorCode(error) ?? ''];
  if ((error as { errcode?: unknown }).errcode === NO_ROOM_TO_OPEN) return diskFull('the disk');
  // SQLite has no code of its own for it.
  if (code === ERROR && /^no such (?:table|column)/.test((error as Error).message))
    return SCHEMA_CHANGED;
  return BY_SQLITE_CODE[code] ?? refusedStatement('SQLite', `code ${code}`);
}

/** SQLite's own wording of constraint errors, which names columns only. A trigger may say anything: it is not quoted. */
const OWN_WORDING =
  /^(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed(?:: [\w ".,-]{1,200})?$/;

/** Why a row was refused; undefined for an error that is not about a row. */
export function refusalOf(error: unknown): { reason: string; isOfRow: boolean } | undefined {
  if (errorCode(error) === 'MIRROR_SWALLOWED')
    return { reason: (error as Error).message, isOfRow: false };
  const result = resultOf(error);
  if (result === TOO_BIG)
    return { reason: 'the answers are too large for a row of SQLite', isOfRow: true };
  if (result !== CONSTRAINT && result !== MISMATCH) return undefined;
  const text =
    error instanceof Error && OWN_WORDING.test(error.message) ? `: ${error.message}` : '';
  return {
    reason: `a constraint or trigger that was added to the table refuses the row${text}`,
    isOfRow: false,
  };
}
