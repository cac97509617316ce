import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { errorCode } from '../base/error-code.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.ts';
import { type MirrorError, isAbort } from '../base/errors.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';
import type { UnmatchedName } from '../sync/unmatched-names.ts';
import {
  type KeptFailure,
  type KeptFailures,
  failureChange,
  keptFailure,
  keptSourceFailure,
  keptUnmatched,
} from './kept-failures.ts';
import type { Problem } from './problem.ts';

/** Where failures are kept that no target holds; survives the process. */
export interface FailureStore {
  /** Keeps a pass that failed, or forgets those that it makes up for. Rejects with the system's error when it cannot. */
  notePass(pass: PassRecord & { form: FormIdentity; target: string }): Promise<void>;
  /** Keeps that the source would not list its forms; null: it did. Rejects likewise. */
  noteSource(failure: MirrorError | null, atMs: number): Promise<void>;
  /** Keeps the names in the settings that match nothing; none: forgets those of before. Rejects likewise. */
  noteUnmatched(unmatched: readonly UnmatchedName[]): Promise<void>;
  /** Everything that is kept; what is damaged is left out. Rejects likewise. */
  read(): Promise<KeptFailures>;
  /** Why nothing can be kept, so that failures may not be known; null where it can, or the folder is yet to be made. Never rejects. */
  problem(): Promise<Problem | null>;
}

const FOLDER = 'failures';
const SOURCE_FILE = 'source.json';
const SETTINGS_FILE = 'settings.json';
/** Room for failures on a disk that is full: a target beside them on the same disk is what fails then. */
const RESERVE_FILE = 'failures.reserve';
const RESERVE_BYTES = 256 * 1_024;
/** Room for a failure, a log of the queue and a batch. */
const LEAST_ROOM_BYTES = 1_048_576;

/**
 * Failures as files in DATA_DIR, one for each form in a target and kind of pass. Each is written beside and renamed, so
 * that any number of processes may share the folder and none reads a half of one.
 */
export class FailureFiles implements FailureStore {
  readonly #folder: string;
  readonly #dataDir: string;
  readonly #reserve: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#folder = join(dataDir, FOLDER);
    this.#reserve = join(dataDir, RESERVE_FILE);
  }

  async notePass(pass: PassRecord & { form: FormIdentity; target: string }): Promise<void> {
    const change = failureChange(pass);
    if (change === null) return;
    const { target, form } = pass;
    if ('forget' in change) {
      for (const kind of change.forget) await this.#forget(fileOf(target, form.id, kind));
      return this.#keepRoom();
    }
    const file = fileOf(target, form.id, change.keep.kind);
    const before = await this.#readOne(file, keptFailure);
    const { id, slug, name } = form;
    const isSame = before !== null && before.last.outcome === change.keep.outcome;
    const first = isSame ? before.first : change.keep;
    const failure: KeptFailure = { target, form: { id, slug, name }, first, last: change.keep };
    // The schema drops what a report has besides a record.
    await this.#write(file, keptFailure.parse(failure));
  }

  async noteSource(failure: MirrorError | null, atMs: number): Promise<void> {
    if (failure === null) return this.#forget(SOURCE_FILE);
    if (isAbort(failure) || !failure.code.startsWith('FORMS_')) return;
    const { code, message } = failure;
    const at = new Date(atMs).toISOString();
    const before = await this.#readOne(SOURCE_FILE, keptSourceFailure);
    await this.#write(SOURCE_FILE, { code, message, since: before?.since ?? at, at });
  }

  async noteUnmatched(unmatched: readonly UnmatchedName[]): Promise<void> {
    if (unmatched.length === 0) return this.#forget(SETTINGS_FILE);
    await this.#write(SETTINGS_FILE, keptUnmatched.parse(unmatched));
  }

  async read(): Promise<KeptFailures> {
    const passes: KeptFailure[] = [];
    for (const file of await this.#files()) {
      const isPass = file !== SOURCE_FILE && file !== SETTINGS_FILE;
      const failure = isPass ? await this.#readOne(file, keptFailure) : null;
      if (failure !== null) passes.push(failure);
    }
    const source = await this.#readOne(SOURCE_FILE, keptSourceFailure);
    const unmatched = await this.#readOne(SETTINGS_FILE, keptUnmatched);
    return { passes, source, unmatched: unmatched ?? [] };
  }

  async problem(): Promise<Problem | null> {
    try {
      await access(this.#dataDir, constants.W_OK);
    } catch (error) {
      return errorCode(error) === 'ENOENT' ? null : dataDirProblem('unwritable', this.#dataDir);
    }
    const disk = await statfs(this.#dataDir).catch(() => null);
    const isFull = disk !== null && disk.bavail * disk.bsize < LEAST_ROOM_BYTES;
    return isFull ? dataDirProblem('full', this.#dataDir) : null;
  }

  /** Sets room aside while there is some; random, so that it takes its room on every file system. */
  async #keepRoom(): Promise<void> {
    if ((await orNull(access(this.#reserve).then(() => true))) !== null) return;
    const options = { mode: PRIVATE_FILE, flag: 'wx' } as const;
    try {
      await writeFile(this.#reserve, randomBytes(RESERVE_BYTES), options);
    } catch (error) {
      // A part of it is of no use, and would keep it from being made anew.
      if (errorCode(error) === 'ENOSPC') await rm(this.#reserve, { force: true });
    }
  }

  async #files(): Promise<string[]> {
    const names = await orNull(readdir(this.#folder));
    return (names ?? []).filter((name) => name.endsWith('.json'));
  }

  async #readOne<Schema extends z.ZodType>(
    file: string,
    schema: Schema,
  ): Promise<z.infer<Schema> | null> {
    const text = await orNull(readFile(join(this.#folder, file), 'utf8'));
    if (text === null) return null;
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      return null;
    }
  }

  async #write(file: string, content: object): Promise<void> {
    try {
      await this.#writeNow(file, content);
    } catch (error) {
      if (errorCode(error) !== 'ENOSPC') throw error;
      await rm(this.#reserve, { force: true });
      await this.#writeNow(file, content);
    }
  }

  async #writeNow(file: string, content: object): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: PRIVATE_FOLDER });
    const path = join(this.#folder, file);
    const beside = `${path}.${randomUUID()}`;
    try {
      await writeFile(beside, JSON.stringify(content), { mode: PRIVATE_FILE });
      await rename(beside, path);
    } catch (error) {
      await rm(beside, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async #forget(file: string): Promise<void> {
    await rm(join(this.#folder, file), { force: true });
  }
}

/** A name for any target and form, whatever characters they hold. */
function fileOf(target: string, formId: string, kind: PassKind): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([target, formId]))
    .digest('hex');
  return `${hash.slice(0, 32)}-${kind}.json`;
}

/** Null for what does not exist. */
async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

const DATA_DIR_FAULTS = {
  unwritable: {
    what: 'cannot be written',
    remedy: 'Give this user the right to write the folder, and check the disk that it is on.',
  },
  full: { what: 'is on a full disk', remedy: 'Make room there.' },
} as const;

/** That failures cannot be kept in DATA_DIR: what the targets record says nothing of what happened since. */
export function dataDirProblem(fault: keyof typeof DATA_DIR_FAULTS, dataDir: string): Problem {
  const { what, remedy } = DATA_DIR_FAULTS[fault];
  return {
    level: 'error',
    code: 'FAILED',
    title: 'Failures cannot be kept',
    message: `DATA_DIR (${dataDir}) ${what}, so nobody may know of a failure that a target did not record.`,
    remedy,
    command: null,
    since: null,
  };
}
