import type { MirrorError } from '../base/errors.ts';
import type { FormState, OutcomeName } from './form-state.ts';
import type { Cell, Form, FormIdentity, SelectedField, Row } from './types.ts';

/*
 * The interface of a target. Every kind of target stores the same FormState with a revision, in the same atomic step
 * as the rows that it describes. Operations reject with a MirrorError whose code begins with TARGET_.
 */

/** The record of when polls last agreed on which forms. */
export const AGREEMENTS_RECORD = 'poll agreements';

/** One target, open. */
export interface Store extends AsyncDisposable {
  /** True if calls are limited. The result of a poll is then written only now and then. */
  readonly isMetered?: boolean;
  /** Tries whether the target can be used, and returns a line for each thing that it tried. */
  check(signal?: AbortSignal): Promise<CheckResult[]>;
  /**
   * Each form that the target has, as of its last commit. Live rows are counted: if people changed their number or their statuses,
   * or removed columns, the state claims nothing and every range is due. `runs`: how many of the newest runs to read per form;
   * default: none.
   */
  forms(runs?: number): Promise<StoredForm[]>;
  /** The same without counting rows: the forms as the last commits left them. */
  states(): Promise<readonly Pick<StoredForm, 'state' | 'fields'>[]>;
  /**
   * Opens a form for writing: takes its lease (L13), creates its table and state if they are missing, and counts its rows, so that
   * it notices rows that people removed: {@link OpenForm.losses}. It writes nothing if nothing has changed. Rejects with
   * TARGET_BUSY if another process has the lease.
   */
  open(form: FormIdentity): Promise<OpenForm>;
  /** Opens a form for reading, which changes nothing. Null if the target has no such form. */
  read(formId: string): Promise<ReadForm | null>;
  /** A snapshot of one form: later writes do not change it. Null if the target has no such form. */
  snapshot(formId: string): Promise<FormSnapshot | null>;
  /** A record that belongs to no form: pauses, polls, slug bindings, the source profile. */
  record(key: string): Promise<StoredRecord | null>;
  /** Writes a record if its revision is still `revision` (null: there is no record). False if it is not. */
  putRecord(key: string, value: unknown, revision: number | null): Promise<boolean>;
}

export interface StoredRecord {
  readonly value: unknown;
  readonly revision: number;
}

export interface CheckResult {
  readonly what: string;
  readonly isOk: boolean;
  readonly remedy: string | null;
}

export interface StoredForm {
  readonly state: FormState;
  readonly fields: readonly StoredField[];
  /** The newest runs first, as many as were asked for. */
  readonly runs: readonly Run[];
  /** Why the state claims nothing, one sentence for each change that people made. Empty if they made none. */
  readonly losses: readonly string[];
  /** Why its rows could not be counted, so that the state claims nothing; absent if they could. */
  readonly failure?: MirrorError;
  /** Notices for a person. */
  readonly notices: readonly TargetNotice[];
  /** Table, view or tab for people to open, in words. */
  readonly location: string;
  readonly place: FormPlace;
}

/** The URL of a form in a browser, and the name that queries use, if there is one. */
export interface FormPlace {
  readonly url?: string;
  readonly table?: string;
}

/** The history that a SQL target keeps: statuses, or every version of every row as well. */
export type HistoryKind = 'status' | 'full';

/** A field that the target knows. */
export interface StoredField {
  readonly id: string;
  readonly label: string;
  readonly position: number;
  /** Its column; null before its first answer. */
  readonly column: string | null;
  /** Answers were stored in it and not removed since. */
  readonly isFilled: boolean;
  readonly isInForm: boolean;
}

/** One form of a target, open for reading. */
export interface ReadForm extends AsyncDisposable {
  /** As of this writer's last commit, or as found at the start, with all notes. A new object after each of them. */
  readonly state: FormState;
  readonly fields: readonly StoredField[];
  /** Rows in batches, in no order. Without `cells`, their cells are empty. */
  rows(query: RowQuery, cells?: boolean): AsyncIterable<readonly StoredRow[]>;
  /** What the dated submissions of a query amount to, by status and time. A query with bounds leaves out entries without a date. */
  counts(query: CountQuery, grain: Grain): Promise<Count[]>;
  /** All entries of some kinds. The ID of a `forgotten` one is a digest. */
  entries(kinds: readonly EntryKind[]): Promise<readonly Entry[]>;
  /** Those of the IDs that were forgotten, with their digests. */
  forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** One form of a target, open for writing. Closing it gives the lease back. */
export interface OpenForm extends ReadForm {
  /**
   * Losses that people caused, found when the form was opened: one sentence each. The state then claims nothing, and
   * every range is due.
   */
  readonly losses: readonly string[];
  /**
   * Updates what the target knows about the form's fields: labels, positions, and whether they are still in the form, also for
   * fields that are no longer selected. `fields`: the selected ones, including those that the form no longer has. Idempotent.
   * Answers of a field that was never passed here are not stored. The next commit stores what changed.
   */
  prepare(form: Form, fields: readonly SelectedField[]): Promise<void>;
  /**
   * Changes the state; the next commit or {@link finish} stores it. If the process ends before, the change is lost, and the next
   * run must be able to find it again. Do not call it during a commit.
   */
  note(change: (state: FormState) => FormState): void;
  /**
   * Returns rows in the form in which the target keeps them until they are committed, perhaps without their cells. Writes nothing.
   * Call it after {@link prepare}.
   */
  take(rows: readonly Row[]): Promise<readonly Row[]>;
  /**
   * Stores a change, all or nothing. Rejects with TARGET_BUSY if it has something to write, and another writer has committed since
   * this one opened the form; with RUN_INCOMPLETE if people move rows or delete columns during the write: opening the form
   * again finds the losses, and makes every range due. A row that the target refuses
   * because of the row itself is listed as `rejected`. A target that refuses rows for a reason of its own has failed (L6).
   */
  commit(change: Change): Promise<Applied>;
  /** Removes what a person asked to remove, including history and files (L18). Returns the number of rows. */
  erase(what: Erasure): Promise<number>;
  /**
   * Why the target takes no new rows although it takes everything else; null if it takes them. A run that finds a reason has failed
   * (L6). The rows that wait are listed as `rejected`, and are missing.
   */
  refusal(): Promise<MirrorError | null>;
  /** Ends a run: updates views, indexes, files and the mirror's own texts in the target. Returns notices for a person. */
  finish(): Promise<readonly TargetNotice[]>;
}

/** Live rows, unless `isDeleted`; every condition narrows. */
export interface RowQuery {
  readonly ids?: readonly string[];
  readonly status?: string;
  /** Created within [fromMs, toMs). Rows without a date are in no query with a bound. */
  readonly fromMs?: number | null;
  readonly toMs?: number | null;
  readonly isDeleted?: boolean;
  /** Leaves out rows that the target may not hold as they were stored: they are stored again. */
  readonly isSure?: boolean;
}

export type CountQuery = Pick<RowQuery, 'status' | 'fromMs' | 'toMs'>;

/** The time span to count by, in milliseconds; `all`: no spans. */
export const GRAIN_MS = { all: Infinity, day: 86_400_000, millisecond: 1 } as const;
export type Grain = keyof typeof GRAIN_MS;

export interface Count {
  readonly status: string;
  /** When the span of this grain begins; null for `all`, and for submissions without a date. */
  readonly fromMs: number | null;
  readonly count: number;
}

export interface StoredRow {
  readonly id: string;
  readonly status: string;
  /** Canonical time; null if the source gives none. */
  readonly createdAt: string | null;
  /** When it was marked deleted (canonical time); null: it is live. */
  readonly deletedAt: string | null;
  readonly cells: ReadonlyMap<string, Cell>;
}

/**
 * The records that a target keeps of a submission in addition to its row. `rejected`: it could not be stored, or not unchanged.
 * `forgotten`: erased, and kept away. `held`: the source does not show it, and the deletion guard keeps its row. `undecided`: the
 * source's list does not show it, and for its ID the source returns neither the submission nor 404 or 410. `refused`: the source refused
 * to change its status.
 */
export const ENTRY_KINDS = ['rejected', 'forgotten', 'held', 'undecided', 'refused'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface Entry {
  readonly kind: EntryKind;
  /** The submission's ID; a name for an item without an ID; a digest for a forgotten submission. Unique within a kind. */
  readonly id: string;
  /** As last seen, '' if it has none. Null: the source does not show this forgotten submission, so it is not counted. */
  readonly status: string | null;
  readonly createdAt: string | null;
  /** A sentence for a person, without any answer. */
  readonly reason: string;
  /** When it was last listed; for a forgotten submission, when it was forgotten. */
  readonly atMs: number;
  /**
   * Nothing is wrong with the submission (L6): people keep the target from adding its row, or from writing these columns of it, by
   * their keys.
   */
  readonly blocked?: readonly string[];
}

/** Entries to remove: of one kind, with these IDs. */
export interface Settled {
  readonly kind: EntryKind;
  readonly ids: readonly string[];
}

/**
 * The writes of one commit. A stored row ends its entries as held, undecided or rejected, unless `entries` lists it. A row or entry
 * of a forgotten submission is not stored; its status is copied to the forgotten entry instead.
 */
export interface Change {
  /** Each ID once. */
  readonly rows?: readonly Row[];
  readonly entries?: readonly Entry[];
  readonly settled?: readonly Settled[];
  /**
   * IDs that the source no longer has: their rows are marked deleted, and every entry except a forgotten one is
   * removed.
   */
  readonly deleted?: readonly string[];
  /** Applied to the state with the tally of this commit. */
  readonly state?: (state: FormState) => FormState;
  readonly run?: Run;
}

export interface Applied {
  readonly inserted: number;
  /** Changed, or live again. */
  readonly updated: number;
  readonly unchanged: number;
  readonly deleted: number;
  /** Rows that the target could not store. */
  readonly rejected: number;
}

/** The record of one run. */
export interface Run extends Applied {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: OutcomeName;
  readonly code: string | null;
  readonly error: string | null;
  readonly requests: number;
  readonly held: number;
  /** The run read every range. */
  readonly isWhole: boolean;
}

/**
 * `forget`: these submissions, for good. `remember`: they may come back. `purge`: rows that were marked deleted before a time, and
 * answers of versions that ended before a time; null: none. `columns`: the answers of fields that are not selected. `rehash`: replaces each
 * stored answer of the fields with the result of `hash`; a hashed one stays.
 */
export type Erasure =
  | { readonly kind: 'forget' | 'remember'; readonly ids: readonly string[] }
  | {
      readonly kind: 'purge';
      readonly deletedBeforeMs: number | null;
      readonly versionsBeforeMs: number | null;
    }
  | { readonly kind: 'columns'; readonly fieldIds: readonly string[] }
  | {
      readonly kind: 'rehash';
      readonly fieldIds: readonly string[];
      readonly hash: (cell: Cell) => Cell;
    };

/** A column of a {@link FormSnapshot}: its name in the target, and the label that people know. Both are unique. */
export interface SnapshotColumn {
  readonly name: string;
  readonly label: string;
}

/** One form in a target at one instant, while others may write. Dispose it after use. */
export interface FormSnapshot extends AsyncDisposable {
  /** `id`, `status`, `created_at`, one per field, and the other columns that the target has. */
  readonly columns: readonly SnapshotColumn[];
  /** Every row, in pieces, with a cell for each column, in bounded memory (L14). `withDeleted`: rows marked deleted, too, at the end. */
  rows(which: { readonly withDeleted: boolean }): AsyncIterable<readonly (readonly Cell[])[]>;
}

/**
 * The subject of a notice. `ID_COLUMN_DELETED`: no run can succeed; `CELLS_PROTECTED`: some protected or merged cells are not
 * written; `VIEW_BEHIND`: a view lacks forms or fields, because it could not be replaced; `UNSELECTED_ANSWERS`: columns hold answers
 * that the settings do not allow; the others concern single rows or columns.
 */
export type NoticeCode =
  | 'ID_COLUMN_DELETED'
  | 'ROWS_COPIED'
  | 'ROWS_WITHOUT_ID'
  | 'CELLS_PROTECTED'
  | 'VIEW_BEHIND'
  | 'UNSELECTED_ANSWERS';

/**
 * A change that a person made in a target or to its permissions, and that the mirror keeps. For pages and commands; it contains no
 * answers.
 */
export interface TargetNotice {
  readonly code: NoticeCode;
  /** True if every run fails until a person fixes it. */
  readonly blocks: boolean;
  /** What was found, as sentences that name the tab or view and the place in it. */
  readonly message: string;
  /** What to do, as sentences. */
  readonly remedy: string;
}
