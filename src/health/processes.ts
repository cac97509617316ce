import { hostname } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/errors.ts';
import { exact } from '../base/format.ts';
import type { DataDir, ProcessRecord } from './data-dir.ts';
import type { Trouble } from './trouble.ts';

/*
 * What the processes of a mirror record about themselves, for commands, which see neither the queue nor the events of other
 * processes. A process removes its record when it ends; one that is killed leaves it.
 */

/** How often a process writes its record, and up to what age of the record its process counts as running. */
const RECORD_MS = 10_000;
const SILENT_MS = 45_000;

/** For a record of another machine, only its age shows whether its process is running. */
const isRunning = ({ host, pid, atMs }: ProcessRecord, nowMs: number): boolean =>
  nowMs - atMs <= SILENT_MS && (host !== hostname() || isAlive(pid));

/**
 * What running processes recorded, one trouble per code; or that the last process has died and no other is running. `isOwn`: only
 * what others add to a process's own troubles, because every worker takes polls and waits for the same source.
 */
export async function readProcesses(
  dataDir: DataDir,
  nowMs: number,
  isOwn = false,
): Promise<readonly Trouble[]> {
  const records = await dataDir.processes.all();
  const running = records.filter((record) => isRunning(record, nowMs));
  const last = records.toSorted((a, b) => b.atMs - a.atMs)[0];
  if (running.length === 0 && last !== undefined && !isOwn) {
    const message = `${last.role} (process ${last.pid} on ${last.host}) has died; it was last seen at ${exact(last.atMs)}. No other one runs with this DATA_DIR.`;
    return [{ code: 'NOT_RUNNING', message, sinceMs: last.atMs }];
  }
  // The oldest per code.
  const troubles = running
    .filter(({ host, pid }) => !isOwn || host !== hostname() || pid !== process.pid)
    .flatMap((record) => record.troubles)
    .filter(({ code }) => !isOwn || code === 'SOURCE_WAITING')
    .toSorted((a, b) => (b.sinceMs ?? 0) - (a.sinceMs ?? 0));
  const byCode = new Map(troubles.map((trouble) => [trouble.code, trouble]));
  return [...byCode.values()];
}

/** Whether a `start` is running with this DATA_DIR, on this machine or another. */
export const startRunsHere = async (dataDir: DataDir, nowMs: number): Promise<boolean> =>
  (await dataDir.processes.all()).some(
    (record) => record.role === 'start' && isRunning(record, nowMs),
  );

export interface KeepRecordOptions {
  readonly dataDir: DataDir;
  readonly clock: Clock;
  readonly role: ProcessRecord['role'];
  readonly troubles: () => Promise<readonly Trouble[]>;
  /** Called when a record cannot be written. */
  readonly onError: (error: unknown) => void;
}

/** Keeps a record of this process until it is disposed, and removes records of processes that have died. */
export async function keepProcessRecord(options: KeepRecordOptions): Promise<AsyncDisposable> {
  const { dataDir, clock, role, onError } = options;
  const own = { host: hostname(), pid: process.pid };
  const record = dataDir.processes.of(own.host, own.pid);
  const stopping = new AbortController();
  const beat = async (): Promise<void> => {
    const [atMs, troubles] = [clock.now(), [...(await options.troubles())]];
    await record.write({ ...own, role, atMs, troubles }).catch(onError);
    // A process that was killed on another machine counts as running until its record is old.
    for (const other of await dataDir.processes.all().catch(() => []))
      if (!isRunning(other, clock.now()))
        await dataDir.processes.of(other.host, other.pid).remove().catch(onError);
  };
  await beat();
  const beating = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(RECORD_MS, stopping.signal).catch(() => undefined);
      if (!stopping.signal.aborted) await beat();
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await beating;
      await record.remove().catch(onError);
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists and belongs to another user.
    return errorCode(error) === 'EPERM';
  }
}
