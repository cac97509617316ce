import type { MirrorError } from '../base/errors.ts';
import type { FormState, OutcomeName } from './form-state.ts';
import type { Cell, Form, FormIdentity, SelectedField, Row } from './types.ts';

/*
 * The interface of a target. Every kind of target stores the same FormState with a revision, in the same atomic step
 * as the rows that it describes. Operations reject with a MirrorError whose code begins with TARGET_.
 */

/** The record of when the workspace last agreed with a target, and on which forms. */
export const AGREEMENT_RECORD = 'poll agreement';

/** One target, open. */
export interface Store extends AsyncDisposable {
  /** True if calls are limited, so the result of a poll is written only now and then. */
  readonly isMetered?: boolean;
  /** Whether the target can be used, a line for each thing that was tried. */
  check(signal?: AbortSignal): Promise<CheckResult[]>;
  /**
   * Each form that the target has, as of its last commit. Live rows are counted: if people changed their number or
   * their statuses, or removed columns, the state claims nothing and every range is due. `runs`: how many of the newest
   * runs to read of each; default: none.
   */
  forms(runs?: number): Promise<StoredForm[]>;
  /** The same without a look at the rows: as the last commits left the forms. */
  states(): Promise<readonly Pick<StoredForm, 'state' | 'fields'>[]>;
  /**
   * Opens a form. `write` takes its lease (L13), makes its table and the state where they are missing, and counts the rows
   * there, without writing anything where nothing has changed, so that it notices rows that people removed: {@link OpenForm.losses}. Rejects with TARGET_BUSY where another process
   * has the lease. `read` changes nothing; null where the target has no such form.
   */
  open(form: FormIdentity, mode: 'write'): Promise<OpenForm>;
  open(form: Pick<FormIdentity, 'id'>, mode: 'read'): Promise<ReadForm | null>;
  /** A snapshot of one form: later writes do not change it. Null if the target has no such form. */
  snapshot(formId: string): Promise<FormSnapshot | null>;
  /** A record that belongs to no form: pauses, polls, slug bindings, the source profile. */
  record(key: string): Promise<StoredRecord | null>;
  /** Writes a record whose revision is still `revision` (null: there is none). False: it is not. */
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
  /** The newest runs, as many as were asked for, the newest first. */
  readonly runs: readonly Run[];
  /** Why the state claims nothing, one sentence for each change that people made. Empty if they made none. */
  readonly losses: readonly string[];
  /** Notices for a person. */
  readonly notices: readonly TargetNotice[];
  /** Table, view or tab for people to open, in words. */
  readonly location: string;
  readonly place: FormPlace;
}

/** Where a browser opens a form; the name that queries use. Each where there is one. */
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
  /** Answers were stored in it, and not removed since. */
  readonly isFilled: boolean;
  readonly isInForm: boolean;
}

/** One form of a target, open for reading. */
export interface ReadForm extends AsyncDisposable {
  /** As of the last commit of this writer, or as found at the start, with all notes. A new object after each of them. */
  readonly state: FormState;
  readonly fields: readonly StoredField[];
  /**
   * Losses that people caused, found when the form was opened: one sentence each. The state then claims nothing, and
   * every range is due.
   */
  readonly losses: readonly string[];
  /** Rows in batches, in no order. Without `cells` those are empty. */
  rows(query: RowQuery, cells?: boolean): AsyncIterable<readonly StoredRow[]>;
  /** The accounts of the dated submissions of a query, by status and time. Entries without a date are left out of a query with bounds. */
  counts(query: CountQuery, grain: Grain): Promise<Count[]>;
  /** All entries of some kinds; of `forgotten` the ID is a digest. */
  entries(kinds: readonly EntryKind[]): Promise<readonly Entry[]>;
  /** Those of the IDs that were forgotten, with their digests. */
  forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The newest runs, the newest first. */
  runs(limit: number): Promise<Run[]>;
}

/** One form of a target, open for writing. Closing it gives the lease back. */
export interface OpenForm extends ReadForm {
  /** How many rows a commit should have at most. */
  readonly batchRows: number;
  /**
   * Follows the form's fields: labels, positions, which are still in the form; of those that are not selected any more, too.
   * `fields`: the selected ones, those included that the form does not have any more. Idempotent. Answers
   * of a field that was never given here are not stored. The next commit stores what changed.
   */
  prepare(form: Form, fields: readonly SelectedField[]): Promise<void>;
  /**
   * Changes the state for the next commit, which stores it, or for {@link finish}. If the process ends before, it is lost: the next run
   * must be able to find it again. Not while a commit is under way.
   */
  note(change: (state: FormState) => FormState): void;
  /** Rows as the target keeps them until they are committed, perhaps without their cells. May make columns for them. After {@link prepare}. */
  take(rows: readonly Row[]): Promise<readonly Row[]>;
  /**
   * Stores a change, all or nothing. Rejects with TARGET_BUSY where another writer has committed since this one opened. A row
   * that the target refuses for a fault of the row itself is listed as `rejected`; a target that refuses rows for a
   * reason of its own has failed (L6).
   */
  commit(change: Change): Promise<Applied>;
  /** Removes what a person asked to be removed, with history and files (L18). How many rows it concerned. */
  erase(what: Erasure): Promise<number>;
  /**
   * Why the target takes no new rows, though it takes everything else; null: it takes them. A run that meets one has failed (L6); the
   * rows that wait are listed as `rejected`, and are missing.
   */
  refusal(): Promise<MirrorError | null>;
  /**
   * Ends a run: brings views, indexes and files up to date, and the mirror's own texts in the target. Returns notices for a
   * person.
   */
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
  /** Without rows that the target may not hold as stored: they are stored again. */
  readonly isSure?: boolean;
}

export type CountQuery = Pick<RowQuery, 'status' | 'fromMs' | 'toMs'>;

/** How finely to count by time: the first so many characters of the ISO time. */
export const GRAINS = ['all', 'day', 'hour', 'minute', 'second', 'millisecond'] as const;
export type Grain = (typeof GRAINS)[number];

export interface Count {
  readonly status: string;
  /** When the span of this grain begins; null for `all`, and for submissions without a date. */
  readonly fromMs: number | null;
  readonly count: number;
}

export interface StoredRow {
  readonly id: string;
  readonly status: string;
  /** Canonical time; null where the source gives none. */
  readonly createdAt: string | null;
  /** When it was marked deleted (canonical time); null: it is live. */
  readonly deletedAt: string | null;
  readonly cells: ReadonlyMap<string, Cell>;
}

/**
 * The records that a target keeps of a submission in addition to its row. `rejected`: it could not be stored, or not
 * unchanged. `forgotten`: erased, and kept away. `held`: the source does not show it, and the deletion guard keeps
 * its row. `undecided`: the source's list does not show it, and its ID answers neither with it nor with 404.
 * `refused`: the source refused to change its status.
 */
export const ENTRY_KINDS = ['rejected', 'forgotten', 'held', 'undecided', 'refused'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface Entry {
  readonly kind: EntryKind;
  /** The submission's ID; of an item without one a name; of a forgotten one a digest. One entry of a kind has it. */
  readonly id: string;
  /** As last seen, '' where it has none. Null: the source does not show this forgotten submission, so that it is not counted. */
  readonly status: string | null;
  readonly createdAt: string | null;
  /** A sentence for a person, without any answer. */
  readonly reason: string;
  /** When it was listed last; of a forgotten submission, since when it is forgotten. */
  readonly atMs: number;
  /** Nothing is wrong with the submission: the target takes no new rows, so that it is missing (L6). */
  readonly isMissing?: true;
}

/** Entries to remove: of a kind, with these IDs. */
export interface Settled {
  readonly kind: EntryKind;
  readonly ids: readonly string[];
}

/**
 * The writes of one commit. A row that is stored ends its entries as held, undecided or rejected, unless `entries`
 * lists it. A row or entry of a forgotten submission is not stored: its entry follows its status instead.
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
  /** Applied to the state with the tally of this very commit. */
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
  /** Every range was read in it. */
  readonly isWhole: boolean;
}

/**
 * `forget`: these submissions, for good. `remember`: they may come back. `purge`: rows that were marked deleted before, and ended
 * versions before; null: none. `columns`: the answers of fields that are not selected. `rehash`: each stored answer of
 * the fields becomes what `hash` makes of it; one that is hashed stays.
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

/** A column of a {@link FormSnapshot}: its name in the target, and the label that people know it by. Both are unique. */
export interface SnapshotColumn {
  readonly name: string;
  readonly label: string;
}

/** One form in a target at one instant, while others may write. Dispose it after use. */
export interface FormSnapshot extends AsyncDisposable {
  /** `id`, `status`, `created_at`, one for each field, and what else the target keeps of a row. */
  readonly columns: readonly SnapshotColumn[];
  /** Every row, in pieces, with a cell for each of the columns; bounded memory (L14). `withDeleted`: also those marked deleted, last. */
  rows(which: { readonly withDeleted: boolean }): AsyncIterable<readonly (readonly Cell[])[]>;
}

/**
 * What a notice is about. `ID_COLUMN_DELETED`: no run can succeed; `CELLS_PROTECTED`: some protected or merged cells are not written;
 * `VIEW_BEHIND`: a view lacks forms or fields, as it could not be made again; `ANSWERS_BESIDE`: some answers have another type than
 * their column and are in one beside it; `UNSELECTED_ANSWERS`: columns hold answers that the settings do not allow;
 * `SCRUB_PENDING`: erased answers may still be in files of the target; the others concern single rows or columns.
 */
export type NoticeCode =
  | 'ID_COLUMN_DELETED'
  | 'ROWS_COPIED'
  | 'ROWS_WITHOUT_ID'
  | 'CELLS_PROTECTED'
  | 'VIEW_BEHIND'
  | 'ANSWERS_BESIDE'
  | 'UNSELECTED_ANSWERS'
  | 'SCRUB_PENDING';

/**
 * A change that a person made in a target, or to its permissions, and that the mirror keeps. Data for pages and
 * commands; contains no answer.
 */
export interface TargetNotice {
  readonly code: NoticeCode;
  /** True if every run fails until it is remedied. */
  readonly blocks: boolean;
  /** The findings, as sentences that name the tab or view and what in it. */
  readonly message: string;
  /** What to do, as sentences. */
  readonly remedy: string;
}
