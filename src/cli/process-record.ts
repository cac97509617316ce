import { hostname } from 'node:os';
import type { App } from '../app.ts';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/error-code.ts';
import {
  ProcessFiles,
  type ProcessRecord,
  isRunning,
  judgeProcesses,
  keepProcessRecord,
} from '../health/process-records.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import { type SourceWait, SourceWaits } from '../health/source-waits.ts';

/** Records in DATA_DIR that this process runs, and what it waits for, until it is disposed. */
export async function recordThisProcess(
  app: App,
  clock: Clock,
  role: ProcessRecord['role'],
  queue: Pick<QueueRuntime, 'status'>,
): Promise<AsyncDisposable> {
  const waits = new SourceWaits(app.events, clock);
  const record = await keepProcessRecord({
    files: new ProcessFiles(app.config.dataDir),
    clock,
    pid: process.pid,
    host: hostname(),
    role,
    isAlive,
    sourceWait: () => waits.current,
    queueAnswers: async () => (await queue.status()).reachable,
    onError: (error) => app.logger.debug({ err: error }, 'DATA_DIR cannot be written.'),
  });
  let wasWaiting = false;
  const listen = (): void => {
    const isWaiting = waits.current !== null;
    if (isWaiting !== wasWaiting) record.writeNow();
    wasWaiting = isWaiting;
  };
  const unsubscribe = [
    app.events.on('forms.retry', listen),
    app.events.on('forms.silent', listen),
    app.events.on('forms.settled', listen),
  ];
  return {
    async [Symbol.asyncDispose]() {
      for (const end of unsubscribe) end();
      waits.stop();
      await record[Symbol.asyncDispose]();
    },
  };
}

/** What the processes of the mirror that share this DATA_DIR record of themselves. */
export async function readProcesses(
  app: App,
  nowMs: number,
): Promise<ReturnType<typeof judgeProcesses>> {
  const records = await new ProcessFiles(app.config.dataDir).read();
  return judgeProcesses(records, { nowMs, host: hostname(), isAlive });
}

/** Whether a `start` runs with this DATA_DIR, on this machine or another. */
export async function startRunsHere(app: App, nowMs: number): Promise<boolean> {
  const records = await new ProcessFiles(app.config.dataDir).read();
  const facts = { nowMs, host: hostname(), isAlive };
  return records.some((record) => record.role === 'start' && isRunning(record, facts));
}

/** What the others of them wait for the source with; null when none does. */
export async function readWaitElsewhere(app: App, nowMs: number): Promise<SourceWait | null> {
  const host = hostname();
  const records = await new ProcessFiles(app.config.dataDir).read();
  const others = records.filter((record) => record.host !== host || record.pid !== process.pid);
  return judgeProcesses(others, { nowMs, host, isAlive }).sourceWait;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives and is another user's.
    return errorCode(error) === 'EPERM';
  }
}
