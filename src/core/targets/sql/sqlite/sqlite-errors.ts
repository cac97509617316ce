import { errorCode } from '../../../../base/error-code.ts';
import { type ErrorCode, MirrorError } from '../../../../base/errors.ts';

/** Primary result codes: https://www.sqlite.org/rescode.html */
const [BUSY, LOCKED, TOO_BIG, CONSTRAINT, MISMATCH] = [5, 6, 18, 19, 20];

interface Description {
  readonly code: ErrorCode;
  readonly text: string;
}

const FULL: Description = {
  code: 'TARGET_FULL',
  text: 'the disk is full: make room, and the next run goes on',
};
const UNWRITABLE: Description = {
  code: 'TARGET_DENIED',
  text: 'the file cannot be written: give this user the right to write it and its folder, or choose another file',
};
const BROKEN: Description = {
  code: 'TARGET_FAILED',
  text: 'reading or writing the file failed: check the disk',
};

const BY_RESULT: Readonly<Record<number, Description>> = {
  3: UNWRITABLE,
  [BUSY]: {
    code: 'TARGET_FAILED',
    text: 'another program has kept the file locked for a minute: a database browser with unsaved changes does that',
  },
  [LOCKED]: {
    code: 'TARGET_FAILED',
    text: 'another program has kept the file locked for a minute',
  },
  8: UNWRITABLE,
  10: BROKEN,
  11: {
    code: 'TARGET_FAILED',
    text: 'the database is damaged: move the file away or restore a backup',
  },
  13: FULL,
  14: {
    code: 'TARGET_DENIED',
    text: 'the file cannot be opened: check that the path is right and no folder',
  },
  23: UNWRITABLE,
  26: { code: 'TARGET_DENIED', text: 'the file is not a SQLite database: choose another file' },
};

const BY_SYSTEM: Readonly<Record<string, Description>> = {
  EACCES: UNWRITABLE,
  EPERM: UNWRITABLE,
  EROFS: UNWRITABLE,
  ENOENT: UNWRITABLE,
  EISDIR: { code: 'TARGET_DENIED', text: 'it is a folder, not a file' },
  ENOTDIR: { code: 'TARGET_DENIED', text: 'a part of the path is a file, not a folder' },
  ENOSPC: FULL,
};

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

/** An error of SQLite or the file system in words for people; any other error as it is. */
export function describeSqliteError(error: unknown): unknown {
  if (error instanceof MirrorError) return error;
  const result = resultOf(error);
  const found = result === undefined ? BY_SYSTEM[errorCode(error) ?? ''] : BY_RESULT[result];
  if (found !== undefined)
    return new MirrorError(found.code, `SQLite: ${found.text}.`, { cause: error });
  if (result === undefined) return error;
  return new MirrorError('TARGET_FAILED', `SQLite refused a statement (code ${result}).`, {
    cause: error,
  });
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
