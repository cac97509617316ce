import type { MirrorError } from '../base/errors.ts';
import type { RowsAsStored } from './as-stored.ts';
import type { Erasure, Traces } from './erasure.ts';
import type { Loss } from './losses.ts';
import type { Histories } from './histories.ts';
import type { LookRecord } from './look-record.ts';
import type { FormLook } from './looked.ts';
import type { MarkingRecord } from './marking-record.ts';
import type { TargetNotice } from './notices.ts';
import type { Pauses } from './pauses.ts';
import type { TargetRelations } from './relations.ts';
import type { FormSnapshot } from './snapshot.ts';
import type { RowDistrust } from './row-distrust.ts';
import type { KeptSlugs } from './slugs.ts';
import type { StatusCounts } from './status-counts.ts';
import type { TimeCount, TimeGrain, TimeSpan } from './time-counts.ts';
import type {
  Checkpoint,
  FormIdentity,
  PassEnd,
  PassRecord,
  PickedField,
  Rejection,
  Row,
} from './types.ts';
import type { UnreadForm } from './unread-form.ts';
import type { WindowRecord } from './window.ts';
import type { StoredUnder } from './stored-under.ts';

/** A kind of target: the name of its entry in `targets/target-kinds.ts`. */
export type TargetKind = string;

/**
 * A place that submissions are mirrored into. The port speaks of operations, never of connections; one contract suite
 * (`test/contract/target.ts`) runs over every adapter. Checkpoints, field catalogue and pass history live in the target.
 * Errors: MirrorError with a TARGET_… code, whose message names the target and the remedy and holds no answer or secret.
 */
export interface Target extends AsyncDisposable, Histories, Pauses, KeptSlugs {
  /** The name from the settings (`default` when unnamed). */
  readonly name: string;
  readonly kind: TargetKind;
  /** The best number of rows for one {@link FormWriter.apply}: a pass collects batches of this size, and memory depends on it (L14). */
  readonly batchRows: number;
  /** Where it is, for people: no password (L15). */
  readonly address: string;
  /** Reading rows takes calls of which there are only so many: what {@link overview} tells has to do where it can. */
  readonly isMetered?: boolean;

  /** Tries reach and rights without changing anything; one result for each thing tried, in order. A failed try is a result, not an error. */
  check(signal?: AbortSignal): Promise<CheckResult[]>;

  /** Every form that this target ever mirrored, with its state; for `status`, `check` and the status page. Empty when never written. */
  overview(): Promise<FormOverview[]>;

  /**
   * Every form that this target ever mirrored, with its fields, as far as anything there still tells. Answers also where {@link overview}
   * and {@link reader} reject because records were lost: what is read before a pass must not keep the pass from making them again.
   */
  heldForms(): Promise<HeldForm[]>;

  /** Reads one form without the lock; undefined when it was never mirrored here. */
  reader(formId: string): Promise<FormReader | undefined>;

  /** The tables and views for other tools to read, none before the first pass; undefined where a target has no such thing. */
  relations(): Promise<TargetRelations | undefined>;

  /** One form as it is here now, to be read at leisure; undefined when it was never mirrored here. */
  snapshot(formId: string): Promise<FormSnapshot | undefined>;

  /**
   * Becomes the form's only writer (L13). The first write makes its table or tab when missing. A lock that kill -9
   * releases, with a fencing epoch: a writer that lost it gets TARGET_LOST_LOCK on its next write. Throws TARGET_BUSY
   * when another holds it for longer than `waitMs`, PAUSED where people have it left alone.
   */
  openWriter(form: FormIdentity, options: WriterOptions): Promise<FormWriter>;

  /**
   * Becomes the form's only marker (L13); undefined when another one is. Does not wait, and holds up no writer. Released
   * by kill -9 as a writer's lock is. The form must have been mirrored here.
   */
  lockMarking(formId: string, signal?: AbortSignal): Promise<MarkingLock | undefined>;

  /**
   * Ends what {@link FormWriter.forget}, `purgeDeleted` and `emptyFields` began: what they removed leaves the files of the
   * target, too, as far as that is ours to do. Nothing to do costs next to nothing; may be called again after a crash.
   */
  scrub(): Promise<void>;

  /** The newest look that this target knows of; null before the first. */
  lastLook(): Promise<LookRecord | null>;

  /** Keeps it in place of the one before, unless that is as new. Needs no lock of a form; a sheet may keep it in memory for a while. */
  recordLook(look: LookRecord): Promise<void>;
}

/** The lock of a form's only marker. Dispose to release it. */
export interface MarkingLock extends AsyncDisposable {
  /** Throws TARGET_LOST_LOCK when another marker took over while this one was stalled: it must send no PATCH any more. */
  assertHeld(): Promise<void>;
}

/** Options of {@link Target.openWriter}. */
export interface WriterOptions {
  /** How long to wait for another writer to finish; 0: not at all. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Also where people have paused the form, as erasing must not wait (L18). */
  readonly whilePaused?: boolean;
}

/** One line of `check`. */
export interface CheckResult {
  readonly ok: boolean;
  /** What was tried and found, as a sentence. */
  readonly message: string;
  /** What to do: always there when not ok. */
  readonly remedy?: string;
}

/** A form that a target has a place for. */
export interface HeldForm extends FormIdentity {
  /** When the form was found gone (ISO); null when it was not, or when that was lost. */
  readonly goneAt: string | null;
  /** Every field that was ever mirrored, those that are gone included. */
  readonly fieldIds: readonly string[];
}

/** Where a browser opens a form; the name that queries use. Each where there is one. */
export interface FormPlace {
  readonly url?: string;
  readonly table?: string;
}

/** A form as a target holds it. */
export interface FormOverview extends UnreadForm {
  readonly formId: string;
  readonly slug: string;
  readonly name: string;
  /** Table, view or tab for people to open. */
  readonly location: string;
  readonly place?: FormPlace;
  /** Rows that are not marked deleted, and rows that are. */
  readonly rows: number;
  readonly deletedRows: number;
  /** Listed rejections, stored or not. */
  readonly rejected: number;
  /** When the form was found gone (ISO), or null. */
  readonly goneAt: string | null;
  readonly checkpoint: Checkpoint | null;
  /** What the newest look found; null before the first. */
  readonly look: FormLook | null;
  /** What marking left to say; null when it marked all that it could. */
  readonly marking: MarkingRecord | null;
  /** See {@link FormReader.losses}: with any, neither rows nor checkpoint say what the copy holds. */
  readonly losses: readonly Loss[];
  /** The newest pass of all, the newest that ended `ok`, and the newest full one. */
  readonly lastPass: PassRecord | null;
  readonly lastOk: PassRecord | null;
  readonly lastFull: PassRecord | null;
  /** Columns that people deleted in a sheet and we leave alone; labels. Empty elsewhere. */
  readonly droppedColumns: readonly string[];
  /** Fields whose columns may hold answers: something was stored in them, and they were not emptied since. */
  readonly filledFields: readonly Pick<StoredField, 'id' | 'label'>[];
  /** The next pass, whatever it finds, begins or ends the history of versions that the target's settings ask for. */
  readonly isHistoryDue?: boolean;
  /** When the target was found empty that had held the form (ISO). Told by no target: it has lost its memory with the rest. */
  readonly refilledAt?: string;
  /** Submissions that were forgotten; see {@link FormWriter.forget}. */
  readonly forgotten: number;
  /** The settings that the rows were stored under; null: there are no rows. Absent for sheets, whose checkpoint has them. */
  readonly storedUnder?: StoredUnder | null;
  /** What people changed and we leave alone, as far as it is known without reading rows; see {@link FormReader.notices}. */
  readonly notices: readonly TargetNotice[];
}

/** A row as a target holds it. Cells by field ID, for every mirrored column, null where empty. */
export interface StoredRow extends Row {
  readonly deletedAt: string | null;
  /** Whether another row has the same ID, where a table may hold such. */
  readonly isDoubled?: boolean;
}

/** Read access to one form's rows; sees committed state. */
export interface FormReader {
  checkpoint(): Promise<Checkpoint | undefined>;
  /** The windows that the form is read in, in order of time. Empty where it is read whole, and where nothing is known. */
  windows(): Promise<readonly WindowRecord[]>;
  /**
   * What is not there any more, or not as it was written: compares what the target holds with what was stored in it, which
   * is counted in the same atomic step as the rows. Empty when nothing is known to be lost. A writer is asked after
   * `prepare`, which makes places and columns anew and remembers that. The next pass has to read everything then; its
   * `finish` with a checkpoint forgets what was told, and only that: what is lost in the meantime is told to the one after.
   */
  losses(): Promise<readonly Loss[]>;
  /** The mirrored fields in column order, deleted ones included. */
  fields(): Promise<StoredField[]>;
  /** The rows with these IDs (deleted ones included), in any order. At most `batchRows` IDs. */
  rows(ids: readonly string[]): Promise<Map<string, StoredRow>>;
  /** How these rows would be held, compared with what {@link rows} shows: what {@link RowWriter.apply} would find. */
  asStored(rows: readonly Row[], fieldIds: readonly string[]): Promise<RowsAsStored>;
  /** Of these IDs those that are durable here: stored, not deleted, not listed as rejected (L6, L7). */
  confirm(ids: readonly string[]): Promise<Set<string>>;
  /** IDs of all rows not marked deleted, in chunks; bounded memory. */
  liveIds(): AsyncIterable<string[]>;
  /** The same of all rows that are marked deleted. */
  deletedIds(): AsyncIterable<string[]>;
  /** IDs of rows not marked deleted that are dated within the span and, with `status`, have it; in chunks, bounded memory. */
  liveIdsWithin(span: TimeSpan, status?: string): AsyncIterable<string[]>;
  /** Rows not marked deleted, by status. */
  statusCounts(): Promise<StatusCounts>;
  /** The same of those dated within the span, and by when, in order of time; rows without a date are in none. */
  timeCounts(span: TimeSpan, grain: TimeGrain): Promise<readonly TimeCount[]>;
  /**
   * IDs of rows that marking should consider, in chunks: live, status one of `statuses`, not listed as rejected, and not
   * refused lately: see {@link RecentRefusals}.
   */
  markCandidates(statuses: readonly string[], refused: RecentRefusals): AsyncIterable<string[]>;
  /** How many submissions {@link markCandidates} leaves out because they were refused lately. */
  countRefused(refused: RecentRefusals): Promise<number>;
  /** Of these IDs those for which a change to `wanted` is remembered, sent or refused: of these, a success is looked at. */
  triedBefore(ids: readonly string[], wanted: string): Promise<Set<string>>;
  /** Listed rejections, newest first, and how many there are in all. */
  rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }>;
  /** What marking left to say; null when it marked all that it could. */
  marking(): Promise<MarkingRecord | null>;
  /** The refusals recorded for a submission, newest first; for `explain`. */
  refusals(submissionId: string): Promise<Refusal[]>;
  /** Of these IDs those that were forgotten, each with when (ISO). */
  forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** What is held of these submissions, and {@link FormWriter.forget} would remove. */
  traces(ids: readonly string[]): Promise<Traces>;
  /** How many submissions were marked deleted before `before` (ISO), or lost their row, which {@link FormWriter.purgeDeleted} would remove. */
  countDeleted(before: string): Promise<number>;
  /** How many rows and former versions hold an answer to one of these fields, which {@link FormWriter.emptyFields} would remove. */
  countFilled(fieldIds: readonly string[]): Promise<number>;
  /** The newest passes, newest first. */
  passes(limit: number): Promise<PassRecord[]>;
  /** What people changed in the form's rows and columns and we leave alone. A writer says what its pass has seen. */
  notices(): Promise<readonly TargetNotice[]>;
}

/** A mirrored field as the catalogue holds it. */
export interface StoredField {
  readonly id: string;
  readonly label: string;
  readonly position: number;
  /** The column's name, or its current header. */
  readonly column: string;
  readonly removedAt: string | null;
}

/** A rejection, and when it was first and last recorded (ISO). */
export interface ListedRejection extends Rejection {
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
}

/** Which refusals still count: those of the wanted status, recorded since (ISO). They speak of the status that the row has. */
export interface RecentRefusals {
  readonly wanted: string;
  readonly since: string;
}

/** A status change that the API refused for this very submission, in words or by not making it: not tried again for a while, unless the row changes. */
export interface Refusal {
  readonly submissionId: string;
  /** The status it had, and the one that was refused. */
  readonly status: string;
  readonly wanted: string;
  /** The API's reason as far as it may be shown, as a sentence. */
  readonly reason: string;
  readonly at: string;
}

/**
 * A status change that the API answered with success and that its list was not seen to show. Kept until a full pass that began afterwards sees
 * the submission in another status than before, or the row gets a status by the next marking; also where the pass did not see it.
 */
export interface SentMark {
  readonly submissionId: string;
  /** The status it had, and the one it was to have. */
  readonly status: string;
  readonly wanted: string;
  readonly at: string;
}

/** What stores rows of a form. Dispose to release it. */
export interface RowWriter extends FormReader, AsyncDisposable {
  /**
   * Makes a column for each field that has none and follows relabels (L9): never renames a SQL column, never makes a
   * second one; `restoreColumns`: but recreates those of a sheet that people deleted. Fields that it knows and that are missing here, or are `inSchema: false`, are recorded as removed; their
   * columns stay. May be called again during a pass, when old answers reveal fields.
   */
  prepare(
    fields: readonly PickedField[],
    options?: { readonly restoreColumns?: boolean },
  ): Promise<PrepareResult>;

  /**
   * Upserts a batch in one atomic step, rejections included: durable when it resolves. Touches only rows that differ
   * (L4); a row marked deleted that appears again is restored. IDs are unique within a batch. A row without
   * rejections is removed from the list of rejections. Cells of fields that were not prepared are ignored. What was
   * forgotten is neither stored nor listed (L18).
   */
  apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult>;

  /**
   * Marks rows deleted (L8); those already marked keep their time. Returns how many were marked now. `again`: they were marked
   * until the last {@link apply} wrote them anew, and no history is to tell that they were there in between.
   */
  markDeleted(
    ids: readonly string[],
    at: string,
    options?: { readonly again?: boolean },
  ): Promise<number>;

  /** Keeps what became of one of the planned windows; its rows are durable by now. Does nothing where there is no such window. */
  saveWindow(window: WindowRecord): Promise<void>;
}

/** Write access to one form; at most one at a time across processes and machines (L13). Dispose to release it. */
export interface FormWriter extends RowWriter, RowDistrust {
  /**
   * Sets statuses after marking (L7), `_changed_at` included; unknown IDs and equal statuses are left alone. `sent`, which
   * are among them, are remembered in the same atomic step; what was remembered of the others before is forgotten.
   */
  setStatuses(statuses: ReadonlyMap<string, string>, sent?: readonly SentMark[]): Promise<void>;

  /** Keeps what marking left to say, in place of what it said before. `named`: who it may name; the forgotten are taken out (L18). */
  recordMarking(record: MarkingRecord | null, named?: readonly string[]): Promise<void>;

  /** Remembers refused status changes, but for what was forgotten. Those of a row end when {@link apply} or {@link setStatuses} changes it. */
  recordRefusals(refusals: readonly Refusal[]): Promise<void>;

  /**
   * Removes these submissions, in one atomic step with the note that keeps them from coming back: their rows, listings and
   * refusals, and whatever else is held of them; see {@link Target.scrub} for the files. Live rows are accounted for without a
   * row from then on (`unstored`), as the source counts them all the same. May be repeated.
   */
  forget(ids: readonly string[], at: string): Promise<Erasure>;

  /**
   * Lets forgotten submissions come back: the next pass has to read everything, as the checkpoint is dropped with it.
   * Returns how many of these IDs were forgotten.
   */
  remember(ids: readonly string[]): Promise<number>;

  /** Removes rows that were marked deleted before `before` (ISO), with what is listed of them. One that comes back is a new row. */
  purgeDeleted(before: string): Promise<Erasure>;

  /**
   * Removes every answer to these fields; their columns stay, and people's views and formulas with them. Returns how many
   * rows held one. A field that is picked again has its column filled by a pass that reads everything.
   */
  emptyFields(fieldIds: readonly string[], at: string): Promise<number>;

  /**
   * Keeps how the form is cut, in place of how it was before. {@link remember} and {@link emptyFields} drop it, with what was
   * proven window by window: the next full pass begins anew.
   */
  planWindows(windows: readonly WindowRecord[]): Promise<void>;

  /**
   * Ends a pass: its record and, when it was proven, the new checkpoint, in one atomic step. After a proven full pass,
   * rejections of submissions that it did not meet are removed from the list, losses that it was told are forgotten, and no
   * window is open any more. What {@link FormReader.notices} tells since, where ending the pass may have changed that.
   */
  finish(pass: PassRecord, changes: PassEnd): Promise<readonly TargetNotice[] | undefined>;
}

/** What {@link FormWriter.prepare} did, by label, for logs and people. */
export interface PrepareResult {
  readonly added: readonly string[];
  readonly relabelled: readonly { readonly from: string; readonly to: string }[];
  readonly removed: readonly string[];
}

/** What applying one row did. `restored`: it was marked deleted and is live again. `forgotten`: it stays away (L18). */
export type RowOutcome =
  | 'inserted'
  | 'updated'
  | 'unchanged'
  | 'restored'
  | 'rejected'
  | 'forgotten';

/** What {@link FormWriter.apply} did. */
export interface ApplyResult {
  /** For each row of the batch, in its order. */
  readonly outcomes: readonly RowOutcome[];
  /** What the target itself could not store unchanged (L10); already listed there. */
  readonly rejections: readonly Rejection[];
  /** IDs of this batch that are listed now and were not before, for whatever reason. */
  readonly newlyListed: ReadonlySet<string>;
  /** IDs of the batch, of rows and of rejections, that were forgotten: neither stored nor listed. */
  readonly forgotten: ReadonlySet<string>;
  /**
   * The target refuses rows of the batch for a reason of its own (L6): they are neither stored nor listed, and whoever applied
   * them fails with this. The others are stored.
   */
  readonly refused?: MirrorError;
}
