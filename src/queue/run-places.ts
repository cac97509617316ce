import { addPasses, type FlowContext, IN_USE, jobIdsIn } from './flows.ts';
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
  const mayReplace = acceptDeletes === undefined ? REPLACED : REPLACED_FOR_DELETES;
  for (const [target, all] of Map.groupBy(places, (place) => place.target)) {
    const queue = context.queues.passes(kind, target);
    if (queue === undefined) continue;
    // Asked once for all: of hundreds of forms most have no job.
    const replaceable = await jobIdsIn(queue, mayReplace);
    const inUse = await jobIdsIn(queue, IN_USE);
    for (const place of all) {
      const id = passJobId(place.formId);
      // A worker may have just taken it: then it stays.
      const isFree = replaceable.has(id) ? (await queue.remove(id)) === 1 : !inUse.has(id);
      if (isFree) started.begun.push(place);
      else started.underWay.push(place);
    }
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

/** Jobs that wait for their time, and, where a worker's job would not do what is ordered, for a worker. */
const REPLACED = ['delayed'] as const;
const REPLACED_FOR_DELETES = ['delayed', 'waiting'] as const;
