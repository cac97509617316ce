import { errorCode } from '../../../base/error-code.ts';
import type { RowDefect } from '../dialect.ts';
import {
  diskFull,
  type ErrorDescription,
  refusedStatement,
  SCHEMA_CHANGED,
} from '../sql-errors.ts';

/** Primary result codes: https://www.sqlite.org/rescode.html */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const MISMATCH = 20;

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
  remedy: 'Check that the path is right and no folder, and that this user may read and write it.',
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
    remedy: 'Move the file away or restore a backup; the next pass fills in what is missing.',
    retryable: false,
  },
  13: diskFull('the disk'),
  14: CANNOT_OPEN,
  23: UNWRITABLE,
  26: {
    code: 'TARGET_DENIED',
    what: 'the file is no SQLite database, so it was left alone',
    remedy: 'Choose another file.',
  },
};

/**
 * SQLITE_IOERR_SHMSIZE: the few pages beside a file that it is opened with cannot be made. Where a disk is full, this is the
 * first that is noticed of it, as nothing lies beside a file that nobody has open.
 */
const NO_ROOM_TO_OPEN = 4874;

/** The code of errors of a thread that has ended by itself. */
export const THREAD_ENDED = 'SQLITE_THREAD_ENDED';

/** The code of errors of statements whose transaction is gone. */
const ROLLED_BACK = 'SQLITE_ROLLED_BACK';

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
  // Some folders take no subfolders, /proc for one.
  ENOENT: UNWRITABLE_FOLDER,
  ENAMETOOLONG: UNWRITABLE_FOLDER,
  ELOOP: UNWRITABLE_FOLDER,
  EPERM: UNWRITABLE_FOLDER,
  EROFS: UNWRITABLE_FOLDER,
  ENOTDIR: NO_FOLDER,
  EEXIST: NO_FOLDER,
  ENOSPC: diskFull('the disk'),
  [THREAD_ENDED]: {
    code: 'TARGET_FAILED',
    what: 'the thread that writes the file has ended, perhaps for lack of memory',
    remedy: 'What it had not committed is not in the file; the next pass goes on.',
  },
  [ROLLED_BACK]: {
    code: 'TARGET_FAILED',
    what: 'a constraint or trigger that was added to the table rolled back the whole batch, of which nothing was stored',
    remedy:
      'Have it refuse single rows: RAISE(ABORT), not RAISE(ROLLBACK) or ON CONFLICT ROLLBACK.',
  },
};

/** See {@link DescribeError}: errors of node:sqlite, of the file system and of threads. */
export function describeSqliteError(error: unknown): ErrorDescription | undefined {
  const code = sqliteCodeOf(error);
  if (code === undefined) return BY_SYSTEM_CODE[errorCode(error) ?? ''];
  if ((error as { errcode?: unknown }).errcode === NO_ROOM_TO_OPEN) return diskFull('the disk');
  // SQLite has no code of its own for it.
  if (code === ERROR && /^no such (?:table|column)/.test((error as Error).message))
    return SCHEMA_CHANGED;
  return BY_SQLITE_CODE[code] ?? refusedStatement('SQLite', `code ${code}`);
}

/** True when another connection holds the file for the moment. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === BUSY || code === LOCKED;
}

/** SQLite's error for a file that another connection holds, where a PRAGMA says so in its result. */
export const busyError = (): Error =>
  Object.assign(new Error('database is locked'), { errcode: BUSY });

/** The error of a statement that is to be part of a transaction, where that was rolled back already. */
export const rolledBackError = (): Error =>
  Object.assign(new Error('the transaction was rolled back'), { code: ROLLED_BACK });

/** SQLite's own wording of constraint errors, which names columns only. A trigger may say anything: it is not quoted. */
const OWN_WORDING =
  /^(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed(?:: [\w ".,-]{1,200})?$/;

/** See {@link SqlDialect.rowDefect}. */
export function sqliteRowDefect(error: unknown): RowDefect | undefined {
  const code = sqliteCodeOf(error);
  if (code === TOO_BIG)
    return { reason: 'the answers are too large for a row of SQLite', isOfRow: true };
  if (code !== CONSTRAINT && code !== MISMATCH) return undefined;
  const text = error instanceof Error && OWN_WORDING.test(error.message) ? error.message : '';
  const reason = `a constraint or trigger that was added to the table refuses the row${text && `: ${text}`}`;
  return { reason, isOfRow: false };
}

function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}
