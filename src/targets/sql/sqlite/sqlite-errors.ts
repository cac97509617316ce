import { errorCode } from '../../../base/error-code.ts';
import {
  byCode,
  diskFull,
  type ErrorDescription,
  type Refusal,
  refusedStatement,
  SCHEMA_CHANGED,
} from '../errors.ts';

/** Primary result codes: https://www.sqlite.org/rescode.html */
const [ERROR, BUSY, LOCKED, TOO_BIG, CONSTRAINT, MISMATCH] = [1, 5, 6, 18, 19, 20];

/** The result code of an error of SQLite's; undefined for another error. */
function resultOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return error instanceof Error && typeof errcode === 'number' ? errcode : undefined;
}

/** Its least byte says the kind of an error. */
const primaryOf = (error: unknown): number => (resultOf(error) ?? 0) & 0xff;

/** Another connection has the file for the moment. */
export const isBusy = (error: unknown): boolean => [BUSY, LOCKED].includes(primaryOf(error));

const denied = (what: string, remedy: string): ErrorDescription => ({
  code: 'TARGET_DENIED',
  what,
  remedy,
});

const LOCKED_FILE: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'another program has kept the file locked for a minute',
  remedy: 'A database browser with unsaved changes does that: save or close it there.',
};
const UNWRITABLE = denied(
  'the file cannot be written',
  'Give this user the right to write it and its folder, or choose another file.',
);
const BROKEN_DISK: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'reading or writing the file failed',
  remedy: 'Check the disk and the memory of this machine.',
};
const CANNOT_OPEN = denied(
  'the file cannot be opened',
  'Check that the path is right and not a folder, and that this user may read and write it.',
);
const DAMAGED: ErrorDescription = {
  code: 'TARGET_FAILED',
  what: 'the database is damaged',
  remedy: 'Move the file away or restore a backup; the next run adds the missing rows.',
  retryable: false,
};
const UNWRITABLE_FOLDER = denied(
  'the folder cannot be written',
  'Give this user the right to write there, or choose another place.',
);

/**
 * Codes of SQLite and of the system. On a full disk the first symptom is SQLITE_IOERR_SHMSIZE (4874): a file that no process has open
 * lacks the few pages beside it that it is opened with. Some folders take no subfolders, such as /proc (ENOENT).
 */
const BY_CODE = byCode(
  [LOCKED_FILE, BUSY, LOCKED],
  [UNWRITABLE, 3, 8, 23],
  [BROKEN_DISK, 7, 10],
  [DAMAGED, 11],
  [diskFull('the disk'), 13, 4874, 'ENOSPC'],
  [CANNOT_OPEN, 14, 'EISDIR'],
  [denied('the file is not a SQLite database, so it was not changed', 'Choose another file.'), 26],
  [UNWRITABLE_FOLDER, 'EACCES', 'ENOENT', 'ENAMETOOLONG', 'ELOOP', 'EPERM', 'EROFS'],
  [
    denied('a part of the path is a file, not a folder', 'Choose another place.'),
    'ENOTDIR',
    'EEXIST',
  ],
);

/** Errors of node:sqlite and of the file system. */
export function describeSqliteError(error: unknown): ErrorDescription | undefined {
  const code = resultOf(error);
  if (code === undefined) return BY_CODE.get(errorCode(error) ?? '');
  const primary = primaryOf(error);
  // SQLite has no code of its own for it.
  if (primary === ERROR && /^no such (?:table|column)/.test((error as Error).message))
    return SCHEMA_CHANGED;
  return BY_CODE.get(code) ?? BY_CODE.get(primary) ?? refusedStatement('SQLite', `code ${primary}`);
}

/** SQLite's own wording of constraint errors, which names columns only. A trigger may say anything: it is not quoted. */
const OWN_WORDING =
  /^(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed(?:: [\w ".,-]{1,200})?$/;

/** Why a row was refused; undefined for an error that is not about a row. */
export function refusalOf(error: unknown): Refusal | undefined {
  const primary = primaryOf(error);
  if (primary === TOO_BIG)
    return { reason: 'the answers are too large for a row of SQLite', isOfRow: true };
  if (primary !== CONSTRAINT && primary !== MISMATCH) return undefined;
  const { message } = error as Error;
  return {
    reason: `a constraint or trigger that was added to the table refuses the row${OWN_WORDING.test(message) ? `: ${message}` : ''}`,
    isOfRow: false,
  };
}
