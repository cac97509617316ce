import { z } from 'zod';
import type { FormIdentity } from '../mirror/types.ts';
import type { Problem, ProblemCode } from './problem.ts';

/*
 * The state machine of alerts: what was told about each subject, and whether a new observation is worth telling. A
 * subject is the source, the queue, a target, or one track of one form in one target. It turns bad once, is reminded of
 * once a day, and turns well once.
 */

/** What an alert is about; null where it concerns all. */
export interface AlertSubject {
  readonly form: Pick<FormIdentity, 'id' | 'name'> | null;
  readonly target: string | null;
}

/** How a subject stands now. */
export interface Observation {
  /** Names the subject for good; survives a restart. */
  readonly key: string;
  readonly subject: AlertSubject;
  readonly problem: Problem | null;
  /** False: not bad enough to call anybody. */
  readonly calls: boolean;
  /** True: another subject tells of this cause for all. */
  readonly covered: boolean;
  /** What the problem rests on: a fact that was covered once stays so. */
  readonly evidence: string;
  /** When something good was last known; only what is newer than an alert takes it back. Since the epoch. */
  readonly goodAtMs: number;
}

/** Something to tell. */
export interface Alert {
  readonly turn: 'bad' | 'still-bad' | 'well';
  readonly subject: AlertSubject;
  readonly problem: Problem;
  readonly atMs: number;
}

/** How long a trouble that lasts is left at one alert. */
export const REMINDER_MS = 24 * 3_600_000;

const entrySchema = z.object({
  /** Every code told since it turned bad; empty when others told of it. */
  codes: z.array(z.string()),
  toldAtMs: z.number(),
  covered: z.string().nullable(),
  problem: z.object({
    level: z.enum(['error', 'warning']),
    code: z.string(),
    title: z.string(),
  }),
});

const memorySchema = z.object({
  version: z.literal(1),
  subjects: z.record(z.string(), entrySchema),
  /** Rejected submissions that were told of, and when, by subject. */
  rejected: z.record(z.string(), z.object({ count: z.number(), toldAtMs: z.number() })),
});

/** What was told about one subject. */
export type AlertEntry = z.infer<typeof entrySchema>;

/** What was told about all, as it is kept over a restart: IDs, counts and codes. */
export type AlertMemory = z.infer<typeof memorySchema>;

/** Nothing was ever told. */
export const NOTHING_TOLD: AlertMemory = { version: 1, subjects: {}, rejected: {} };

/** Reads what {@link AlertMemory} was written as; undefined for anything else. */
export function parseAlertMemory(text: string): AlertMemory | undefined {
  try {
    return memorySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** What an observation changes: what is remembered of the subject now (undefined: nothing), and what to tell. */
export interface Judgement {
  readonly entry: AlertEntry | undefined;
  readonly alert: Alert | undefined;
}

/** Judges one subject. Pure. */
export function judge(
  entry: AlertEntry | undefined,
  observation: Observation,
  nowMs: number,
): Judgement {
  const { problem } = observation;
  if (problem === null) return judgeWell(entry, observation, nowMs);
  const { subject, evidence, covered, calls } = observation;
  if (covered) {
    const told = entry ?? { codes: [], toldAtMs: nowMs, problem: outlineOf(problem) };
    return { entry: { ...told, covered: evidence }, alert: undefined };
  }
  if (!calls || entry?.covered === evidence) return { entry, alert: undefined };
  const codes = entry?.codes ?? [];
  const isNews = !codes.includes(problem.code);
  if (!isNews && !isReminderDue(entry, problem.code, nowMs)) return { entry, alert: undefined };
  return {
    entry: {
      codes: isNews ? [...codes, problem.code] : codes,
      toldAtMs: nowMs,
      covered: null,
      problem: outlineOf(problem),
    },
    alert: { turn: isNews ? 'bad' : 'still-bad', subject, problem, atMs: nowMs },
  };
}

function judgeWell(
  entry: AlertEntry | undefined,
  { subject, goodAtMs }: Observation,
  nowMs: number,
): Judgement {
  if (entry === undefined) return { entry, alert: undefined };
  if (entry.codes.length === 0) return { entry: undefined, alert: undefined };
  // Nothing bad is known, but nothing good either: after a restart, or before anything was read.
  if (goodAtMs < entry.toldAtMs) return { entry, alert: undefined };
  const { level, title } = entry.problem;
  const code = entry.problem.code as ProblemCode;
  const problem: Problem = { level, code, title, message: '', remedy: null, command: null };
  return { entry: undefined, alert: { turn: 'well', subject, problem, atMs: nowMs } };
}

const outlineOf = ({ level, code, title }: Problem): AlertEntry['problem'] => ({
  level,
  code,
  title,
});

/** A form that is gone is told of once: most are deleted on purpose, and nothing has to be done. */
function isReminderDue(entry: AlertEntry | undefined, code: string, nowMs: number): boolean {
  return code !== 'FORM_GONE' && nowMs - (entry?.toldAtMs ?? nowMs) >= REMINDER_MS;
}

/** What is remembered of a form's rejected submissions. */
export type RejectedEntry = AlertMemory['rejected'][string];

/**
 * Judges a count of rejected submissions: a rise is told, further rises within a day together with the first one after
 * it, a fall is good news that needs no telling. `risen`: how many more than were told of. Pure.
 */
export function judgeRejected(
  entry: RejectedEntry | undefined,
  count: number,
  nowMs: number,
): { readonly entry: RejectedEntry | undefined; readonly risen: number } {
  const told = entry?.count ?? 0;
  if (count <= told) {
    return {
      entry: entry && { ...entry, count },
      risen: 0,
    };
  }
  if (entry !== undefined && nowMs - entry.toldAtMs < REMINDER_MS) return { entry, risen: 0 };
  return { entry: { count, toldAtMs: nowMs }, risen: count - told };
}
