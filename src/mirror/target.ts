import type { Erasure, Traces } from './erasure.ts';
import type { Loss } from './losses.ts';
import type { Histories } from './histories.ts';
import type { FormLook } from './looked.ts';
import type { MarkingRecord } from './marking-record.ts';
import type { TargetNotice } from './notices.ts';
import type { Pauses } from './pauses.ts';
import type { TargetRelations } from './relations.ts';
import type { FormSnapshot } from './snapshot.ts';
import type { KeptSlugs } from './slugs.ts';
import type { Checkpoint, FormIdentity, PassRecord, Rejection, Row } from './types.ts';
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
   * Ends what {@link FormWriter.forget}, `purgeDeleted` and `emptyFields` began: what they removed leaves the files of the
   * target, too, as far as that is ours to do. Nothing to do costs next to nothing; may be called again after a crash.
   */
  scrub(): Promise<void>;
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
  /** IDs of all rows not marked deleted, in chunks; bounded memory. */
  liveIds(): AsyncIterable<string[]>;
  /** The same of all rows that are marked deleted. */
  deletedIds(): AsyncIterable<string[]>;
  /** Listed rejections, newest first, and how many there are in all. */
  rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }>;
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

/** Write access to one form; at most one at a time across processes and machines (L13). Dispose to release it. */
export interface FormWriter extends FormReader, AsyncDisposable {
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
}
