import type { ProblemCode } from '../../src/base/catalogue.ts';
import type { Facts, FormCopy, TargetContent, TargetFacts } from '../../src/health/facts.ts';
import type { Kept, KeptRun } from '../../src/health/data-dir.ts';
import {
  EMPTY_TALLY,
  type FormState,
  newFormState,
  runEnded,
  type Tally,
} from '../../src/mirror/form-state.ts';
import type { QueueState, RunningJob } from '../../src/health/report.ts';
import type { Pause } from '../../src/mirror/pauses.ts';
import type { Run } from '../../src/mirror/port.ts';
import type { FormIdentity } from '../../src/mirror/types.ts';

/** Facts of a mirror with one target and two forms without problems, with the changes of a test. */

export const NOW = Date.UTC(2026, 4, 12, 9, 30);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const FORM_A: FormIdentity = { id: 'frm_a', slug: 'a', name: 'Form A' };
export const FORM_B: FormIdentity = { id: 'frm_b', slug: 'b', name: 'Form B' };

/** `ms` before NOW, as ISO. */
export const before = (ms: number): string => new Date(NOW - ms).toISOString();

/** A run that ended successfully `agoMs` before NOW. */
export const run = (agoMs: number, changes: Partial<Run> = {}): Run => ({
  startedAtMs: NOW - agoMs - 800,
  endedAtMs: NOW - agoMs,
  outcome: 'ok',
  code: null,
  error: null,
  requests: 3,
  held: 0,
  isWhole: false,
  inserted: 0,
  updated: 0,
  unchanged: 100,
  deleted: 0,
  rejected: 0,
  ...changes,
});

/** A run that failed. */
export const failed = (agoMs: number, code: ProblemCode, error: string = code): Run =>
  run(agoMs, { outcome: 'failed', code, error });

/** A failed run of {@link FORM_A} that no target recorded. */
export const kept = (agoMs: number, changes: Partial<KeptRun> = {}): KeptRun => ({
  target: 'db',
  address: 'postgres://db',
  form: FORM_A,
  outcome: 'failed',
  code: 'TARGET_FAILED',
  error: 'broke',
  startedAtMs: NOW - agoMs,
  endedAtMs: NOW - agoMs,
  sinceMs: NOW - agoMs,
  ...changes,
});

export type FormChanges = Partial<Omit<FormCopy, 'state'>> & {
  readonly state?: Partial<FormState>;
  readonly tally?: Partial<Tally>;
  /** When source and copy last agreed, with a run that ended then. */
  readonly agoMs?: number;
};

/** A form that was read whole two hours ago, and last agreed `agoMs` ago (20 s). */
export function formCopy(form: FormIdentity, changes: FormChanges = {}): FormCopy {
  const { state, tally, agoMs = 20_000, runs = [run(agoMs)], ...others } = changes;
  const { id: formId, slug, name } = form;
  const blank = newFormState({ formId, slug, name, place: slug });
  return {
    state: {
      ...runs.toReversed().reduce(runEnded, blank),
      ranges: [{ fromMs: null, toMs: null, readAtMs: NOW - 2 * HOUR, isDue: false }],
      submissionsAsOfMs: NOW - agoMs,
      statusesAsOfMs: NOW - agoMs,
      tally: { ...EMPTY_TALLY, rows: { NEW: 100 }, ...tally },
      ...state,
    },
    fields: [],
    runs,
    losses: [],
    notices: [],
    location: `table ${slug}`,
    place: { table: slug },
    writeBack: null,
    refilledAtMs: null,
    ...others,
  };
}

/** A form that was never read. */
export const NEW_STATE: Partial<FormState> = {
  ranges: [],
  submissionsAsOfMs: null,
  statusesAsOfMs: null,
  tally: EMPTY_TALLY,
};

export const QUEUE: QueueState = {
  backend: 'redis',
  address: 'redis://queue.internal:6379',
  isReachable: true,
  nextPollAt: before(-38_000),
  problem: null,
  waiting: 2,
  active: 1,
  running: [],
};

export const job = (changes: Partial<RunningJob> = {}): RunningJob => ({
  step: 'sync',
  formId: 'frm_a',
  target: 'db',
  startedAt: before(30_000),
  seen: 5,
  total: 9,
  ...changes,
});

/** A queue that has not answered since then. */
export const queueAway = (sinceMs: number): Pick<Facts, 'queue' | 'problems'> => ({
  queue: { ...QUEUE, isReachable: false },
  problems: [{ code: 'QUEUE_FAILED', message: 'The queue does not answer.', sinceMs }],
});

/** The queue while these jobs run. */
export const busy = (...running: RunningJob[]): QueueState => ({ ...QUEUE, running });

/** A target that was read just now. */
export const targetOf = (
  content: Partial<TargetContent> = {},
  read: Partial<TargetFacts> = {},
): TargetFacts => ({
  name: 'db',
  kind: 'postgres',
  address: 'postgres://db',
  value: {
    forms: [formCopy(FORM_A), formCopy(FORM_B)],
    pauses: [],
    agreements: [],
    ...content,
  },
  readAtMs: NOW,
  problem: null,
  ...read,
});

/** The differences from a mirror without problems. `a`, `b`: of its forms; `content`, `read`: of its target. */
export type Situation = Partial<Facts> & {
  readonly a?: FormChanges;
  readonly b?: FormChanges;
  readonly content?: Partial<TargetContent>;
  readonly read?: Partial<TargetFacts>;
};

export function factsOf({ a, b, content, read, ...changes }: Situation = {}): Facts {
  const forms = [formCopy(FORM_A, a), formCopy(FORM_B, b)];
  return {
    nowMs: NOW,
    version: '1.2.3',
    targets: [targetOf({ forms, ...content }, read)],
    queue: QUEUE,
    problems: [],
    plan: null,
    kept: { runs: [], source: null },
    isChosen: () => true,
    nextPollMs: (afterMs) => afterMs + MINUTE,
    ...changes,
  };
}

export const pause = (formId: string | null, reason: string | null = 'a new tab'): Pause => {
  return { formId, since: before(HOUR), by: 'command line, ann@ops-1', reason };
};
const NEW = { id: 'frm_new', slug: 'new', name: 'New' };
/** `sinceAgoMs`: when its forms were first planned. */
export const planOf = (forms = [FORM_A, FORM_B, NEW], agoMs = 1_000, sinceAgoMs = agoMs) => ({
  atMs: NOW - agoMs,
  listed: [],
  unmatched: [],
  places: forms.map((form) => ({ form, target: 'db' })),
  sinceMs: new Map(forms.map(({ id }) => [id, NOW - sinceAgoMs])),
});
export const keeping = (some: Partial<Kept>): Situation => ({
  kept: { runs: [], source: null, ...some },
});
export const agreement = (agoMs: number) => {
  const atMs = NOW - agoMs;
  return { atMs, statusesAtMs: atMs, formIds: ['frm_a'] };
};
export const fails = (code: ProblemCode, agoMs = 1_000): FormChanges => ({
  runs: [failed(agoMs, code), run(agoMs + MINUTE)],
});
export const silent = (agoMs: number): FormChanges => ({ agoMs });
export const WRITTEN = { since: before(HOUR), code: null, error: null };
export const FULL = { code: 'DATA_DIR', message: 'DATA_DIR is full.', sinceMs: null } as const;
export const UNHEARD = { code: 'FORMS_FAILED', message: 'away', sinceMs: NOW - DAY } as const;
export const AWAY = {
  code: 'TARGET_UNREACHABLE',
  message: 'no answer',
  sinceMs: NOW - MINUTE,
} as const;
const variable = 'TARGET_HASH_FIELDS';
export const UNMATCHED = {
  variable,
  name: 'field_1_nope',
  message: 'names field_1_nope, and no form has a field with this ID',
  example: `${variable}='*'`,
};
