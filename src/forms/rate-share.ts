import { z } from 'zod';

/*
 * The rate of requests, kept by many processes together. What is allowed is a row of slots, one request each, evenly spaced.
 * Whoever wants to send takes the next few; what is stored is when the next free one begins. A slot may be used for some
 * seconds after its time, so that a short rest is not lost, and no longer, or slots saved up would be used all at once. The
 * distance of slots allows for that: however they are used, no minute holds more requests than it may.
 *
 * A 429 lowers the rate to half of what was really sent, for everybody, and moves the next slot to where `Retry-After` ends.
 * From then on it rises step by step, until it is as set, or, where none is set, far beyond what was refused.
 *
 * Pure: where the state is kept, and by whose clock, is for the callers.
 */

/** What all processes know together. */
export interface RateState {
  /** When the next free slot begins, milliseconds since the epoch. */
  readonly nextMs: number;
  /** How low the last 429 set the rate, and when; null: not at all, or long ago. */
  readonly lowered: { readonly perMinute: number; readonly atMs: number } | null;
  /** Requests really sent: since `fromMs`, and in the ten seconds before. */
  readonly sent: { readonly fromMs: number; readonly now: number; readonly before: number };
  /** Who asked within the last minute, and when last. */
  readonly processes: readonly (readonly [id: string, seenMs: number])[];
}

/** What a process asks for. */
export interface RateAsk {
  readonly process: string;
  /** Its FORMS_API_RATE; null: no limit. */
  readonly perMinute: number | null;
  /** How many slots it wants. */
  readonly slots: number;
  /** Requests that it sent since it last asked. */
  readonly sent: number;
  /** Set when the source answered 429: for how long it wants to be left alone. */
  readonly refusedForMs: number | null;
  /** Set when it kept to a part of its own until now: for how long the slots that it gave itself go on; negative: they are over. */
  readonly aloneForMs?: number | undefined;
}

/** What it gets. */
export interface RateShare {
  /** Requests that all may send in a minute, now; null: as many as they like, without slots. */
  readonly perMinute: number | null;
  readonly slots: number;
  /** When its first slot begins, from now; negative: it has begun. */
  readonly firstInMs: number;
  /** From one slot to the next. */
  readonly everyMs: number;
  /** How many processes send at present, this one included. */
  readonly processes: number;
}

/** A slot may be used so long after its time. */
export const SLOT_LASTS_MS = 5_000;
/** A request may take so much longer than another to arrive, and still no minute at the source holds too many. */
const ARRIVAL_MS = 1_000;
const MINUTE_MS = 60_000;
/** A process that kept to a part of its own knows within this time that it need not any more. */
export const RETURNS_WITHIN_MS = 6_000;
/** Slots for more than this are not given out at once: others would wait for them, and they may be left unused. */
const MOST_AT_ONCE_MS = 1_000;

/** What a 429 lowers the rate to is a part of what was sent, but not less than this: one refusal is no proof of more. */
const LEAST_LOWERED = 60;
const LOWERED_TO = 0.5;
/** Refusals so soon after another speak of requests that were on the way by then. */
const SAME_REFUSAL_MS = 10_000;
const STEP_MS = 30_000;
const STEP = 1.25;
/** Where no rate is set: when the lowered one has grown so much, nothing is held back any more. */
const RISES_BY = 8;
/** Requests are counted in spans of this length. */
const COUNTED_MS = 10_000;
/** No clock and no `Retry-After` moves the next slot further away. */
const FURTHEST_MS = 600_000;

/** A state in which the first slot begins at `nextMs`, and none before. */
export const rateFrom = (nextMs: number): RateState => ({
  nextMs,
  lowered: null,
  sent: noneSent(nextMs),
  processes: [],
});

/** The next state and what the asker gets, at `nowMs` by the clock of the state. */
export function shareRate(
  known: RateState | null,
  nowMs: number,
  ask: RateAsk,
): { readonly state: RateState; readonly share: RateShare } {
  const before = known ?? rateFrom(nowMs);
  const sent = count(before.sent, nowMs, ask.sent);
  const lowered = lower(before.lowered, nowMs, ask, sent);
  const perMinute = allowed(lowered, nowMs, ask.perMinute);
  const processes = [
    ...before.processes.filter(
      ([id, seenMs]) => id !== ask.process && nowMs - seenMs < MINUTE_MS && seenMs <= nowMs,
    ),
    [ask.process, nowMs] as const,
  ];
  const resumesMs = nowMs + Math.min(ask.refusedForMs ?? 0, FURTHEST_MS);
  const startMs = Math.max(
    Math.min(before.nextMs, nowMs + FURTHEST_MS),
    ask.refusedForMs === null ? nowMs - SLOT_LASTS_MS : resumesMs,
    returnedMs(before, nowMs, ask),
  );
  const everyMs = perMinute === null ? 0 : slotMs(perMinute);
  const most = perMinute === null ? 0 : Math.max(1, Math.floor(MOST_AT_ONCE_MS / everyMs));
  const slots = Math.min(ask.slots, most);
  return {
    state: {
      nextMs: perMinute === null ? Math.max(startMs, nowMs) : startMs + slots * everyMs,
      // What has risen past its end is forgotten.
      lowered:
        lowered !== null && perMinute !== null && isLowered(lowered, nowMs, ask) ? lowered : null,
      sent,
      processes,
    },
    share: { perMinute, slots, firstInMs: startMs - nowMs, everyMs, processes: processes.length },
  };
}

/**
 * What processes send by themselves while the store is away is not in its row: for that time there are no slots, and none until
 * those that have not come back yet have done so. Whoever others have been heard beside was alone without them.
 */
function returnedMs({ processes }: RateState, nowMs: number, ask: RateAsk): number {
  if (ask.aloneForMs === undefined) return Number.NEGATIVE_INFINITY;
  const isFirst = !processes.some(
    ([id, seenMs]) => id !== ask.process && nowMs - seenMs < RETURNS_WITHIN_MS,
  );
  const forMs = Math.max(ask.aloneForMs, isFirst ? RETURNS_WITHIN_MS : 0);
  return nowMs + Math.min(forMs, FURTHEST_MS);
}

/** The distance of slots at which no minute holds more than `perMinute` requests. */
const slotMs = (perMinute: number): number => (MINUTE_MS + SLOT_LASTS_MS + ARRIVAL_MS) / perMinute;

type Lowered = NonNullable<RateState['lowered']>;

/** A lowered rate as it has risen since. */
const risen = ({ perMinute, atMs }: Lowered, nowMs: number): number =>
  perMinute * STEP ** Math.floor(Math.max(0, nowMs - atMs) / STEP_MS);

function isLowered(lowered: Lowered, nowMs: number, { perMinute }: RateAsk): boolean {
  return risen(lowered, nowMs) < (perMinute ?? lowered.perMinute * RISES_BY);
}

function allowed(lowered: Lowered | null, nowMs: number, perMinute: number | null): number | null {
  if (lowered === null) return perMinute;
  const now = risen(lowered, nowMs);
  if (perMinute === null) return now < lowered.perMinute * RISES_BY ? now : null;
  return Math.min(now, perMinute);
}

function lower(
  lowered: Lowered | null,
  nowMs: number,
  ask: RateAsk,
  sent: RateState['sent'],
): Lowered | null {
  if (ask.refusedForMs === null) return lowered;
  if (lowered !== null && nowMs - lowered.atMs < SAME_REFUSAL_MS) return lowered;
  const really = Math.max(sent.now, sent.before) * (MINUTE_MS / COUNTED_MS);
  const refused = Math.min(really, allowed(lowered, nowMs, ask.perMinute) ?? really);
  const least = Math.min(LEAST_LOWERED, ask.perMinute ?? LEAST_LOWERED);
  return { perMinute: Math.max(least, refused * LOWERED_TO), atMs: nowMs };
}

const noneSent = (nowMs: number): RateState['sent'] => ({ fromMs: nowMs, now: 0, before: 0 });

function count(sent: RateState['sent'], nowMs: number, more: number): RateState['sent'] {
  const age = nowMs - sent.fromMs;
  if (age >= 0 && age < COUNTED_MS) return { ...sent, now: sent.now + more };
  const before = age >= 0 && age < 2 * COUNTED_MS ? sent.now : 0;
  return { fromMs: nowMs, now: more, before };
}

const time = z.number().finite();
const stateSchema = z.object({
  nextMs: time,
  lowered: z.object({ perMinute: z.number().positive().finite(), atMs: time }).nullable(),
  sent: z.object({ fromMs: time, now: z.number().nonnegative(), before: z.number().nonnegative() }),
  processes: z.array(z.tuple([z.string(), time])).max(1_000),
});

/** A state as it is stored. */
export const rateText = (state: RateState): string => JSON.stringify(state);

/** A stored state; null for none, and for what is none of ours: it begins anew then. */
export function parseRate(text: string | null): RateState | null {
  if (text === null) return null;
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
