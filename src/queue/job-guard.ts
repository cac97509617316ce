import { type Job, UnrecoverableError } from 'bullmq';
import type { z } from 'zod';
import { safeText } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { JobHandlers, JobPlace } from './handlers.ts';

/*
 * Whoever reaches the store can write any job into it, and an earlier setting may have left some there. So a worker does
 * only what its own settings say: a job that is none of ours, or about a form or target that is not mirrored, ends without
 * another try, and nothing is read or written for it.
 */

/** What a guard works with. */
interface GuardContext {
  readonly handlers: JobHandlers;
  readonly logger: Logger;
}

/** So many refusals are named in the log of a process; what a flood of jobs brings after them is not. */
const MOST_NAMED = 100;
const LONGEST_NAME = 100;

/** Refusals that a logger has written already: each once, however often a job comes back. */
const named = new WeakMap<Logger, Set<string>>();

/** The payload of a job called `name`. Throws BullMQ's UnrecoverableError for one that is not of this shape. */
export function ownPayload<Schema extends z.ZodType>(
  context: GuardContext,
  job: Job,
  name: string,
  schema: Schema,
): z.infer<Schema> {
  const parsed = schema.safeParse(job.data);
  if (parsed.success && job.name === name) return parsed.data;
  return refuse(context, job, 'it was written by another program or version', {});
}

/** Throws BullMQ's UnrecoverableError for a job that the settings of this process do not ask for. */
export async function requirePlanned(
  context: GuardContext,
  job: Job,
  place: JobPlace,
  signal: AbortSignal,
): Promise<void> {
  if (await context.handlers.isPlanned(place, signal)) return;
  const { formId, target } = place;
  const about = { formId: short(formId), ...(target !== null && { target: short(target) }) };
  refuse(context, job, 'the settings of this process do not mirror that form there', about);
}

/** Throws BullMQ's UnrecoverableError for a pass in a queue where it does not belong. */
export function requireQueue(context: GuardContext, job: Job, isRight: boolean): void {
  if (!isRight) refuse(context, job, 'it names another target or kind than its queue', {});
}

function refuse({ logger }: GuardContext, job: Job, why: string, about: object): never {
  const known = named.get(logger) ?? new Set<string>();
  named.set(logger, known);
  const where = { queue: job.queueName, job: short(job.id ?? '') };
  const key = JSON.stringify([job.queueName, why, 'formId' in about ? about : where]);
  if (!known.has(key) && known.size < MOST_NAMED) {
    known.add(key);
    const last = known.size === MOST_NAMED ? ' Further ones are not named.' : '';
    logger.warn({ ...where, ...about }, `A job is refused: ${why}.${last}`);
  }
  throw new UnrecoverableError(`Refused: ${why}.`);
}

const short = (text: string): string => safeText(text).slice(0, LONGEST_NAME);
