import type { ProblemCode } from '../base/catalogue.ts';
import { z } from 'zod';
import type { FormIdentity } from '../mirror/types.ts';
import type { Problem } from '../health/problem.ts';
import { isSameCause, spellSchema } from './persistence.ts';

/*
 * The state machine of alerts: of what people were notified about each subject, and whether a new observation is worth a
 * notification. A subject is the source, the queue, a target, or one track of one form in one target. An alert fires
 * once for each cause, is repeated once a day while it lasts, and is resolved once.
 */

/** What an alert is about; null where it concerns all. */
export interface AlertSubject {
  readonly form: Pick<FormIdentity, 'id' | 'name'> | null;
  readonly target: string | null;
}

/** The state of a subject now, as health has judged it. */
export interface Observation {
  /** Names the subject, over restarts too. */
  readonly key: string;
  readonly subject: AlertSubject;
  readonly problem: Problem | null;
  /** False: not bad enough to notify anybody. */
  readonly notifies: boolean;
  /** True: another subject's alert announces the cause. */
  readonly inhibited: boolean;
  /** Identifies the fact behind the problem: one that was inhibited once stays so. */
  readonly occurrence: string;
  /** When it was last known to be healthy; only what is newer than a notification resolves it. Since the epoch. */
  readonly healthyAtMs: number;
  /** How many forms it concerns; 0 where that goes without saying. */
  readonly forms: number;
}

/** A notification to send. */
export interface Alert {
  readonly status: 'firing' | 'repeated' | 'resolved';
  /** That of its {@link Observation}. */
  readonly key: string;
  /** True for the first of its subject since that was last well: without it nothing is to be resolved. */
  readonly opens: boolean;
  /** See {@link Observation.forms}. */
  readonly forms: number;
  readonly subject: AlertSubject;
  readonly problem: Problem;
  readonly atMs: number;
  /** When the first of these was sent since the subject was last well: what belongs together is shown together. */
  readonly openedAtMs: number;
  /** The alerts about single forms that this one stands for; absent where it is one. */
  readonly members?: readonly Alert[];
  /** The {@link incidentOf} the alert that opened it, where that was about several. */
  readonly incident?: string | undefined;
}

/** The same for all alerts of one incident, whether one is about a form alone or about several. */
export const incidentOf = ({
  key,
  openedAtMs,
  incident = `${key}\n${openedAtMs}`,
}: Pick<Alert, 'key' | 'openedAtMs' | 'incident'>): string => incident;

/** How long an alert that keeps firing is not repeated: once a day a person who has forgotten it is reminded. */
export const REPEAT_INTERVAL_MS = 24 * 3_600_000;

const problemSchema = z.object({
  level: z.enum(['error', 'warning']),
  code: z.string(),
  title: z.string(),
});

const subjectSchema = z.object({
  /** Every code notified of since the first fired; empty when the subject was only inhibited. */
  codes: z.array(z.string()),
  notifiedAtMs: z.number(),
  /** When the first of its codes was notified of; absent where nobody was. */
  openedAtMs: z.number().optional(),
  /** See {@link Alert.incident}. */
  incident: z.string().optional(),
  /** The occurrence that was inhibited; null for none. */
  inhibited: z.string().nullable(),
  problem: problemSchema,
});

const rejectedSchema = z.object({ count: z.number(), notifiedAtMs: z.number() });

/** The schema of the state of alerts: to be raised with every change of it. */
export const ALERTS_VERSION = 3;

const stateSchema = z.object({
  version: z.literal(ALERTS_VERSION),
  subjects: z.record(z.string(), subjectSchema),
  /** Rejected submissions that people were notified of, and when, by subject. */
  rejected: z.record(z.string(), rejectedSchema),
  /** Problems that are waited for, and ends that are; by subject. */
  spells: z.record(z.string(), spellSchema),
  /** When alerts of a kind were last sent about single forms, by kind. */
  groups: z.record(z.string(), z.number()),
});

/** Of what people were notified about one subject. */
export type SubjectState = z.infer<typeof subjectSchema>;

/** Of how many rejected submissions of a form people were notified. */
export type RejectedState = z.infer<typeof rejectedSchema>;

/** The state of all alerts as it is kept over a restart: IDs, counts and codes. */
export type AlertState = z.infer<typeof stateSchema>;

/** Nobody was ever notified of anything. */
export const NO_ALERTS: AlertState = {
  version: ALERTS_VERSION,
  subjects: {},
  rejected: {},
  spells: {},
  groups: {},
};

/** Reads what an {@link AlertState} was written as; undefined for anything else. */
export function parseAlertState(text: string): AlertState | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** What an observation changes: the subject's state from now on (undefined: none), and the notification to send. */
export interface Evaluation {
  readonly state: SubjectState | undefined;
  readonly alert: Alert | undefined;
}

/** Evaluates one subject; an alert that keeps firing is repeated after {@link REPEAT_INTERVAL_MS}. Pure. */
export function evaluate(
  state: SubjectState | undefined,
  observation: Observation,
  nowMs: number,
): Evaluation {
  const { problem } = observation;
  if (problem === null) return resolve(state, observation, nowMs);
  const { subject, occurrence, inhibited, notifies } = observation;
  if (inhibited) {
    const before = state ?? { codes: [], notifiedAtMs: nowMs, problem: outlineOf(problem) };
    return { state: { ...before, inhibited: occurrence }, alert: undefined };
  }
  if (!notifies || state?.inhibited === occurrence) return { state, alert: undefined };
  const codes = state?.codes ?? [];
  const isNew = !codes.some((code) => isSameCause(code, problem.code));
  const { key, forms } = observation;
  const opens = codes.length === 0;
  const isRepeat = isRepeatDue(state, problem.code, nowMs);
  if (!isNew && !isRepeat) return { state, alert: undefined };
  const openedAtMs = opens ? nowMs : openedAt(state, nowMs);
  const incident = opens ? undefined : state?.incident;
  return {
    state: {
      codes: isNew ? [...codes, problem.code] : codes,
      notifiedAtMs: nowMs,
      openedAtMs,
      incident,
      inhibited: null,
      problem: outlineOf(problem),
    },
    alert: {
      status: isNew ? 'firing' : 'repeated',
      key,
      opens,
      forms,
      subject,
      problem,
      atMs: nowMs,
      openedAtMs,
      incident,
    },
  };
}

const openedAt = (state: SubjectState | undefined, nowMs: number): number =>
  state?.openedAtMs ?? state?.notifiedAtMs ?? nowMs;

function resolve(
  state: SubjectState | undefined,
  { key, subject, healthyAtMs }: Observation,
  nowMs: number,
): Evaluation {
  if (state === undefined || state.codes.length === 0) {
    return { state: undefined, alert: undefined };
  }
  // No problem is known, but no health either: after a restart, or before anything was read.
  if (healthyAtMs < state.notifiedAtMs) return { state, alert: undefined };
  const { level, title } = state.problem;
  const code = state.problem.code as ProblemCode;
  const nothing = { message: '', remedy: null, command: null, since: null };
  const problem: Problem = { level, code, title, ...nothing };
  const openedAtMs = openedAt(state, nowMs);
  const about = { key, opens: false, forms: 0, subject, problem, atMs: nowMs, openedAtMs } as const;
  return { state: undefined, alert: { status: 'resolved', ...about, incident: state.incident } };
}

const outlineOf = ({ level, code, title }: Problem): SubjectState['problem'] => ({
  level,
  code,
  title,
});

/** A form that is gone is announced once: most are deleted on purpose, and nothing has to be done. */
function isRepeatDue(state: SubjectState | undefined, code: string, nowMs: number): boolean {
  return code !== 'FORM_GONE' && nowMs - (state?.notifiedAtMs ?? nowMs) >= REPEAT_INTERVAL_MS;
}

/**
 * Evaluates a count of rejected submissions: a rise notifies, further rises within a day together with the first one
 * after it; a fall does not. `risen`: how many more than people were notified of. Pure.
 */
export function evaluateRejected(
  state: RejectedState | undefined,
  count: number,
  nowMs: number,
): { readonly state: RejectedState | undefined; readonly risen: number } {
  const before = state?.count ?? 0;
  if (count <= before) return { state: state && { ...state, count }, risen: 0 };
  if (state !== undefined && nowMs - state.notifiedAtMs < REPEAT_INTERVAL_MS) {
    return { state, risen: 0 };
  }
  return { state: { count, notifiedAtMs: nowMs }, risen: count - before };
}
