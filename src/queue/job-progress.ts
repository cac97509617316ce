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
        });
      }
    }
  }
  return running;
}
