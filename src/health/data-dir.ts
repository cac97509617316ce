import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readFile, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PROBLEMS, type ProblemCode } from '../base/catalogue.ts';
import { errorCode } from '../base/error-code.ts';
import { isAbort, type MirrorError } from '../base/errors.ts';
import { requireVersion } from '../base/other-schema.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.ts';
import type { RunReport } from '../sync/run-form.ts';
import { shownName, type UnmatchedName } from '../sync/unmatched-names.ts';

/*
 * The records in DATA_DIR, as small JSON files: failures that no target could record, which target has which forms,
 * and the running processes. Each file is written under another name and renamed, so that any number of processes
 * may share the folder.
 */

/** The schema of these files: to be raised with every change of it. */
const VERSION = 4;

const code = z.enum(Object.keys(PROBLEMS) as ProblemCode[]);
const keptRun = z.object({
  target: z.string(),
  form: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
  outcome: z.enum(['failed', 'gone']),
  code: code.nullable(),
  error: z.string().nullable(),
  /** When the first of them in a row ended, and the last. */
  sinceMs: z.number(),
  atMs: z.number(),
});
const keptSource = z.object({ code, message: z.string(), sinceMs: z.number(), atMs: z.number() });
const keptUnmatched = z.array(
  z.object({
    variable: z.string(),
    name: z.string(),
    kind: z.enum(['form', 'field', 'unchosen', 'unselected']),
    nearest: z.string().nullable(),
  }),
);
const keptCopy = z.object({
  target: z.string(),
  address: z.string(),
  formId: z.string(),
  refilledAtMs: z.number().nullable(),
});
const processRecord = z.object({
  host: z.string(),
  pid: z.number().int(),
  role: z.enum(['start', 'worker']),
  atMs: z.number(),
  sourceWait: z
    .object({
      sinceMs: z.number(),
      untilMs: z.number(),
      isThrottled: z.boolean(),
      reason: z.string(),
    })
    .nullable(),
  /** Since when the queue has not answered it. */
  queueAwaySinceMs: z.number().nullable(),
});

/** Runs of a form into a target that failed, or found the form gone, without a later one that succeeded. Holds no answer (L11). */
export type KeptRun = z.infer<typeof keptRun>;
/** A process of the mirror, at the time of its latest record. */
export type ProcessRecord = z.infer<typeof processRecord>;

/** What failed, as far as this machine has seen it. */
export interface Kept {
  readonly runs: readonly KeptRun[];
  /** The source would not list its forms; null: it did. */
  readonly source: z.infer<typeof keptSource> | null;
  /** Names in the settings that match nothing. */
  readonly unmatched: readonly UnmatchedName[];
}

/** A form in a target, as a run has found it. */
export interface CopySeen {
  readonly target: string;
  readonly address: string;
  readonly formId: string;
  /** The run found nothing there. */
  readonly wasEmpty: boolean;
  /** The target holds the form by now. */
  readonly isHeld: boolean;
}

const [RUNS, COPIES, PROCESSES] = ['failures', 'copies', 'processes'];
const [SOURCE, SETTINGS] = ['source.json', 'settings.json'];
/** Room for a failure, a log of the queue and a batch. */
const LEAST_ROOM_BYTES = 1_048_576;

/** Reads and writes reject with the system's error, and with OTHER_SCHEMA where another build wrote a file. */
export class DataDir {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Keeps a run that failed, or forgets it once another one has not. */
  async noteRun(report: RunReport): Promise<void> {
    const { target, form, outcome, error, endedAtMs } = report;
    const file = `${hashOf(target, form.id)}.json`;
    if (outcome === 'ok' || outcome === 'held' || outcome === 'incomplete')
      return this.#remove(RUNS, file);
    if (outcome !== 'failed' && outcome !== 'gone') return;
    const before = await this.#read(RUNS, file, keptRun);
    const isSame = before?.outcome === outcome;
    const { id, slug, name } = form;
    const kept = { target, form: { id, slug, name }, outcome, code: report.code, error };
    const times = { sinceMs: isSame ? before.sinceMs : endedAtMs, atMs: endedAtMs };
    await this.#write(RUNS, file, keptRun.parse({ ...kept, ...times }));
  }

  /** Deletes the record of a form in a target. */
  forgetRun(target: string, formId: string): Promise<void> {
    return this.#remove(RUNS, `${hashOf(target, formId)}.json`);
  }

  /** Keeps that the source would not list its forms; null: it did. */
  async noteSource(failure: MirrorError | null, atMs: number): Promise<void> {
    if (failure === null) return this.#remove(RUNS, SOURCE);
    if (isAbort(failure) || PROBLEMS[failure.code].scope !== 'source') return;
    const before = await this.#read(RUNS, SOURCE, keptSource);
    const { code: of, message } = failure;
    await this.#write(RUNS, SOURCE, { code: of, message, sinceMs: before?.sinceMs ?? atMs, atMs });
  }

  /** Keeps the names in the settings that match nothing; none: forgets those of before. */
  async noteUnmatched(unmatched: readonly UnmatchedName[]): Promise<void> {
    if (unmatched.length === 0) return this.#remove(RUNS, SETTINGS);
    const shown = unmatched.map((each) => Object.assign({}, each, { name: shownName(each.name) }));
    await this.#write(RUNS, SETTINGS, keptUnmatched.parse(shown));
  }

  /** Records that a target has a form. True if the target had it and was found empty; that time is recorded, too. */
  async noteCopy(
    { target, address, formId, wasEmpty, isHeld }: CopySeen,
    atMs: number,
  ): Promise<boolean> {
    const file = `${hashOf(target, formId)}.json`;
    const kept = await this.#read(COPIES, file, keptCopy);
    const before = kept?.address === address ? kept : null;
    const isRefill = wasEmpty && before !== null;
    const refilledAtMs = isRefill ? atMs : (before?.refilledAtMs ?? null);
    if (isRefill || (isHeld && before === null))
      await this.#write(COPIES, file, { target, address, formId, refilledAtMs });
    return isRefill;
  }

  /** By form ID, when the copy in a target at this address was last found gone. */
  async refills(target: string, address: string): Promise<ReadonlyMap<string, number>> {
    const copies = await this.#readAll(COPIES, keptCopy);
    return new Map(
      copies.flatMap((copy): [string, number][] =>
        copy.target === target && copy.address === address && copy.refilledAtMs !== null
          ? [[copy.formId, copy.refilledAtMs]]
          : [],
      ),
    );
  }

  /** Every recorded failure; damaged records are left out. */
  async kept(): Promise<Kept> {
    return {
      runs: await this.#readAll(RUNS, keptRun),
      source: await this.#read(RUNS, SOURCE, keptSource),
      unmatched: (await this.#read(RUNS, SETTINGS, keptUnmatched)) ?? [],
    };
  }

  /** Why nothing can be recorded, as a sentence; null if it can, or if the folder does not exist yet. Never rejects. */
  async problem(): Promise<string | null> {
    const why = (what: string): string =>
      `DATA_DIR (${this.#path}) ${what}, so a failure that no target recorded may go unnoticed.`;
    try {
      await access(this.#path, constants.W_OK);
    } catch (error) {
      return errorCode(error) === 'ENOENT' ? null : why('cannot be written');
    }
    const disk = await statfs(this.#path).catch(() => null);
    const isFull = disk !== null && disk.bavail * disk.bsize < LEAST_ROOM_BYTES;
    return isFull ? why('is on a full disk') : null;
  }

  /** The records of all processes that share this folder. */
  processes(): Promise<ProcessRecord[]> {
    return this.#readAll(PROCESSES, processRecord);
  }

  writeProcess(record: ProcessRecord): Promise<void> {
    return this.#write(PROCESSES, processFile(record), record);
  }

  removeProcess(record: Pick<ProcessRecord, 'host' | 'pid'>): Promise<void> {
    return this.#remove(PROCESSES, processFile(record));
  }

  async #readAll<Schema extends z.ZodType>(
    folder: string,
    schema: Schema,
  ): Promise<z.infer<Schema>[]> {
    const names = (await orNull(readdir(join(this.#path, folder)))) ?? [];
    const all: z.infer<Schema>[] = [];
    for (const name of names) {
      if (!name.endsWith('.json') || name === SOURCE || name === SETTINGS) continue;
      const one = await this.#read(folder, name, schema);
      if (one !== null) all.push(one);
    }
    return all;
  }

  async #read<Schema extends z.ZodType>(
    folder: string,
    file: string,
    schema: Schema,
  ): Promise<z.infer<Schema> | null> {
    const path = join(this.#path, folder, file);
    const text = await orNull(readFile(path, 'utf8'));
    if (text === null) return null;
    requireVersion(text, path, VERSION);
    try {
      return schema.parse((JSON.parse(text) as { kept?: unknown }).kept);
    } catch {
      return null;
    }
  }

  async #write(folder: string, file: string, kept: object): Promise<void> {
    await mkdir(join(this.#path, folder), { recursive: true, mode: PRIVATE_FOLDER });
    const path = join(this.#path, folder, file);
    const beside = `${path}.${randomUUID()}`;
    try {
      await writeFile(beside, JSON.stringify({ version: VERSION, kept }), { mode: PRIVATE_FILE });
      await rename(beside, path);
    } catch (error) {
      await rm(beside, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async #remove(folder: string, file: string): Promise<void> {
    await rm(join(this.#path, folder, file), { force: true });
  }
}

const processFile = ({ host, pid }: Pick<ProcessRecord, 'host' | 'pid'>): string =>
  `${encodeURIComponent(host)}-${pid}.json`;

/** A file name for any target and form, which may hold any characters. */
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
