import type { Checkpoint, FormIdentity, PassRecord, PickedField, Rejection, Row } from './types.ts';

/** The kinds of target there are. */
export type TargetKind = 'sqlite' | 'postgres' | 'google-sheets';

/**
 * A place that submissions are mirrored into. The port speaks of operations, never of connections; one contract suite
 * (`test/contract/target.ts`) runs over every adapter. Checkpoints, field catalogue and pass history live in the target.
 *
 * Errors: MirrorError with a TARGET_… code, whose message names the target and the remedy and holds no answer or secret.
 */
export interface Target extends AsyncDisposable {
  /** The name from the settings (`default` when unnamed). */
  readonly name: string;
  readonly kind: TargetKind;
  /** How many rows one {@link FormWriter.apply} takes well. A pass collects rows up to it; memory depends on it (L14). */
  readonly batchRows: number;
  /** Where it is, for people: no password (L15). */
  readonly address: string;

  /** Tries reach and rights, harmlessly; one finding for each thing tried, in order. Does not throw for what it is there to find. */
  check(signal?: AbortSignal): Promise<CheckFinding[]>;

  /** Every form that this target ever mirrored, with its state; for `status`, `check` and the status page. Empty when never written. */
  overview(): Promise<FormOverview[]>;

  /** Reads one form without the lock; undefined when it was never mirrored here. */
  reader(formId: string): Promise<FormReader | undefined>;

  /**
   * Becomes the form's only writer (L13). The first write makes its table or tab when missing. A lock that kill -9
   * releases, with a fencing epoch: a writer that lost it gets TARGET_LOST_LOCK on its next write. Throws TARGET_BUSY
   * when another holds it for longer than `waitMs`.
   */
  openWriter(form: FormIdentity, options: WriterOptions): Promise<FormWriter>;
}

/** See {@link Target.openWriter}. */
export interface WriterOptions {
  /** How long to wait for another writer to finish; 0: not at all. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** One line of `check`. */
export interface CheckFinding {
  readonly ok: boolean;
  /** What was tried and found, as a sentence. */
  readonly message: string;
  /** What to do, when not ok. */
  readonly remedy?: string;
}

/** A form as a target holds it. */
export interface FormOverview {
  readonly formId: string;
  readonly slug: string;
  readonly name: string;
  /** Table, view or tab for people to open. */
  readonly location: string;
  /** Rows that are not marked deleted, and rows that are. */
  readonly rows: number;
  readonly deletedRows: number;
  /** Listed rejections, stored or not. */
  readonly rejected: number;
  /** When the form was found gone (ISO), or null. */
  readonly goneAt: string | null;
  readonly checkpoint: Checkpoint | null;
  /** The newest pass of all, the newest that ended `ok`, and the newest full one. */
  readonly lastPass: PassRecord | null;
  readonly lastOk: PassRecord | null;
  readonly lastFull: PassRecord | null;
  /** Columns that people deleted in a sheet and we leave alone; labels. Empty elsewhere. */
  readonly droppedColumns: readonly string[];
}

/** A row as a target holds it. Cells by field ID, for every mirrored column, null where empty. */
export interface StoredRow extends Row {
  readonly deletedAt: string | null;
}

/** Read access to one form's rows; sees committed state. */
export interface FormReader {
  checkpoint(): Promise<Checkpoint | undefined>;
  /** The mirrored fields in column order, deleted ones included. */
  fields(): Promise<StoredField[]>;
  /** The rows with these IDs (deleted ones included), in any order. At most `batchRows` IDs. */
  rows(ids: readonly string[]): Promise<Map<string, StoredRow>>;
  /** Of these IDs those that are durable here: stored, not deleted, not listed as rejected (L6, L7). */
  confirm(ids: readonly string[]): Promise<Set<string>>;
  /** IDs of all rows not marked deleted, in chunks; bounded memory. */
  liveIds(): AsyncIterable<string[]>;
  /**
   * Rows that marking should look at, in chunks: live, status one of `statuses`, not listed as rejected, and not refused
   * while in that status (see {@link FormWriter.recordRefusals}).
   */
  markCandidates(statuses: readonly string[]): AsyncIterable<string[]>;
  /** Listed rejections, newest first, and how many there are in all. */
  rejections(limit: number): Promise<{ total: number; items: ListedRejection[] }>;
  /** The refusals recorded for a submission, newest first; for `explain`. */
  refusals(submissionId: string): Promise<Refusal[]>;
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

/** A rejection with when it was first and last met (ISO). */
export interface ListedRejection extends Rejection {
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
}

/** A status change that the API refused (400, 409): not tried again while the submission keeps this status. */
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
   * Makes a column for each field that has none and follows relabels (L9): never renames a SQL column, never makes a
   * second one. Fields that it knows and that are missing here, or are `inSchema: false`, are noted as removed; their
   * columns stay. May be called again during a pass, when old answers bring fields to light.
   */
  prepare(fields: readonly PickedField[], options?: PrepareOptions): Promise<PrepareResult>;

  /**
   * Upserts a batch in one atomic step, rejections included: durable when it resolves. Touches only rows that differ
   * (L4); a row marked deleted that turns up again is restored. IDs are unique within a batch. A row that meets no
   * rejection any more loses its listing. Cells of fields that were not prepared are ignored.
   */
  apply(rows: readonly Row[], rejections: readonly Rejection[]): Promise<ApplyResult>;

  /** Marks rows deleted (L8); those already marked keep their time. Returns how many were marked now. */
  markDeleted(ids: readonly string[], at: string): Promise<number>;

  /** Sets statuses after marking (L7), `_changed_at` included; unknown IDs and equal statuses are left alone. */
  setStatuses(statuses: ReadonlyMap<string, string>): Promise<void>;

  /** Remembers refused status changes. */
  recordRefusals(refusals: readonly Refusal[]): Promise<void>;

  /**
   * Ends a pass: its record and, when it was proven, the new checkpoint, in one atomic step. After a proven full pass,
   * listings that it did not meet are dropped. `goneAt` notes that the form answers 404; null that it is there (again);
   * undefined leaves it as it is.
   */
  finish(
    pass: PassRecord,
    changes: { checkpoint?: Checkpoint; goneAt?: string | null },
  ): Promise<void>;
}

/** See {@link FormWriter.prepare}. */
export interface PrepareOptions {
  /** Sheets: make columns anew that people deleted. */
  readonly restoreColumns?: boolean;
}

/** What {@link FormWriter.prepare} did, by label, for logs and people. */
export interface PrepareResult {
  readonly added: readonly string[];
  readonly relabelled: readonly { readonly from: string; readonly to: string }[];
  readonly removed: readonly string[];
}

/** What became of one row of a batch. `restored`: was marked deleted and is live again. */
export type RowOutcome = 'inserted' | 'updated' | 'unchanged' | 'restored' | 'rejected';

/** What {@link FormWriter.apply} did. */
export interface ApplyResult {
  /** For each row of the batch, in its order. */
  readonly outcomes: readonly RowOutcome[];
  /** What the target itself could not hold as it was (L10); already listed there. */
  readonly rejections: readonly Rejection[];
  /** How many of all listed rejections of this batch had not been listed before. */
  readonly newRejections: number;
}
