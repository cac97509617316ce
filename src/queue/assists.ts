import { DelayedError, type Job } from 'bullmq';
import type { FlowContext } from './flows.ts';
import type { JobHandlers } from './handlers.ts';
import { ownPayload, requirePlanned, requireQueue } from './job-guard.ts';
import { type JobContext, runJob } from './job-outcome.ts';
import { assistData, assistJobId, assistJobPrefix, assistOptions, JOB_NAMES } from './jobs.ts';

/*
 * A full pass over a large form asks other workers for help while it has windows that nobody has proven: it keeps a few jobs
 * waiting, one of which makes a worker take part until no window is left. The jobs are hints only: who reads which window is
 * settled in the target, so that one too many, or one too few, costs a moment.
 *
 * A worker reads one window at a time: it has one such job, and none while a pass of its own asks for help, which has all of
 * its requests already.
 */

/** So many jobs wait for a worker that comes, as long as there is something to help with: two, and one that this process may take. */
const WAITING_ASSISTS = 3;

/** A worker that had a job in hand when its own pass began to ask passes it on; so long it waits for another. */
const PASSED_ON_MS = 1_000;

/** The passes of this process that ask for help. */
export class HelpedPasses {
  readonly #targets = new Map<object, string>();
  readonly #listeners = new Map<string, (asking: boolean) => void>();

  /** One that asks; until what it returns is called. */
  add(target: string): () => void {
    const key = {};
    this.#targets.set(key, target);
    this.#listeners.get(target)?.(true);
    return () => {
      this.#targets.delete(key);
      if (!this.has(target)) this.#listeners.get(target)?.(false);
    };
  }

  /** Has `listener` called when one begins to ask, and when none does any more. */
  listen(target: string, listener: (asking: boolean) => void): void {
    this.#listeners.set(target, listener);
  }

  /** Whether a pass into this target does. */
  has(target: string): boolean {
    return [...this.#targets.values()].includes(target);
  }
}

/** What assisting works with. */
export interface AssistContext
  extends JobContext, Pick<FlowContext, 'backend' | 'queues' | 'timings'> {
  readonly handlers: JobHandlers;
  readonly helped: HelpedPasses;
}

/** What a pass calls as long as it has windows that nobody has proven, with how many there are. */
export interface HelpRequest extends Disposable {
  ask(open: number): void;
}

/** Has other workers help a pass. What goes wrong is tried again when it asks again. */
export function requestHelp(context: AssistContext, formId: string, target: string): HelpRequest {
  let leave: (() => void) | undefined;
  let asking: Promise<void> | undefined;
  const ask = async (open: number): Promise<void> => {
    const queue = context.queues.assists(target);
    if (queue === undefined) return;
    const prefix = assistJobPrefix(formId);
    const ranges = await queue.getBackend().getRanges(['waiting', 'delayed', 'prioritized'], 0, -1);
    const waiting = ranges.flat().filter((id) => id.startsWith(prefix)).length;
    const wanted = Math.min(open, WAITING_ASSISTS);
    for (let count = waiting; count < wanted; count++) {
      const jobId = assistJobId(formId, `${context.clock.now()}.${count}`);
      await queue.add(JOB_NAMES.assist, { formId, target }, assistOptions(jobId, context.timings));
    }
  };
  return {
    ask(open) {
      // In one process nobody else can help.
      if (context.backend.kind === 'embedded') return;
      leave ??= context.helped.add(target);
      asking ??= ask(open)
        .catch((error: unknown) => {
          context.logger.debug({ err: error, formId, target }, 'No help was asked for.');
        })
        .finally(() => (asking = undefined));
    },
    [Symbol.dispose]: () => leave?.(),
  };
}

/** Helps a pass over a form of the target that its queue is for. */
export function assistProcessor(
  context: AssistContext,
  target: string,
): (job: Job, token?: string, signal?: AbortSignal) => Promise<string> {
  return async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const data = ownPayload(context, job, JOB_NAMES.assist, assistData);
    requireQueue(context, job, data.target === target);
    const { formId } = data;
    const subject = { step: 'assist', kind: 'full', formId, target } as const;
    // It is tried again as often as a short job: while the pass goes on, it asks again.
    const work = { job, token: token ?? '', signal, subject } as const;
    const running = { ...work, kind: 'incremental', busy: 0 } as const;
    return runJob(context, running, async (stop) => {
      if (context.helped.has(target)) {
        await job.moveToDelayed(context.clock.now() + PASSED_ON_MS, token);
        throw new DelayedError();
      }
      await requirePlanned(context, job, { formId, target }, stop);
      const goesOn = (): boolean => !context.helped.has(target);
      const windows = await context.handlers.assist({ formId, target }, stop, goesOn);
      return windows === 0 ? 'nothing' : 'done';
    });
  };
}
