import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/error-code.ts';
import { exact } from '../base/format.ts';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.ts';
import type { NotRunning } from './facts.ts';
import { type SourceWait, together } from './source-waits.ts';

/*
 * What the processes of a mirror record of themselves in DATA_DIR, for commands, which see neither the queue nor the events
 * of another process. A process that ends as it should takes its file with it; one that is killed leaves it behind.
 */

const time = z.iso.datetime();
const sourceWait = z.object({
  sinceMs: z.number(),
  untilMs: z.number(),
  throttled: z.boolean(),
  reason: z.string(),
  silent: z.boolean().optional(),
});
const processRecord = z.object({
  host: z.string(),
  pid: z.number().int(),
  role: z.enum(['start', 'worker']),
  startedAt: time,
  at: time,
  sourceWait: sourceWait.nullable(),
  /** Since when the queue has not answered it. */
  queueAwaySince: time.nullable(),
});

/** A process of the mirror, as it was when it last told. */
export type ProcessRecord = z.infer<typeof processRecord>;

/** How often a process writes its record, and how old a record may be whose process counts as running. */
const RECORD_MS = 10_000;
const SILENT_MS = 45_000;
const FOLDER = 'processes';

/** What {@link judgeProcesses} looks at besides. */
export interface ProcessFacts {
  readonly nowMs: number;
  /** The name of this machine. */
  readonly host: string;
  /** Whether a process of this machine lives. */
  readonly isAlive: (pid: number) => boolean;
}

/** What the records say together. Pure. */
export function judgeProcesses(
  records: readonly ProcessRecord[],
  facts: ProcessFacts,
): {
  readonly sourceWait: SourceWait | null;
  readonly notRunning: NotRunning | null;
  readonly queueAwaySince: string | null;
} {
  const alive = records.filter((record) => isRunning(record, facts));
  const waits = alive.map((record) => record.sourceWait).filter((wait) => wait !== null);
  if (alive.length > 0) {
    const queueAwaySince = alive.find((record) => record.queueAwaySince !== null)?.queueAwaySince;
    const sourceWait = together(waits);
    return { sourceWait, notRunning: null, queueAwaySince: queueAwaySince ?? null };
  }
  const nothing = { sourceWait: null, queueAwaySince: null };
  const [last] = records.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  if (last === undefined) return { ...nothing, notRunning: { died: null } };
  const message = `${last.role} (process ${last.pid} on ${last.host}) ended without a word; it was last heard of at ${exact(last.at)}. Nothing is copied since.`;
  return { ...nothing, notRunning: { died: { message, since: last.at } } };
}

/** A record of another machine, or of a process whose ID another one has now, is told by its age. Pure. */
export function isRunning(record: ProcessRecord, { nowMs, host, isAlive }: ProcessFacts): boolean {
  if (nowMs - Date.parse(record.at) > SILENT_MS) return false;
  return record.host !== host || isAlive(record.pid);
}

/** The records of all processes that share a DATA_DIR. */
export class ProcessFiles {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, FOLDER);
  }

  /** Every record that can be read. Rejects with the system's error. */
  async read(): Promise<ProcessRecord[]> {
    const records: ProcessRecord[] = [];
    for (const file of await this.#files()) {
      const text = await readFile(join(this.#folder, file), 'utf8').catch(() => '');
      try {
        records.push(processRecord.parse(JSON.parse(text)));
      } catch {
        // Half written, or by another build.
      }
    }
    return records;
  }

  async write(record: ProcessRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: PRIVATE_FOLDER });
    const path = join(this.#folder, fileOf(record));
    await writeFile(`${path}.new`, JSON.stringify(record), { mode: PRIVATE_FILE });
    await rename(`${path}.new`, path);
  }

  async remove(record: Pick<ProcessRecord, 'host' | 'pid'>): Promise<void> {
    await rm(join(this.#folder, fileOf(record)), { force: true });
  }

  async #files(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => name.endsWith('.json'));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    }
  }
}

const fileOf = ({ host, pid }: Pick<ProcessRecord, 'host' | 'pid'>): string =>
  `${encodeURIComponent(host)}-${pid}.json`;

/** See {@link keepProcessRecord}. */
export interface ProcessRecordOptions extends Omit<ProcessFacts, 'nowMs'> {
  readonly files: ProcessFiles;
  readonly clock: Clock;
  readonly pid: number;
  readonly role: ProcessRecord['role'];
  readonly sourceWait: () => SourceWait | null;
  /** Whether the queue answers; true before there is one. */
  readonly queueAnswers: () => Promise<boolean>;
  /** Called when a record cannot be written. */
  readonly onError: (error: unknown) => void;
}

/** The record of a process that runs. */
export interface KeptRecord extends AsyncDisposable {
  /** Writes it now: what the process waits for has changed. */
  writeNow(): void;
}

/** Keeps a record of this process until it is disposed, and takes away those of processes that have died. */
export async function keepProcessRecord(options: ProcessRecordOptions): Promise<KeptRecord> {
  const { files, clock, pid, host, role, sourceWait: waits, onError, isAlive } = options;
  const stopping = new AbortController();
  const now = (): string => new Date(clock.now()).toISOString();
  const startedAt = now();
  let queueAwaySince: string | null = null;
  const write = async (): Promise<void> => {
    queueAwaySince = (await options.queueAnswers()) ? null : (queueAwaySince ?? now());
    const record = { host, pid, role, startedAt, at: now(), sourceWait: waits(), queueAwaySince };
    await files.write(record).catch(onError);
  };
  await write();
  let last = Promise.resolve();
  const facts = { nowMs: clock.now(), host, isAlive };
  for (const record of await files.read().catch(() => [])) {
    if (!isRunning(record, facts)) await files.remove(record).catch(onError);
  }
  const heartbeat = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(RECORD_MS, stopping.signal).catch(() => undefined);
      if (!stopping.signal.aborted) await (last = last.then(write));
    }
  })();
  return {
    writeNow: () => void (last = last.then(write)),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all([heartbeat, last]);
      await files.remove({ host, pid }).catch(onError);
    },
  };
}
