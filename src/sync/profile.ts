import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { iso } from '../base/format.ts';
import type { ListQuery, Page, Source } from '../forms/source.ts';
import { GRAIN_MS } from '../mirror/port.ts';
import type { Target } from './target.ts';

/** The submissions created within [fromMs, toMs), of one status or of all. */
export interface Span {
  readonly status?: string;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

export const WHOLE: Span = { fromMs: null, toMs: null };

const boundsSchema = z.object({
  grain: z.enum(['day', 'millisecond']),
  /** The lower bound includes a submission created at exactly that moment; likewise the upper bound. */
  includesFrom: z.boolean(),
  includesTo: z.boolean(),
});

const profileSchema = z.object({
  /** Lists come newest first. */
  isSorted: z.boolean(),
  /** How date bounds are read. `none`: they are useless. Null: not learned yet. */
  bounds: z.union([boundsSchema, z.literal('none')]).nullable(),
  /** Lists can be counted by status. Null: not learned yet. */
  hasStatuses: z.boolean().nullable(),
  /** The workspace can be counted by status, without a form. Null: it has shown nothing yet, and may not be askable. */
  hasWorkspaceStatuses: z.boolean().nullable(),
  /** `formId` is honored. Null: not learned yet. */
  hasForms: z.boolean().nullable(),
  learnedAtMs: z.number(),
});

/** The behavior of this API as learned so far. It helps to plan requests; it is never evidence. */
export type Profile = z.infer<typeof profileSchema>;

const { day: DAY_MS } = GRAIN_MS;

const newProfile = (nowMs: number): Profile => ({
  isSorted: true,
  bounds: null,
  hasStatuses: null,
  hasWorkspaceStatuses: null,
  hasForms: null,
  learnedAtMs: nowMs,
});

/** The profile of one source, kept in a target. */
export interface ProfileRecord {
  readonly now: Profile;
  readonly learn: (change: Partial<Profile>) => void;
  /** Call it once. If another process has saved since this one loaded, that profile stays; a later run learns again what this one did. */
  readonly save: () => Promise<void>;
}

/**
 * A profile that is older than a day is learned again: a source that lost its order or its filters for an hour would otherwise cost
 * requests for every form, and freshness, long after it has recovered.
 */
export async function loadProfile({ store, sourceName, clock }: Target): Promise<ProfileRecord> {
  const key = `profile ${sourceName}`;
  const nowMs = clock.now();
  const record = await store.record(key);
  const parsed = profileSchema.safeParse(record?.value);
  const isYoung = parsed.success && Math.abs(nowMs - parsed.data.learnedAtMs) < DAY_MS;
  const read = isYoung ? parsed.data : newProfile(nowMs);
  let now = read;
  return {
    get now() {
      return now;
    },
    learn: (change) => void (now = { ...now, ...change }),
    async save() {
      if (!isDeepStrictEqual(now, read)) await store.putRecord(key, now, record?.revision ?? null);
    },
  };
}

/** The smallest time difference that the source distinguishes (milliseconds); null if it distinguishes none. */
export function stepOf({ bounds }: Profile): number | null {
  return bounds === null || bounds === 'none' ? null : GRAIN_MS[bounds.grain];
}

/** A moment, rounded down to one that the source distinguishes. */
export const atStep = (ms: number, stepMs: number | null): number =>
  stepMs === null ? ms : Math.floor(ms / stepMs) * stepMs;

/** The query for the submissions of a span whose ends are at a step of the source. */
export function queryOf({ bounds }: Profile, { status, fromMs, toMs }: Span): ListQuery {
  const ofStatus = status === undefined ? {} : { status };
  if (bounds === null || bounds === 'none') return ofStatus;
  return {
    ...ofStatus,
    ...(fromMs !== null && { dateFrom: iso(bounds.includesFrom ? fromMs : fromMs - 1) }),
    ...(toMs !== null && { dateTo: iso(bounds.includesTo ? toMs - 1 : toMs) }),
  };
}

/** When an item was created (milliseconds); null if it has no usable date. */
export function createdMsOf({ submission }: Page['items'][number]): number | null {
  const ms = submission === null ? NaN : Date.parse(submission.createdAt ?? '');
  return Number.isNaN(ms) ? null : ms;
}

/** When the dated items of a page were created, in their order (milliseconds). */
export const timesOf = ({ items }: Pick<Page, 'items'>): number[] =>
  items.flatMap((item) => createdMsOf(item) ?? []);

/** Whether the dated items of a page come newest first. */
export function isNewestFirst(page: Page): boolean {
  const times = timesOf(page);
  return times.every((ms, at) => ms <= (times[at - 1] ?? ms));
}

/**
 * Learns how the source reads date bounds, by four counts around the newest submission of a page. That submission may be deleted
 * between two counts, so the oldest one must confirm that bounds are useless.
 */
export async function learnBounds(
  source: Source,
  formId: string,
  page: Page,
): Promise<Profile['bounds']> {
  const times = timesOf(page);
  if (times.length === 0) return null;
  const bounds = await boundsAround(source, formId, Math.max(...times));
  return bounds === 'none' ? boundsAround(source, formId, Math.min(...times)) : bounds;
}

async function boundsAround(
  source: Source,
  formId: string,
  at: number,
): Promise<Profile['bounds']> {
  const within = (fromMs: number, toMs: number): Promise<number | null> =>
    source.count({ formId, dateFrom: iso(fromMs), dateTo: iso(toMs) });
  const [after, from, to, around] = await Promise.all([
    within(at + 1, at + 1),
    within(at, at + 1),
    within(at - 1, at),
    within(at - 1, at + 1),
  ]);
  if (after === null || from === null || to === null || around === null) return 'none';
  if (around === 0) return 'none';
  // The response shows the whole day, so the source distinguishes only days, or nothing.
  if (after > 0) {
    const day = atStep(at, DAY_MS);
    const next = await within(day + DAY_MS, day + 2 * DAY_MS);
    return next === 0 ? { grain: 'day', includesFrom: true, includesTo: true } : 'none';
  }
  return { grain: 'millisecond', includesFrom: from > 0, includesTo: to === around };
}
