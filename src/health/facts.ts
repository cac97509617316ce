import { MirrorError } from '../base/errors.ts';
import type { ProblemCode } from '../base/catalogue.ts';
import type {
  Copy,
  CopyReader,
  FormOverview,
  ListedRejection,
  StoredField,
  TargetKind,
  WindowRecord,
} from '../mirror/target.ts';
import type { Loss } from '../mirror/losses.ts';
import { knownChangesSince, type StoringSettings } from '../mirror/proven-for.ts';
import { isSameUnder, type StoredUnder, storedUnder as storedUnderOf } from '../mirror/picks.ts';
import { plainNotice } from '../sync/plain-columns.ts';
import { unpickedNotice } from '../sync/purge.ts';
import type { Pause } from '../mirror/pauses.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';
import type { UnmatchedName } from '../sync/unmatched-names.ts';
import type { KeptFailure, KeptFailures } from './kept-failures.ts';
import type { PassSummary } from './pass-summary.ts';
import type { Problem } from './problem.ts';
import type { RunningPass } from './pass-tracker.ts';
import type { SourceWait } from './source-waits.ts';

/** One form in one target: the unit whose health is judged. */
export interface FormInTarget {
  readonly form: FormIdentity;
  /** The target's name. */
  readonly target: string;
}

/** A key for a form in a target, for maps. */
export const formKey = (target: string, formId: string): string => `${target}\n${formId}`;

/**
 * Where a running process learns how the rest of the program is doing; the composition root provides it. Nothing here
 * carries an answer or a secret (L11, L15). Calls may be slow, hang or fail: each is made with a time limit, and none
 * holds up another (L12).
 */
export interface HealthSource {
  /** The names of the targets, as the settings order them. */
  readonly targets: readonly string[];

  /** What a target holds, by its own records. Rejects with a MirrorError when it cannot be read. */
  overview(target: string): Promise<TargetOverview>;

  /** A form's newest passes into a target, newest first; empty when it was never mirrored there. */
  passes(target: string, formId: string, limit: number): Promise<readonly PassRecord[]>;

  /** Submissions listed as rejected, newest first, and how many there are in all. */
  rejections(target: string, formId: string, limit: number): Promise<RejectionList>;

  /** A form's fields and the windows that it is read in; empty when it was never mirrored there. */
  details(target: string, formId: string): Promise<FormDetails>;

  queue(): Promise<QueueState>;

  /** What other processes of the mirror wait for the source with, as far as they can be heard; null when none does. */
  waitElsewhere(): Promise<SourceWait | null>;

  /** What this process last planned. */
  plan(): PlanState;

  /** Failures that no target holds. Rejects when they cannot be read. */
  kept(): Promise<KeptFailures>;

  /** What keeps failures from being kept, so that some may not be known; null when nothing does. Never rejects. */
  dataDir(): Promise<Problem | null>;

  /** Whether the settings choose a form for a target. */
  isChosen(subject: FormInTarget): boolean;

  /** When the schedule wants the next incremental pass after one that began at `afterMs`. Both since the epoch. */
  nextRunMs(afterMs: number): number;

  /** RECONCILE_EVERY: within what time everything is compared row by row. */
  readonly compareWithinMs: number;
}

/** See {@link HealthSource.overview}. */
export interface TargetOverview {
  readonly kind: TargetKind;
  /** Where it is; no password. */
  readonly address: string;
  readonly forms: readonly FormOverview[];
  /** What people have paused; absent: nothing. */
  readonly pauses?: readonly Pause[];
}

/** How long a target may take for its overview; one that takes longer does not answer. */
export const TARGET_LIMIT_MS = 20_000;

/** What is said of such a target. */
export const slowTarget = (name: string): MirrorError =>
  new MirrorError(
    'TARGET_UNREACHABLE',
    `Target ${name} takes longer than ${TARGET_LIMIT_MS / 1_000} s to answer: it is very busy, or one of its tables is locked.`,
  );

/** The settings that decide how what a target records is read. */
export interface ReadingSettings {
  /** Whether marking is on: where it is off, what it said while it was on is left out. */
  readonly marks: boolean;
  /** What is to be stored of answers; undefined while no field is picked. */
  readonly storing: StoringSettings | undefined;
  /** Whether the settings choose a form for the target; by default all. */
  readonly isChosen?: (form: FormIdentity) => boolean;
  /** By form ID, when (ISO) the target, at this address, was found empty. Never rejects; by default never. */
  readonly refills?: (address: string) => Promise<ReadonlyMap<string, string>>;
}

/**
 * Reads a target's overview. Rows that were stored under other settings count as lost until a pass has written them again;
 * what is held of fields that are no longer picked, or in plain text where no pass hashes it, is a notice. Rejects as {@link Target.overview} does.
 */
export async function readOverview(
  target: Copy,
  { marks, storing, isChosen = () => true, refills }: ReadingSettings,
): Promise<TargetOverview> {
  const { kind, address, name } = target;
  const held = await target.overview();
  const pauses = await target.pauses();
  const refilled = await refills?.(address);
  const forms = held.map((form): FormOverview => {
    const losses = [...form.losses, ...outdated(form, storing)];
    const unpicked = storing && unpickedNotice(storing.picks, form, name);
    const plain = storing && plainNotice({ storing, isChosen }, form, name);
    const found = [unpicked, plain].filter((notice) => notice !== undefined);
    const notices = [...form.notices, ...found];
    const refilledAt = refilled?.get(form.formId);
    const marking = marks ? form.marking : null;
    return Object.assign({}, form, { losses, notices, marking }, refilledAt && { refilledAt });
  });
  return { kind, address, forms, pauses };
}

/** A form that is gone is never written again, and is as it was. */
function outdated(form: FormOverview, storing: StoringSettings | undefined): Loss[] {
  const { formId: id, slug, name, checkpoint, goneAt, storedUnder } = form;
  if (checkpoint === null || goneAt !== null || storing === undefined) return [];
  if (storedUnder !== undefined)
    return otherSettings(storedUnder, storedUnderOf(storing, { id, slug }));
  const changes = knownChangesSince(
    checkpoint.provenFor,
    { id, slug, name },
    storing,
    form.filledFields,
  );
  return changes.length === 0 ? [] : [{ what: 'settings', changes }];
}

function otherSettings(before: StoredUnder | null, now: StoredUnder): Loss[] {
  if (isSameUnder(before, now)) return [];
  const change = before?.selection === now.selection ? 'hashes' : 'picks';
  return [{ what: 'settings', changes: [change] }];
}

/** See {@link HealthSource.rejections}. */
export interface RejectionList {
  readonly total: number;
  readonly items: readonly ListedRejection[];
}

/** See {@link HealthSource.details}. */
export interface FormDetails {
  readonly fields: readonly StoredField[];
  readonly windows: readonly ShownWindow[];
}

/** A window as people see it. Dates are ISO 8601; `provenAt`: when it was last compared row by row. */
export type ShownWindow = Pick<WindowRecord, 'from' | 'to' | 'total' | 'provenAt' | 'open'>;

/** Reads a form's details; undefined reads as never mirrored. Rejects as its reader does. */
export async function readDetails(
  reader: Pick<CopyReader, 'fields' | 'windows'> | undefined,
): Promise<FormDetails> {
  if (reader === undefined) return { fields: [], windows: [] };
  const [fields, windows] = [await reader.fields(), await reader.windows()];
  return {
    fields,
    windows: windows.map(({ from, to, total, provenAt, open }) => {
      return { from, to, total, provenAt, open };
    }),
  };
}

/** The queue: its store, its schedules, its jobs. */
export interface QueueState {
  /** `redis`, `postgres`, `embedded`. */
  readonly backend: string;
  /** Where it is; no password. */
  readonly address: string;
  /** False when the store did not answer; then the lists are empty. */
  readonly reachable: boolean;
  readonly schedules: readonly ScheduleState[];
  readonly queues: readonly QueueDepth[];
  /** The passes that workers run now, on whichever machine. */
  readonly running: readonly RunningJob[];
  /** What they do besides; absent where nobody asked. */
  readonly sideJobs?: readonly SideJob[];
  /** The processes that take jobs, idle ones included; null or absent where the store does not tell. */
  readonly workers?: readonly string[] | null;
  /** When full passes that failed are tried again (ISO); absent where nobody asked. */
  readonly retries?: readonly {
    readonly formId: string;
    readonly target: string;
    readonly at: string;
  }[];
}

/** A pass that some worker runs. Holds IDs and numbers only (L11). */
export interface RunningJob {
  readonly formId: string;
  readonly target: string;
  readonly kind: PassKind;
  readonly startedAtMs: number;
  /** What it last told of itself; null before that. */
  readonly progress: {
    readonly atMs: number;
    readonly seen: number;
    readonly total: number;
  } | null;
  /** The process that runs it: the name of its machine and its number; null or absent where the store does not tell. */
  readonly worker?: string | null;
}

/** What a worker does in addition to passes: it marks a form. */
export interface SideJob {
  readonly step: 'mark';
  readonly formId: string;
  /** Null for marking, which asks all targets. */
  readonly target: string | null;
  readonly startedAtMs: number;
  readonly worker: string | null;
}

/** When passes of a kind run next. */
export interface ScheduleState {
  readonly kind: PassKind;
  /** ISO 8601 in UTC; null when the store has no such schedule. */
  readonly nextRunAt: string | null;
  /** Runs should have begun long ago, as the queue's watchdog finds. */
  readonly overdue: boolean;
}

/** The jobs of one queue. */
export interface QueueDepth {
  readonly step: 'plan' | 'sync' | 'mark';
  /** Null for planning and marking, which serve all. */
  readonly target: string | null;
  readonly kind: PassKind | null;
  readonly waiting: number;
  /** When the one was added that is the next to be taken; absent where nobody asked, null where none waits. Since the epoch. */
  readonly waitingSinceMs?: number | null;
  readonly active: number;
  readonly delayed: number;
  readonly waitingForPasses: number;
}

/** Which forms go where, as far as this process knows: another worker may have planned since. */
export interface PlanState {
  /** When a plan last succeeded here (ISO); null: never. */
  readonly at: string | null;
  /** The forms of that plan with the names of their targets. */
  readonly forms: readonly { readonly form: FormIdentity; readonly targets: readonly string[] }[];
  /** Why the last try failed; null when it did not. */
  readonly problem: {
    readonly code: ProblemCode;
    readonly message: string;
    readonly at: string;
    /** Since when all tries have failed, as far as is known. */
    readonly since?: string;
  } | null;
  /** Names in the settings that match nothing: the mirror is not what was asked for. */
  readonly unmatched: readonly UnmatchedName[];
  /** What else people should know of, as sentences. */
  readonly notices: readonly string[];
}

/** What was last read of a target. */
export interface TargetReading {
  readonly name: string;
  /** The last overview that could be read; null when none ever could. */
  readonly overview: TargetOverview | null;
  /** When that was, since the epoch; 0 for never. */
  readonly readAtMs: number;
  /** Why the last try failed, and since when all tries have; null when it did not. */
  readonly failure: {
    readonly code: ProblemCode;
    readonly message: string;
    readonly sinceMs: number;
  } | null;
  /** How many tries in a row have failed. */
  readonly failures: number;
  /** Since when passes into this target can be expected: the start of the process, the end of an outage. */
  readonly expectedSinceMs: number;
}

/** What is known of a form that a target holds or is to hold. */
export interface KnownForm extends FormInTarget {
  readonly overview: FormOverview | null;
  readonly summary: PassSummary;
  /** Its pass in this process. */
  readonly running: RunningPass | null;
  /** False when the settings no longer choose it. */
  readonly wanted: boolean;
  /** That people have it left alone, by itself or with its target; null, or absent, when they have not. */
  readonly pause?: Pause | null;
}

/** A target that could not be read so many times in a row has a problem; once may be chance. */
export const CONFIRMED_FAILURES = 2;

/** Why nothing is copied just now. */
export interface NotRunning {
  /** Null: nobody is known to have been running. */
  readonly died: { readonly message: string; readonly since: string } | null;
}

/** Everything that health is judged from. */
export interface HealthFacts {
  readonly nowMs: number;
  readonly targets: readonly TargetReading[];
  /** Null when it was never read. */
  readonly queue: QueueState | null;
  /** Since when the queue has not answered, and how many times in a row. */
  readonly queueFailingSinceMs: number;
  readonly queueFailures: number;
  /** A command: it looks at no queue, and knows what a process tells of it. */
  readonly hasNoQueue?: boolean;
  readonly queueAwaySince?: string | null;
  readonly plan: PlanState;
  /** Failures that no target holds: a form may be known by them alone. */
  readonly kept: readonly KeptFailure[];
  /** What keeps failures from being kept; holds up no pass. */
  readonly dataDir: Problem | null;
  /** Whether the settings choose a form for a target. */
  readonly isChosen: (subject: FormInTarget) => boolean;
  /** See {@link HealthSource.nextRunMs}. */
  readonly nextRunMs: (afterMs: number) => number;
  /** When the next pass of a form runs (ISO); null when it is not known. */
  readonly nextRunAt: (form: KnownForm) => string | null;
  /** By when it is compared row by row again, at the latest (ISO). */
  readonly nextFullAt: (form: KnownForm) => string | null;
  /** Since when this process knows of a form in a target; now, when it is new. */
  readonly knownSinceMs: (subject: FormInTarget) => number;
  readonly summary: (target: string, formId: string) => PassSummary;
  readonly running: (target: string, formId: string) => RunningPass | null;
  /** What the processes of the mirror wait for the source with; null when none is known to. */
  readonly sourceWait: SourceWait | null;
  /** That the process of the mirror has died, or that none is known to run; null when one runs. */
  readonly notRunning: NotRunning | null;
}
