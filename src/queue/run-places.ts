import type { Job } from 'bullmq';
import { addPasses, type FlowContext } from './flows.ts';
import type { FormPlace, PlannedForm } from './handlers.ts';
import { passJobId } from './jobs.ts';

/** Passes that a person asks for. */
export interface RunOrder {
  readonly kind: 'incremental' | 'full';
  /** Where; a form that is not planned there is refused by the job itself. */
  readonly places: readonly FormPlace[];
  /** Of a full pass: so many absent rows are accepted as deleted, of each place. */
  readonly acceptDeletes?: number | undefined;
}

/** What became of an order. */
export interface RunStarted {
  /** A worker takes them as soon as one is free. */
  readonly begun: readonly FormPlace[];
  /** Here such a pass ran already, or was about to. */
  readonly underWay: readonly FormPlace[];
}

/**
 * Adds passes besides the scheduled ones. One that waits to be tried again, perhaps for hours, is replaced by one that begins
 * at once; so is one that waits for a worker, where it would not do what is ordered. One that runs is left alone.
 */
export async function runPlaces(
  context: FlowContext,
  { kind, places, acceptDeletes }: RunOrder,
): Promise<RunStarted> {
  const started: { begun: FormPlace[]; underWay: FormPlace[] } = { begun: [], underWay: [] };
  for (const place of places) {
    const queue = context.queues.passes(kind, place.target);
    if (queue === undefined) continue;
    const job = await queue.getJob(passJobId(place.formId));
    const isFree = job === undefined || (await makeWay(job, acceptDeletes !== undefined));
    if (isFree) started.begun.push(place);
    else started.underWay.push(place);
  }
  const forms = [...Map.groupBy(started.begun, ({ formId }) => formId)].map(
    ([formId, all]): PlannedForm => {
      const targets = all.map(({ target }) => target);
      // What a person asks for is compared by its counts, too.
      const passes = targets.map((target) => ({ target, compareCounts: true, acceptDeletes }));
      return { formId, targets, found: { passes, mark: false } };
    },
  );
  await addPasses(context, forms, kind);
  return started;
}

/** Removes a job that waits for its time, or, `also`, for a worker. False where it stays. */
async function makeWay(job: Job, also: boolean): Promise<boolean> {
  const state = await job.getState();
  if (state !== 'delayed' && !(also && state === 'waiting')) return false;
  try {
    await job.remove();
    return true;
  } catch {
    // A worker has just taken it.
    return false;
  }
}
