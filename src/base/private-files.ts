import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { errorCode } from './error-code.ts';

/** The rights of a folder and of a file that only their owner may use. */
export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/** What anybody but the owner may do. */
const OF_OTHERS = 0o077;

/**
 * Makes an empty file that only its owner can read; leaves an existing one, and errors, to the next opener. It never opens a file
 * that exists: closing it would drop the locks that this process holds on it through other handles (POSIX).
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'ax', PRIVATE_FILE));
  } catch {
    // It exists, or cannot be made: the next opener reports that.
  }
}

/** What others can still reach, and what to do about it; both sentences. */
export interface LooseRights {
  readonly message: string;
  readonly remedy: string;
}

/** What {@link keepPrivate} found. */
export interface PrivacyReport {
  /** Files and folders in it that were open to other users of the machine until now. */
  readonly mended: number;
  readonly loose: readonly LooseRights[];
}

/** What this program makes in DATA_DIR, the default target and leftovers included. */
const OWN_NAMES = /^(?:queue|failures|copies|processes|notify\.json|mirror\.sqlite)(?:$|[.-])/;

/**
 * Removes other users' rights to this program's files in `dataDir`, and to the folder itself: careless hands
 * left it open. `files`: SQLite files of targets, of which those inside count. A folder that also holds foreign
 * files is not changed, and neither is one that belongs to another user: both are named. Links are not followed. Does not throw.
 */
export function keepPrivate(dataDir: string, files: readonly string[]): PrivacyReport {
  // Windows has no such rights.
  const user = process.getuid?.();
  const folder = resolve(dataDir);
  const stat = user === undefined ? undefined : statOf(`${folder}${sep}.`);
  if (user === undefined || stat === undefined) return { mended: 0, loose: [] };
  const walk = new Walk(
    user,
    files.map((file) => resolve(file)),
  );
  walk.dataDir(folder, stat);
  return walk;
}

class Walk implements PrivacyReport {
  mended = 0;
  readonly loose: LooseRights[] = [];
  readonly #user: number;
  readonly #files: readonly string[];

  constructor(user: number, files: readonly string[]) {
    this.#user = user;
    this.#files = files;
  }

  /** The folder first: once it is closed, no one can exchange its files. */
  dataDir(folder: string, stat: Stats): void {
    const names = namesIn(folder);
    const own = names.filter((name) => this.#isOwn(folder, join(folder, name)));
    const foreign = names.filter((name) => !own.includes(name));
    if (stat.uid !== this.#user) this.#nameOwner(folder, stat);
    else if (isLoose(stat) && foreign.length > 0) this.#nameShared(folder, stat, foreign);
    else this.#close(folder, stat);
    for (const name of own) this.#below(join(folder, name));
  }

  #isOwn(folder: string, path: string): boolean {
    if (OWN_NAMES.test(relative(folder, path))) return true;
    return this.#files.some(
      (file) => path === file || path.startsWith(`${file}-`) || file.startsWith(`${path}${sep}`),
    );
  }

  #below(path: string): void {
    const stat = statOf(path);
    if (stat === undefined || stat.isSymbolicLink()) return;
    if (stat.uid !== this.#user && this.#user !== 0) {
      if (isLoose(stat)) this.#nameOwner(path, stat);
      return;
    }
    if (this.#close(path, stat)) this.mended++;
    if (stat.isDirectory()) for (const name of namesIn(path)) this.#below(join(path, name));
  }

  /** True when it was open, and no longer is. */
  #close(path: string, stat: Stats): boolean {
    if (!isLoose(stat)) return false;
    try {
      chmodSync(path, stat.mode & PRIVATE_FOLDER);
      return true;
    } catch (error) {
      const remedy = `Try chmod go= ${path}, or choose another DATA_DIR`;
      const why = errorCode(error) ?? 'unknown error';
      this.loose.push({
        message: `${open(path, stat)} and that cannot be changed (${why})`,
        remedy,
      });
      return false;
    }
  }

  #nameOwner(path: string, stat: Stats): void {
    const who = `belongs to user ${stat.uid}, and this process runs as user ${this.#user}`;
    const what = isLoose(stat) ? `: its rights (${rights(stat)}) stay unchanged` : '';
    const remedy = `Run forms-mirror as user ${stat.uid}, give it the folder (chown -R ${this.#user}), or name a folder of its own: DATA_DIR=${join(path, 'mirror')}`;
    this.loose.push({ message: `${path} ${who}${what}`, remedy });
  }

  #nameShared(path: string, stat: Stats, foreign: readonly string[]): void {
    const some = foreign.slice(0, 3).join(', ') + (foreign.length > 3 ? ', …' : '');
    const message = `${open(path, stat)} and it holds other files, too (${some}), so its rights stay unchanged`;
    this.loose.push({
      message,
      remedy: `Name a folder of its own: DATA_DIR=${join(path, 'mirror')}`,
    });
  }
}

const isLoose = ({ mode }: Stats): boolean => (mode & OF_OTHERS) !== 0;
const rights = ({ mode }: Stats): string => (mode & 0o7777).toString(8).padStart(4, '0');
const open = (path: string, stat: Stats): string =>
  `${path} is open to other users of this machine (${rights(stat)}),`;

/** Undefined for a path that does not exist. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Empty for a folder that cannot be listed. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Makes a folder and its missing parents, for their owner only; does nothing when it exists. Throws the system's error. One by one, because
 * `mkdir` with `recursive` never returns where the system answers ENOENT for a new folder in an existing one (/proc).
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) {
    missing.unshift(folder);
  }
  for (const folder of missing) makeOne(folder);
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    // Another process may have made it by now.
    if (!existsSync(folder)) throw error;
  }
}
