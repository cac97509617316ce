import type { ProblemCode } from '../base/catalogue.ts';
import { z } from 'zod';
import type { Observation } from './alert-state.ts';

/*
 * Not everything that is seen is worth a message. A connection that is away for two seconds fails the first of five tries;
 * a server that comes and goes would fire and resolve all day. So a problem is held back until it has lasted for its grace,
 * and its end until it has been well for a while; and a problem that may be over by now waits for a fresh look.
 */

/** An outage is announced when it has outlasted the tries of a pass: 75 s at most, see the queue's timings. */
export const OUTAGE_GRACE_MS = 90_000;
/** A refused key stays refused until a person acts: only the hiccup of a gateway is waited for. */
export const KEY_GRACE_MS = 20_000;
/** An outage has ended when nothing was wrong for so long. */
export const SETTLE_MS = 60_000;

/** What is no outage: how a pass ended that did its work, or what was waited for already. Announced as it is. */
const FACTS: ReadonlySet<ProblemCode> = new Set([
  'DELETIONS_HELD',
  'RUN_INCOMPLETE',
  'FORM_GONE',
  'COPY_REFILLED',
  'ROWS_REJECTED',
  'STALE',
  'SETTINGS',
  'OTHER_SCHEMA',
]);

/** Since when a subject has had a problem, without having been well for {@link SETTLE_MS} in between. */
export const spellSchema = z.object({
  code: z.string(),
  sinceMs: z.number(),
  /** Since when it has been well; null while it is not. */
  wellSinceMs: z.number().nullable(),
});

/** See {@link spellSchema}. */
export type Spell = z.infer<typeof spellSchema>;

/** When a look at the mirror was taken. */
export interface Look {
  readonly nowMs: number;
  /** Everything that can be asked was asked just now. False when only a pass has ended. */
  readonly isFresh: boolean;
}

/** What {@link whatPersists} makes of an observation: the spell from now on (undefined: none), and what is to be judged. */
export interface Persisting {
  readonly spell: Spell | undefined;
  readonly observation: Observation;
}

/** Holds back what may be over soon, and an end that may not be one. Pure. */
export function whatPersists(
  before: Spell | undefined,
  observation: Observation,
  look: Look,
): Persisting {
  const { problem, notifies, inhibited } = observation;
  if (problem === null) return ended(before, observation, look);
  // Announced by another subject: when it becomes this one's own, its grace begins.
  if (inhibited) return { spell: undefined, observation };
  // Not certain yet, and no sign of an end either.
  if (!notifies) return { spell: before, observation };
  const graceMs = graceOf(problem.code);
  const sinceMs = before?.sinceMs ?? look.nowMs;
  const spell = { code: problem.code, sinceMs, wellSinceMs: null };
  const isDue = look.nowMs - sinceMs >= graceMs && (look.isFresh || graceMs === 0);
  return { spell, observation: isDue ? observation : { ...observation, notifies: false } };
}

function ended(before: Spell | undefined, observation: Observation, { nowMs }: Look): Persisting {
  if (before === undefined || graceOf(before.code as ProblemCode) === 0) {
    return { spell: undefined, observation };
  }
  const wellSinceMs = before.wellSinceMs ?? nowMs;
  if (nowMs - wellSinceMs >= SETTLE_MS) return { spell: undefined, observation };
  // Neither well nor ill: what was announced stays so.
  const unsure = { ...observation, healthyAtMs: Number.NEGATIVE_INFINITY };
  return { spell: { ...before, wellSinceMs }, observation: unsure };
}

function graceOf(code: ProblemCode): number {
  if (FACTS.has(code)) return 0;
  return code === 'FORMS_UNAUTHORIZED' ? KEY_GRACE_MS : OUTAGE_GRACE_MS;
}

/** Codes under which one outage shows: the source, a target or the queue may hang, refuse a connection, or answer 500. */
const OUTAGES: readonly ReadonlySet<string>[] = [
  new Set(['FORMS_UNREACHABLE', 'FORMS_FAILED', 'SOURCE_WAITING']),
  new Set(['TARGET_UNREACHABLE', 'TARGET_FAILED']),
  new Set(['QUEUE_FAILED', 'QUEUE_BUSY']),
];

/** Whether two codes of one subject may well have one cause: the second is no news then. */
export function isSameCause(one: string, other: string): boolean {
  return one === other || OUTAGES.some((codes) => codes.has(one) && codes.has(other));
}
