import type { StoredRow } from './port.ts';
import { hashedCell, sameCell, toCell } from './cells.ts';
import { isTooDeep, TOO_DEEP } from './json.ts';
import { answerOf, type Cell, type SelectedField, type Row, type Submission } from './types.ts';

/** A submission joined with the selected fields. */
export interface JoinedRow {
  readonly row: Row;
  /** The parts that are not stored unchanged, each as a sentence without any answer. */
  readonly reasons: readonly string[];
}

const HALF_A_CHARACTER = 'an answer holds half a character (a lone surrogate), replaced by U+FFFD';
const NESTED = 'an answer is nested too deeply';

/**
 * The join: takes the selected answers of a submission and nothing else (L11). `defects`: what the client found wrong in the item.
 * Throws TypeError if a field is hashed and `hashKey` is missing.
 */
export class Join {
  readonly #fields: readonly SelectedField[];
  readonly #hashKey: string | undefined;
  readonly #places: ReadonlyMap<string, number>;

  constructor(fields: readonly SelectedField[], hashKey: string | undefined) {
    [this.#fields, this.#hashKey] = [fields, hashKey];
    this.#places = new Map(fields.map(({ id }, place) => [id, place]));
  }

  row({ id, status, createdAt, data }: Submission, defects: readonly string[]): JoinedRow {
    let [isNested, isHalved] = [false, false];
    const values: Cell[] = [];
    for (const { id: fieldId, hashed } of this.#fields) {
      const answer = answerOf(data, fieldId);
      const isDeep = isTooDeep(answer);
      isNested ||= isDeep;
      let cell = isDeep ? TOO_DEEP : toCell(answer);
      if (typeof cell === 'string' && !cell.isWellFormed()) {
        // No target can hold half a surrogate pair; it becomes U+FFFD, visibly (L10).
        isHalved = true;
        cell = cell.toWellFormed();
      }
      values.push(hashed && cell !== null ? hashedCell(cell, requireKey(this.#hashKey)) : cell);
    }
    const cells = new RowCells(this.#places, values);
    const row = { id, status: status.toWellFormed(), createdAt, cells };
    if (defects.length === 0 && !isNested && !isHalved) return { row, reasons: defects };
    const reasons = new Set(defects);
    if (isNested) reasons.add(NESTED);
    if (isHalved) reasons.add(HALF_A_CHARACTER);
    return { row, reasons: [...reasons] };
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
