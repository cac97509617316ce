import { hash } from 'node:crypto';
import type { StorableRow } from '../dialect.ts';
import type { FieldColumn } from '../field-column.ts';
import { cellKey } from './answer-values.ts';

/*
 * `_hash`: what the answers of a row were stored as, so that whether they differ is known without reading them; status and date are
 * read beside it. It speaks of the fields that were written then, a set that has a number and stands before it. A row that was hashed
 * by another set is judged by that one as far as it goes; else its answers are read and compared. Behind it stands what the server
 * makes of the columns, see row-fingerprint.ts.
 */

/** The fields that rows were hashed by. */
export interface HashSet {
  readonly number: number;
  /** In the order of their columns. */
  readonly fieldIds: readonly string[];
  /** How many fields the form had then: those behind were not yet there, and hold nothing in such rows. */
  readonly fieldCount: number;
}

/** How many sets are remembered. Rows of an older one are read. */
const KEPT_SETS = 8;

/** What a stored hash says of a row that comes. */
export type Verdict = 'same' | 'differs' | 'unknown';

/** The sets with that of `fields` as the newest; the same list where it is already. */
export function withHashSet(
  sets: readonly HashSet[],
  fields: readonly FieldColumn[],
  fieldCount: number,
  nextNumber: number,
): readonly HashSet[] {
  const fieldIds = fields.map(({ id }) => id);
  const last = sets.at(-1);
  if (last !== undefined && sameList(last.fieldIds, fieldIds)) return sets;
  return [...sets, { number: nextNumber, fieldIds, fieldCount }].slice(-KEPT_SETS);
}

const sameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id, at) => id === other[at]);

/** Hashes rows, and judges stored hashes. `fields`: those that are written, in the order of the cells. */
export class RowHasher {
  readonly #sets: ReadonlyMap<number, HashSet>;
  readonly #newest: HashSet;
  readonly #fields: readonly FieldColumn[];

  constructor(sets: readonly HashSet[], fields: readonly FieldColumn[]) {
    const newest = sets.at(-1);
    if (newest === undefined) throw new TypeError('rows without a set of fields to hash them by');
    this.#newest = newest;
    this.#sets = new Map(sets.map((set) => [set.number, set]));
    this.#fields = fields;
  }

  /** What stands in `_hash` of this row, before the fingerprint. */
  hashOf(row: StorableRow): string {
    const keys = this.#fields.map(({ type }, at) => cellKey(type, row.cells[at] ?? null));
    return prefixed(this.#newest.number, keys);
  }

  /** Whether the answers of the row that comes are what is stored under this hash. */
  judge(row: StorableRow, held: string | null): Verdict {
    const [number = '', digest] = held?.split('.') ?? [];
    const set = this.#sets.get(Number(number));
    const stored = `${number}.${digest}`;
    if (set === undefined) return 'unknown';
    if (set === this.#newest) return this.hashOf(row) === stored ? 'same' : 'differs';
    return this.#judgeByFormer(row, stored, set);
  }

  #judgeByFormer(row: StorableRow, stored: string | null, set: HashSet): Verdict {
    const keys = new Map<string, string | null>();
    const former = new Set(set.fieldIds);
    for (const [at, { id, ordinal, type }] of this.#fields.entries()) {
      const key = cellKey(type, row.cells[at] ?? null);
      if (former.has(id)) keys.set(id, key);
      // A field that was not written then may hold something older.
      else if (ordinal < set.fieldCount) return 'unknown';
      else if (key !== null) return 'differs';
    }
    if (keys.size < former.size) return 'unknown';
    const formerKeys = set.fieldIds.map((id) => keys.get(id) ?? null);
    return prefixed(set.number, formerKeys) === stored ? 'same' : 'differs';
  }
}

/** 96 bits: two versions of one row are told apart. */
const prefixed = (number: number, keys: readonly (string | null)[]): string =>
  `${number}.${hash('sha256', JSON.stringify(keys), 'base64url').slice(0, 16)}`;
