import type { ProblemCode } from '../base/catalogue.ts';
import type { Loss } from './losses.ts';
import type { Pause } from './pauses.ts';
import type { StoredUnder } from './picks.ts';
import type { FormSnapshot, StoredRow, TargetNotice, TargetRelations } from './port.ts';
import type { Checkpoint, FormIdentity, PassRecord, Rejection } from './types.ts';

/*
 * A target as commands, page and health ask for it, until they read its state themselves. Times are ISO 8601 in UTC.
 */

/** A kind of target: the name of its entry in `targets/target-kinds.ts`. */
export type TargetKind = string;

/** Operations reject with a MirrorError with a TARGET_… code, whose message names the target and the remedy and holds no answer or secret. */
export interface Copy extends AsyncDisposable {
  /** The name from the settings (`default` when unnamed). */
  readonly name: string;
  readonly kind: TargetKind;
  /** The best number of rows to read at once; memory depends on it (L14). */
  readonly batchRows: number;
  /** Where it is, for people: no password (L15). */
  readonly address: string;

  /** Tries reach and rights without changing anything; one result for each thing tried, in order. A failed try is a result, not an error. */
  check(signal?: AbortSignal): Promise<CheckResult[]>;

  /** Every form that this target ever mirrored, with its state; for `status`, `check` and the status page. Empty when never written. */
  overview(): Promise<FormOverview[]>;

  /** Every form that this target ever mirrored, with its fields. */
  heldForms(): Promise<HeldForm[]>;

  /** Reads one form without the lock; undefined when it was never mirrored here. */
  reader(formId: string): Promise<CopyReader | undefined>;

  /** The tables and views for other tools to read, none before the first pass; undefined where a target has no such thing. */
  relations(): Promise<TargetRelations | undefined>;

  /** One form as it is here now, to be read at leisure; undefined when it was never mirrored here. */
  snapshot(formId: string): Promise<FormSnapshot | undefined>;

  /** Becomes the form's only writer (L13). Throws TARGET_BUSY when another holds it for longer than `waitMs`. */
  openWriter(form: FormIdentity, options: WriterOptions): Promise<CopyWriter>;

  /** Removes what was erased from the files of the target, too, as far as that is ours to do. */
  scrub(): Promise<void>;

  /** When the workspace was last found to have what the target accounts for; null before the first time. */
  lastLook(): Promise<{ readonly at: string } | null>;

  /**
   * Removes what the histories of a form tell of the time before `before`: what was true then, and since, stays. Returns how many
   * entries it removed. Undefined where a target keeps no history.
   */
  readonly pruneHistory?: (
    form: FormIdentity,
    before: string,
    options: WriterOptions,
  ) => Promise<number>;

  /** What people have paused here, whether or not it was ever mirrored. */
  pauses(): Promise<readonly Pause[]>;

  /** Pauses a form, or the target as a whole. What is paused already stays as it was. Resolves to the pause in force. */
  pause(pause: Pause): Promise<Pause>;

  /** Ends such a pause; those of single forms do not end with that of the target. Resolves to what it was; undefined for none. */
  resume(formId: string | null): Promise<Pause | undefined>;

  /** IDs of forms by the slug that first named them in the settings (L11). */
  slugs(): Promise<ReadonlyMap<string, string>>;

  /** Keeps that a slug names a form, unless it names one already. Resolves to the ID of the form that it names. */
  bindSlug(slug: string, formId: string): Promise<string>;
}

/** Options of {@link Copy.openWriter}. */
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
export interface FormOverview {
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
  /** What is not there any more, or not as it was written: with any, neither rows nor checkpoint say what the copy holds. */
  readonly losses: readonly Loss[];
  /** The newest pass of all, the newest that ended `ok`, and the newest full one. */
  readonly lastPass: PassRecord | null;
  readonly lastOk: PassRecord | null;
  readonly lastFull: PassRecord | null;
  /** Fields whose columns may hold answers: something was stored in them, and they were not emptied since. */
  readonly filledFields: readonly Pick<StoredField, 'id' | 'label'>[];
  /** When the target was found empty that had held the form (ISO). Told by no target: it has lost its memory with the rest. */
  readonly refilledAt?: string;
  /** Submissions that were forgotten; see {@link CopyWriter.forget}. */
  readonly forgotten: number;
  /** The settings that the rows were stored under; null: there are no rows. */
  readonly storedUnder?: StoredUnder | null;
  /** What people changed and we leave alone, as far as it is known without reading rows. */
  readonly notices: readonly TargetNotice[];
}

/** Reads a form of a target; sees committed state. */
export interface CopyReader {
  checkpoint(): Promise<Checkpoint | undefined>;
  /** The windows that the form is read in, in order of time. Empty where nothing is known. */
  windows(): Promise<readonly WindowRecord[]>;
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
  /** Of these IDs those that were forgotten, each with when. */
  forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** What is held of these submissions, and {@link CopyWriter.forget} would remove. */
  traces(ids: readonly string[]): Promise<Traces>;
  /** How many submissions were marked deleted before `before`, which {@link CopyWriter.purgeDeleted} would remove. */
  countDeleted(before: string): Promise<number>;
  /** How many rows hold an answer to one of these fields, which {@link CopyWriter.emptyFields} would remove. */
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
export interface CopyWriter extends AsyncDisposable {
  rows(ids: readonly string[]): Promise<Map<string, StoredRow>>;

  /**
   * Removes these submissions, in one atomic step with the note that keeps them from coming back: their rows, listings and
   * refusals, and whatever else is held of them. Live rows are accounted for without a
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

/** What a target holds of submissions, or has removed of them (L18). Counts. */
export interface Traces {
  readonly rows: number;
  /** Listed rejections, and remembered status changes, refused or sent. */
  readonly listings: number;
  readonly refusals: number;
  /** What histories tell of them: statuses that they had, and versions. */
  readonly history: number;
}

/** What an erasure removed, and what it left because it is people's own. */
export interface Erasure extends Traces {
  /**
   * Cells that people wrote into the rows, as people call them: `row 17, column F (Notes)`; and rows of which nobody tells
   * any more whether they are to be erased. Empty outside of sheets.
   */
  readonly left: readonly string[];
}

/** An erasure that found nothing to remove. */
export const NOTHING_ERASED: Erasure = {
  rows: 0,
  listings: 0,
  refusals: 0,
  history: 0,
  left: [],
};

/** What a SQL target tells of before: statuses, or every version of every row as well. */
export type HistoryKind = 'status' | 'full';

/** What the newest look found of a form. */
export interface FormLook {
  /** When it was (ISO). */
  readonly at: string;
  /** It found the form to differ, or could not judge it: a pass is to. */
  readonly isOpen: boolean;
  /** Its counts by status differed, so that only a pass that compares settles it. */
  readonly isDiffering?: boolean;
  /** Where it did not count the form's statuses: when one last did and found them as accounted for (ISO), null where that is not known. */
  readonly countedAt?: string | null;
  /** The brake withholds deletions of it, and both sides were found as they were when a pass last left that to a person. */
  readonly isWithheld?: boolean;
}

/**
 * When a look last counted a form's statuses and found them as accounted for (ISO); null where that is not known, as it is of a
 * form whose deletions are withheld: nothing compares it with its copy.
 */
export function countedAt(look: FormLook | null): string | null {
  if (look === null || look.isOpen || look.isWithheld === true) return null;
  return look.countedAt === undefined ? look.at : look.countedAt;
}

/** What tells how a look and a form's passes stand to each other. */
type Looked = Pick<FormOverview, 'look' | 'checkpoint' | 'losses' | 'goneAt'>;

/**
 * When a look last found the form to be as it is accounted for (ISO), by its counts; what they say of statuses, {@link countedAt}
 * tells. Null where none did since the last proven pass, or where a look says nothing: of a form that is gone, was damaged,
 * or is proven with reservations, but for deletions that are withheld still.
 */
export function lookedAt({ look, checkpoint, losses, goneAt }: Looked): string | null {
  if (look === null || look.isOpen || checkpoint === null) return null;
  const { statuses, absent, withheld, hidden, provenAt } = checkpoint;
  const isAsWithheld = look.isWithheld === true && withheld > 0;
  const isWhole = (statuses !== null && withheld === 0) || isAsWithheld;
  if (!isWhole || absent + hidden !== 0 || losses.length > 0 || goneAt !== null) return null;
  return Date.parse(look.at) > Date.parse(provenAt) ? look.at : null;
}

/**
 * Since when a form is known, or suspected, to differ from the source, and no pass has settled it (ISO); null where that is not
 * so. Where counts by status differed, a pass has settled it whose own comparison agreed, or that read everything.
 */
export function differsSince({
  look,
  checkpoint,
}: Pick<Looked, 'look' | 'checkpoint'>): string | null {
  if (look === null || !look.isOpen || checkpoint === null) return null;
  const { provenAt, countsAt, fullProvenAt } = checkpoint;
  const settledAt = look.isDiffering === true ? [countsAt, fullProvenAt] : [provenAt];
  const isSettled = settledAt.some((at) => at !== null && Date.parse(at) >= Date.parse(look.at));
  return isSettled ? null : look.at;
}

/** When the statuses were last seen to agree with the source: by their counts, or row by row (ISO); null for never. */
export function statusesAt(overview: Looked): string | null {
  const { checkpoint } = overview;
  const times = [
    lookedAt(overview) === null ? null : countedAt(overview.look),
    checkpoint?.countsAt ?? null,
    checkpoint?.fullProvenAt ?? null,
  ];
  return times
    .filter((time) => time !== null)
    .reduce<string | null>((last, time) => (last !== null && last >= time ? last : time), null);
}

/** How marking a form last ended, where it did not mark all that it could. */
export interface MarkingRecord {
  /** Since when it has ended so (ISO). */
  readonly since: string;
  /** Why it failed, in full or in part; null where only single submissions were refused. */
  readonly code: ProblemCode | null;
  readonly error: string | null;
  /** Submissions left alone for now, because the source refused the change of their status. */
  readonly refused: number;
}

/** True when the one says the same as the other, whatever submission it names. */
export const saysTheSame = (one: MarkingRecord | null, other: MarkingRecord | null): boolean =>
  one?.code === other?.code && one?.refused === other?.refused;

/**
 * The submissions of a form that are dated within [from, to): the unit in which a large form is read, proven and compared.
 * ISO instants at midnight UTC; null: open to that side.
 */
export interface FormWindow {
  readonly from: string | null;
  readonly to: string | null;
}

/** What a target keeps of one window of a form. */
export interface WindowRecord extends FormWindow {
  /** How many submissions its last proof accounted for; before the first, how many the source counted. */
  readonly total: number;
  /** When the reading that last proved it, row by row, began (ISO); null: never. */
  readonly provenAt: string | null;
  /**
   * What its rows were stored as, and what was lost, in that proof: it counts for no pass of which this is not true. Of an
   * open window, as they are to be.
   */
  readonly provenFor: string | null;
  /** Rows that proof found absent and marked deleted; those it left as they are because too many were. */
  readonly deleted: number;
  readonly absent: number;
  /**
   * By status, what that proof met and the target has no row of, as `countsText` writes it; null: not known.
   */
  readonly unstored: string | null;
  /** A full pass is under way that has not proven it. */
  readonly open: boolean;
  /**
   * Since when the form is known not to work in windows (ISO): then its only record is of the whole form. Null: it does.
   */
  readonly failedAt: string | null;
}

/** Whether a form is read in windows. */
export const isCut = (windows: readonly WindowRecord[]): boolean => windows.length > 1;
