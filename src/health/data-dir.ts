import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { PROBLEMS } from '../base/catalogue.ts';
import { errorCode, isAbort, type MirrorError } from '../base/errors.ts';
import type { RunReport } from '../sync/run-form.ts';
import { Records } from './records.ts';
import { problemCode, type ProblemFacts, problemFactsSchema } from './problem-facts.ts';

/*
 * The records in DATA_DIR: failures that no target could record, which target has which forms, and the deliveries of
 * notifications.
 */

const keptRun = z.object({
  target: z.string(),
  /** Where the target was then: another place under its name has not failed. */
  address: z.string(),
  form: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
  outcome: z.enum(['failed', 'gone']),
  code: problemCode.nullable(),
  error: z.string().nullable(),
  /** Of the last such run in a row, and when the first one ended. */
  startedAtMs: z.number(),
  endedAtMs: z.number(),
  sinceMs: z.number(),
});
const keptSource = problemFactsSchema.extend({ atMs: z.number() });
const keptCopy = z.object({
  target: z.string(),
  address: z.string(),
  formId: z.string(),
  refilledAtMs: z.number().nullable(),
});

/** Runs of a form into a target that failed, or found the form gone, with no later run that succeeded. Contains no answers (L11). */
export type KeptRun = z.infer<typeof keptRun>;

/** Failures, as far as this machine has seen them. */
export interface Kept {
  readonly runs: readonly KeptRun[];
  /** The source did not list its forms; null: it did. */
  readonly source: z.infer<typeof keptSource> | null;
}

/** The failures, and why they cannot be recorded or read; null if they can. */
export interface FileFacts {
  readonly kept: Kept;
  readonly problem: ProblemFacts | null;
}

/** Room for a failure, a log of the queue and a batch. */
const LEAST_ROOM_BYTES = 1_048_576;

/** Reads and writes reject with the system's error. */
export class DataDir {
  readonly #path: string;
  readonly #source: Records<typeof keptSource>;
  readonly #copies: Records<typeof keptCopy>;
  /** By target, address and form ID. */
  readonly runs: Records<typeof keptRun>;
  /** What was sent to each receiver of notifications, by the setting that names it. */
  readonly deliveries: Records<z.ZodUnknown>;

  constructor(path: string) {
    this.#path = path;
    this.#source = new Records(join(path, 'source'), keptSource);
    this.runs = new Records(join(path, 'failures'), keptRun);
    this.#copies = new Records(join(path, 'copies'), keptCopy);
    this.deliveries = new Records(join(path, 'deliveries'), z.unknown());
  }

  /** Records a failed run into the target at this address, or removes the record after a run that did not fail. */
  async noteRun(report: RunReport, address: string): Promise<void> {
    const { target, form, outcome, endedAtMs } = report;
    const key = [target, address, form.id];
    if (outcome === 'ok' || outcome === 'held' || outcome === 'incomplete')
      return this.runs.remove(key);
    if (outcome !== 'failed' && outcome !== 'gone') return;
    const before = await this.runs.read(key);
    const sinceMs = before?.outcome === outcome ? before.sinceMs : endedAtMs;
    await this.runs.write(key, { ...report, address, outcome, sinceMs });
  }

  /** Records that the source did not list its forms; null: it did. */
  async noteSource(failure: MirrorError | null, atMs: number): Promise<void> {
    if (failure === null) return this.#source.remove([]);
    if (isAbort(failure) || PROBLEMS[failure.code].scope !== 'source') return;
    const before = await this.#source.read([]);
    const { code, message } = failure;
    await this.#source.write([], { code, message, sinceMs: before?.sinceMs ?? atMs, atMs });
  }

  /** Records that the target at this address has a form, once a run has brought it up to date. */
  async noteCopy({ target, form, outcome }: RunReport, address: string): Promise<void> {
    const key = [target, address, form.id];
    if ((outcome !== 'ok' && outcome !== 'held') || (await this.#copies.read(key)) !== null) return;
    await this.#copies.write(key, { target, address, formId: form.id, refilledAtMs: null });
  }

  /** Records that the target at this address no longer has a form that it had. False: it never had it. */
  async noteLoss(target: string, address: string, formId: string, atMs: number): Promise<boolean> {
    const key = [target, address, formId];
    if ((await this.#copies.read(key)) === null) return false;
    await this.#copies.write(key, { target, address, formId, refilledAtMs: atMs });
    return true;
  }

  /** When the copy in a target at this address was last found gone, by form ID. */
  async refills(target: string, address: string): Promise<ReadonlyMap<string, number | null>> {
    const copies = (await this.#copies.all()).filter(
      (copy) => copy.target === target && copy.address === address,
    );
    return new Map(copies.map(({ formId, refilledAtMs }) => [formId, refilledAtMs]));
  }

  /** Every recorded failure; damaged records are left out. */
  async kept(): Promise<Kept> {
    return { runs: await this.runs.all(), source: await this.#source.read([]) };
  }

  /** Everything about this folder that the judgment needs. Never rejects. */
  async facts(): Promise<FileFacts> {
    try {
      return { kept: await this.kept(), problem: await this.problem() };
    } catch (error) {
      const problem = this.#problemOf(`cannot be read (${errorCode(error) ?? 'no code'})`);
      return { kept: { runs: [], source: null }, problem };
    }
  }

  /** Why nothing can be recorded; null if it can. Never rejects. */
  async problem(): Promise<ProblemFacts | null> {
    if (!(await isWritable(this.#path))) return this.#problemOf('cannot be written');
    const disk = await statfs(this.#path).catch(() => null);
    const isFull = disk !== null && disk.bavail * disk.bsize < LEAST_ROOM_BYTES;
    return isFull ? this.#problemOf('is on a full disk') : null;
  }

  #problemOf(what: string): ProblemFacts {
    const message = `DATA_DIR (${this.#path}) ${what}, so a failure that no target recorded may go unnoticed.`;
    return { code: 'DATA_DIR', message, sinceMs: null };
  }
}

/** Whether this user may write into a folder, or create it. */
async function isWritable(folder: string): Promise<boolean> {
  try {
    // The slash makes it fail for a file.
    await access(`${folder}/`, constants.W_OK);
    return true;
  } catch (error) {
    const parent = dirname(folder);
    return errorCode(error) === 'ENOENT' && parent !== folder && isWritable(parent);
  }
}
