/** A field as the form's schema shows it now. */
export interface FormField {
  readonly id: string;
  readonly label: string;
}

/** A form of the workspace. `fields` are in form order, over all sections. */
export interface Form {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly fields: readonly FormField[];
}

/** What identifies a form, for its table or tab and for people. */
export type FormIdentity = Pick<Form, 'id' | 'slug' | 'name'>;

/** A JSON value as read from the API. Numbers that a double would round are {@link ExactNumber}s (L10). */
export type Json =
  | string
  | number
  | boolean
  | null
  | ExactNumber
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * The statuses that the Forms API documents. A submission may have another one, and the copy then shows it. Polls and runs ask for
 * the count of each, so every further status costs each of them a request.
 */
export const STATUSES = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'] as const;

/** Statuses of submissions that still wait for a person. */
export const OPEN_STATUSES: readonly (typeof STATUSES)[number][] = ['NEW', 'IN_PROGRESS'];

/** Answers by field ID, as they were received: read one with {@link answerOf}. */
export type Answers = Readonly<Record<string, Json>>;

/** Reads only the submission's own properties, because a field ID may be any text, such as the name of a property that every object has. */
export const answerOf = (data: Answers, fieldId: string): Json | undefined =>
  Object.hasOwn(data, fieldId) ? data[fieldId] : undefined;

/** A submission at the source. */
export interface Submission {
  readonly id: string;
  readonly formId: string;
  readonly status: string;
  /** As in {@link Row}. */
  readonly createdAt: string | null;
  readonly data: Answers;
}

/** One item of a list in its place, whether or not it can be stored (L6). */
export interface SubmissionItem {
  /** The submission's ID, or a name that the client gives it. */
  readonly key: string;
  /** Null if it has no usable ID. With a defect, all usable parts are kept. */
  readonly submission: Submission | null;
  /** The status of an item without a usable ID, if it shows one: the source counts it there. */
  readonly status?: string;
  /** The defects, as fixed sentences that contain no value. */
  readonly defects: readonly string[];
}

/**
 * A number that a double cannot hold without rounding (L10). `digits` is canonical plain decimal notation: no exponent, no leading
 * `+`, no superfluous zeros, `-` only before a non-zero value.
 */
export class ExactNumber {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }

  /** The text that JSON.stringify writes: all digits. */
  toJSON(): unknown {
    return rawJson(this.digits);
  }
}

/** In Node since version 21; TypeScript's library does not declare it yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

/** An answer that is an array or an object, as its JSON text: compact, with all digits of its numbers. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The value of one answer as a target stores it. `null`: no answer. See `cells.ts` for how JSON becomes a cell. */
export type Cell = string | number | ExactNumber | JsonText | null;

/** A field chosen for mirroring, with the current name for its column. */
export interface SelectedField {
  readonly id: string;
  /** The current label; the last known one for a deleted field; the ID for a field that was gone before the first run. */
  readonly label: string;
  /** Place in the form, from 0. Fields that are no longer in the form come last. */
  readonly position: number;
  /** Whether the form's schema has it now. */
  readonly inSchema: boolean;
  /** Whether a keyed hash is stored instead of the answer; the column is then text. */
  readonly hashed: boolean;
}

/** One submission, joined with the selected fields, ready to store. `cells` may lack a field without an answer. */
export interface Row {
  readonly id: string;
  readonly status: string;
  /**
   * UTC, `YYYY-MM-DDTHH:MM:SS.mmmZ`, with up to six fraction digits if the source has more than three; null if the source gives no
   * valid time.
   */
  readonly createdAt: string | null;
  /** By field ID. */
  readonly cells: Pick<ReadonlyMap<string, Cell>, 'get'>;
}
