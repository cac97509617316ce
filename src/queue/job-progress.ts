import type { Job } from 'bullmq';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { PassKind } from '../mirror/types.ts';
import type { JobProgress } from './handlers.ts';
import { passData } from './jobs.ts';
import { QUEUE_KINDS, type Queues } from './queues.ts';

/*
 * How far running passes have come, kept with their jobs so that every process can show it: IDs and numbers, nothing else.
 */

/** A pass that some worker runs. */
export interface RunningPassJob {
  readonly formId: string;
  readonly target: string;
  readonly kind: PassKind;
  readonly startedAtMs: number;
  readonly progress: {
    readonly atMs: number;
    readonly seen: number;
    readonly total: number;
  } | null;
  /** The process that runs it; null where the store does not tell. */
  readonly worker: string | null;
}

/** What a worker does besides passes of its own. */
export interface ActiveSideJob {
  readonly step: 'mark';
  readonly formId: string;
  /** Null for marking, which asks all targets. */
  readonly target: string | null;
  readonly startedAtMs: number;
  readonly worker: string | null;
}

const storedProgress = z.object({ atMs: z.number(), seen: z.number(), total: z.number() });

/** Most jobs that are read of each queue: as many as workers can run. */
const MOST_READ = 100;

/**
 * Stores the progress of a job, with `restMs` before each write: none of a short one, for which a write costs as much as its
 * own work. What cannot be stored is left out: the next one follows.
 */
export function progressWriter(
  job: Job,
  clock: Clock,
  restMs: number,
): (progress: JobProgress) => void {
  let writtenAtMs = clock.now();
  return ({ seen, total }) => {
    const atMs = clock.now();
    if (atMs - writtenAtMs < restMs) return;
    writtenAtMs = atMs;
    job.updateProgress({ atMs, seen, total }).catch(() => undefined);
  };
}

/** The passes that run now, in whichever process. */
export async function readRunning(queues: Queues): Promise<RunningPassJob[]> {
  const running: RunningPassJob[] = [];
  for (const target of queues.targets) {
    for (const kind of QUEUE_KINDS) {
      const jobs = await queues.passes(kind, target)?.getJobs(['active'], 0, MOST_READ - 1);
      for (const job of jobs ?? []) {
        const data = passData.safeParse(job.data);
        if (!data.success) continue;
        const progress = storedProgress.safeParse(job.progress);
        running.push({
          formId: data.data.formId,
          target,
          kind,
          startedAtMs: job.processedOn ?? job.timestamp,
          progress: progress.success ? progress.data : null,
          worker: job.processedBy ?? null,
        });
      }
    }
  }
  return running;
}

/** The forms that workers mark now, in whichever process. */
export async function readSideJobs(queues: Queues): Promise<ActiveSideJob[]> {
  const jobs = await queues.mark.getJobs(['active'], 0, MOST_READ - 1);
  return jobs.flatMap((job) => {
    const { data } = sideData.safeParse(job?.data);
    if (data === undefined) return [];
    const startedAtMs = job.processedOn ?? job.timestamp;
    const worker = job.processedBy ?? null;
    return [{ step: 'mark', formId: data.formId, target: null, startedAtMs, worker }];
  });
}

const sideData = z.object({ formId: z.string() });

/** The processes that take jobs, each once; null where the store does not tell. All of them plan. */
export async function readWorkers({ plan }: Queues): Promise<string[] | null> {
  try {
    const named = (await plan.getWorkers()).flatMap(({ rawname }) => {
      const at = rawname?.lastIndexOf(WORKER_NAME) ?? -1;
      return at < 0 ? [] : [rawname?.slice(at + WORKER_NAME.length) ?? ''];
    });
    return named.length === 0 ? null : [...new Set(named)].toSorted();
  } catch {
    // Some managed services forbid listing clients.
    return null;
  }
}

/** What BullMQ writes before a worker's name. */
const WORKER_NAME = ':w:';
