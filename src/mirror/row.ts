import { count } from '../base/format.ts';
import type { Entry, StoredRow } from './port.ts';
import { hashedCell, sameCell, toCell } from './cells.ts';
import { MAX_FIELD_ID, selectedFields } from './fields.ts';
import { isTooDeep, TOO_DEEP } from './json.ts';
import { fieldTest, type Joining } from './selection.ts';
import {
  answerOf,
  type Cell,
  type Form,
  type FormField,
  type Row,
  type SelectedField,
  type Submission,
  type SubmissionItem,
} from './types.ts';

/** The most fields that only answers have: fields that were deleted before the first run. */
export const MAX_UNLISTED_FIELDS = 1_000;

const LEFT_OUT = `It has answers that are not stored: to more fields that its form does not have than ${count(MAX_UNLISTED_FIELDS)}, or under IDs longer than ${count(MAX_FIELD_ID)} characters.`;
const HALF_A_CHARACTER = 'An answer contains a damaged character; it is shown as \uFFFD.';
const NESTED = 'An answer is nested too deeply.';

/**
 * The join of a form: takes the selected answers of its items and nothing else (L11), including answers to fields that the form no
 * longer has (L9). The number of such fields is limited, because a person who fills in a form, or a broken source, can send any
 * field, and each would become a column.
 */
export class Join {
  /** The selected fields, in column order. */
  fields: readonly SelectedField[] = [];
  readonly #joining: Joining;
  #isSelected: (id: string) => boolean = () => false;
  /** The place of each field among the cells of a row, by ID. Earlier rows have no cell at the place of a field that was met later. */
  #places = new Map<string, number>();
  #unlisted = 0;
  #isAnyLeftOut = false;

  /** `known`: the fields that the target knows. */
  constructor(joining: Joining, form: Form, known: readonly FormField[]) {
    this.#joining = joining;
    this.prepare(form, known);
  }

  /** Selects the fields again, by the current form. Fields that only answers have stay. */
  prepare(form: Form, known: readonly FormField[]): void {
    const { selection } = this.#joining;
    this.fields = selectedFields(form, selection, known, this.#places.keys());
    this.#isSelected = fieldTest(selection.fields, form);
    this.#places = new Map(this.fields.map(({ id }, place) => [id, place]));
    this.#unlisted = this.fields.filter(({ inSchema }) => !inSchema).length;
  }

  /** Looks at the answers of items. Returns whether some belong to new fields: then call {@link prepare}. */
  meet(items: readonly SubmissionItem[]): boolean {
    const before = this.#places.size;
    for (const { submission } of items)
      // Not Object.keys, which makes a list for each submission.
      for (const id in submission?.data) {
        if (!this.#isNew(id)) continue;
        if (id.length > MAX_FIELD_ID || this.#unlisted >= MAX_UNLISTED_FIELDS) {
          this.#isAnyLeftOut = true;
          continue;
        }
        this.#places.set(id, Infinity);
        this.#unlisted++;
      }
    return this.#places.size > before;
  }

  /**
   * Returns what to store of an item, after {@link meet}: an entry if it has no ID; otherwise a row, and an entry if it has another
   * defect. Throws TypeError if a field is hashed and there is no key.
   */
  item(
    { key, submission, status = '', defects }: SubmissionItem,
    atMs: number,
  ): { readonly row: Row | null; readonly entry: Entry | null } {
    let reasons = defects;
    const note = (reason: string): void => {
      if (!reasons.includes(reason)) reasons = [...reasons, reason];
    };
    const row = submission && this.#rowOf(submission, note);
    if (row !== null && reasons.length === 0) return { row, entry: null };
    const { createdAt, status: of } = row ?? { createdAt: null, status };
    const reason = reasons.join(' ');
    return { row, entry: { kind: 'rejected', id: key, status: of, createdAt, reason, atMs } };
  }

  /** `note`: takes what is not stored unchanged, as a sentence without any answer. */
  #rowOf({ id, status, createdAt, data }: Submission, note: (reason: string) => void): Row {
    if (this.#isAnyLeftOut && Object.keys(data).some((each) => this.#isNew(each))) note(LEFT_OUT);
    const values = this.fields.map(({ id: fieldId, hashed }) => {
      const answer = answerOf(data, fieldId);
      const isDeep = isTooDeep(answer);
      if (isDeep) note(NESTED);
      let cell = isDeep ? TOO_DEEP : toCell(answer);
      if (typeof cell === 'string' && !cell.isWellFormed()) {
        // No target can hold half a surrogate pair; it becomes U+FFFD, visibly (L10).
        note(HALF_A_CHARACTER);
        cell = cell.toWellFormed();
      }
      return hashed && cell !== null ? hashedCell(cell, requireKey(this.#joining.hashKey)) : cell;
    });
    const cells = new RowCells(this.#places, values);
    return { id, status, createdAt, cells };
  }

  #isNew(id: string): boolean {
    return !this.#places.has(id) && this.#isSelected(id);
  }
}

/** The cells of a row. Rows share the places of their fields: a map per row would take five times the memory. */
class RowCells {
  readonly #places: ReadonlyMap<string, number>;
  readonly #values: readonly Cell[];

  constructor(places: ReadonlyMap<string, number>, values: readonly Cell[]) {
    [this.#places, this.#values] = [places, values];
  }

  get(fieldId: string): Cell | undefined {
    const place = this.#places.get(fieldId);
    return place === undefined ? undefined : this.#values[place];
  }
}

function requireKey(key: string | undefined): string {
  if (key === undefined) throw new TypeError('hashed fields need a hash key');
  return key;
}

/** The columns in which a row differs: system columns by name, fields by label. Never a value. */
export const differingColumns = (
  row: Row,
  stored: StoredRow,
  fields: readonly SelectedField[],
): string[] => [
  ...(row.status === stored.status ? [] : ['status']),
  ...(row.createdAt === stored.createdAt ? [] : ['created_at']),
  ...(stored.deletedAt === null ? [] : ['_deleted_at']),
  ...fields
    .filter(({ id }) => !sameCell(stored.cells.get(id) ?? null, row.cells.get(id) ?? null))
    .map(({ label }) => label),
];
