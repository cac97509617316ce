import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { errorCode } from '../base/error-code.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.ts';
import { type MirrorError, isAbort } from '../base/errors.ts';
import { requireVersion } from '../base/other-schema.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';
import { shownName, type UnmatchedName } from '../sync/unmatched-names.ts';
import {
  type KeptFailure,
  type KeptFailures,
  failureChange,
  keptCopy,
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
  /**
   * Keeps that a target, at this address, holds a form. True where it was known to hold it and turned out to be empty: that
   * is kept, too, with when. Rejects likewise.
   */
  noteCopy(copy: CopySeen, atMs: number): Promise<boolean>;
  /** By form ID, when (ISO) the copy in a target at this address was last found gone. Rejects likewise. */
  refills(target: string, address: string): Promise<ReadonlyMap<string, string>>;
  /** Everything that is kept; what is damaged is left out. Rejects likewise, and with OTHER_SCHEMA where another build wrote it. */
  read(): Promise<KeptFailures>;
  /** Why nothing can be kept, so that failures may not be known; null where it can, or the folder is yet to be made. Never rejects. */
  problem(): Promise<Problem | null>;
}

/** A form in a target, as a pass has found it. */
export interface CopySeen {
  readonly target: string;
  readonly address: string;
  readonly formId: string;
  /** The pass found nothing there. */
  readonly wasEmpty: boolean;
  /** The target holds the form by now, with a record of the pass. */
  readonly isHeld: boolean;
}

const FOLDER = 'failures';
/** Where it stands which target holds which forms. */
const COPIES_FOLDER = 'copies';
/** The schema of what is kept: to be raised with every change of it. */
const FAILURES_VERSION = 2;
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
  readonly #copies: string;
  readonly #dataDir: string;
  readonly #reserve: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#folder = join(dataDir, FOLDER);
    this.#copies = join(dataDir, COPIES_FOLDER);
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
    const shown = unmatched.map((each) => Object.assign({}, each, { name: shownName(each.name) }));
    await this.#write(SETTINGS_FILE, keptUnmatched.parse(shown));
  }

  async noteCopy(
    { target, address, formId, wasEmpty, isHeld }: CopySeen,
    atMs: number,
  ): Promise<boolean> {
    const file = `${hashOf(target, formId)}.json`;
    const kept = await this.#readOne(file, keptCopy, this.#copies);
    const before = kept?.address === address ? kept : null;
    const isRefill = wasEmpty && before !== null;
    const refilledAt = isRefill ? new Date(atMs).toISOString() : (before?.refilledAt ?? null);
    if (isRefill || (isHeld && before === null))
      await this.#write(file, { target, address, formId, refilledAt }, this.#copies);
    return isRefill;
  }

  async refills(target: string, address: string): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const file of await this.#files(this.#copies)) {
      const copy = await this.#readOne(file, keptCopy, this.#copies);
      if (copy?.target !== target || copy.address !== address || copy.refilledAt === null) continue;
      found.set(copy.formId, copy.refilledAt);
    }
    return found;
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

  async #files(folder = this.#folder): Promise<string[]> {
    const names = await orNull(readdir(folder));
    return (names ?? []).filter((name) => name.endsWith('.json'));
  }

  async #readOne<Schema extends z.ZodType>(
    file: string,
    schema: Schema,
    folder = this.#folder,
  ): Promise<z.infer<Schema> | null> {
    const path = join(folder, file);
    const text = await orNull(readFile(path, 'utf8'));
    if (text === null) return null;
    requireVersion(text, path, FAILURES_VERSION);
    try {
      return schema.parse((JSON.parse(text) as { kept?: unknown }).kept);
    } catch {
      return null;
    }
  }

  async #write(file: string, content: object, folder = this.#folder): Promise<void> {
    try {
      await this.#writeNow(folder, file, content);
    } catch (error) {
      if (errorCode(error) !== 'ENOSPC') throw error;
      await rm(this.#reserve, { force: true });
      await this.#writeNow(folder, file, content);
    }
  }

  async #writeNow(folder: string, file: string, content: object): Promise<void> {
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    const path = join(folder, file);
    const beside = `${path}.${randomUUID()}`;
    try {
      await writeFile(beside, JSON.stringify({ version: FAILURES_VERSION, kept: content }), {
        mode: PRIVATE_FILE,
      });
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
const fileOf = (target: string, formId: string, kind: PassKind): string =>
  `${hashOf(target, formId)}-${kind}.json`;

const hashOf = (target: string, formId: string): string =>
  createHash('sha256')
    .update(JSON.stringify([target, formId]))
    .digest('hex')
    .slice(0, 32);

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
    code: 'DATA_DIR',
    title: 'Failures cannot be kept',
    message: `DATA_DIR (${dataDir}) ${what}, so a failure that no target recorded may go unnoticed.`,
    remedy,
    command: null,
    since: null,
  };
}
