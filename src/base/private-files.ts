import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorCode } from './error-code.ts';

/** The rights of a folder and of a file that only their owner may use. */
export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/** The permissions of everyone except the owner. */
const OF_OTHERS = 0o077;

/**
 * Makes an empty file that only its owner can read; leaves an existing one, and errors, to the next opener. It never opens a file
 * that exists: closing it would drop the locks that this process holds on it through other handles (POSIX).
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'ax', PRIVATE_FILE));
  } catch {
    // It exists, or cannot be created: the code that opens it reports that.
  }
}

/** What {@link keepPrivate} found. */
export interface Privacy {
  /** The folder was open to other users of the machine until now. */
  readonly isMended: boolean;
  /** What others can still reach, and what to do about it; both without a full stop. Null: nothing. */
  readonly loose: { readonly message: string; readonly remedy: string } | null;
}

/** What this program makes in DATA_DIR, the default target and leftovers included. */
const OWN_NAMES =
  /^(?:queue|failures|copies|processes|(?:source|settings|notify)\.json|mirror\.sqlite)(?:$|[.-])/;

/**
 * Closes `dataDir` to other users if it was open, and so the files in it. A folder that also contains foreign files
 * is not changed, but named. `files`: SQLite files of targets; those inside count as our own. Does not throw.
 */
export function keepPrivate(dataDir: string, files: readonly string[]): Privacy {
  const folder = resolve(dataDir);
  const isOwn = (name: string): boolean =>
    OWN_NAMES.test(name) || files.some((file) => join(folder, name).startsWith(resolve(file)));
  let mode = 0;
  let foreign: readonly string[] = [];
  try {
    mode = statSync(folder).mode & 0o7777;
    // Windows has no such rights.
    if (process.getuid === undefined || (mode & OF_OTHERS) === 0) return PRIVATE;
    foreign = readdirSync(folder).filter((name) => !isOwn(name));
    if (foreign.length === 0) {
      chmodSync(folder, mode & PRIVATE_FOLDER);
      return { isMended: true, loose: null };
    }
  } catch (error) {
    // A missing folder is created for its owner only.
    if (errorCode(error) === 'ENOENT') return PRIVATE;
  }
  const some = foreign.slice(0, 3).join(', ');
  const why = some === '' ? 'and this user may not change that' : `and holds other files (${some})`;
  const message = `${folder} is open to other users of this machine (${mode.toString(8)}) ${why}`;
  const remedy = `Name a folder of its own: DATA_DIR=${join(folder, 'mirror')}`;
  return { isMended: false, loose: { message, remedy } };
}

const PRIVATE: Privacy = { isMended: false, loose: null };

/** Makes a folder and its missing parents, for their owner only; does nothing when it exists. Throws the system's error. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER });
}
