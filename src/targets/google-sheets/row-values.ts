import { safeText } from '../../base/errors.ts';
import { canonicalTime } from '../../mirror/canonical-time.ts';
import { parseNumber } from '../../mirror/json.ts';
import type { Cell, SelectedField, Row } from '../../mirror/types.ts';
import {
  fitText,
  plainLines,
  type ReadValue,
  type SheetValue,
  toSheetValue,
} from './api/cell-value.ts';
import { type ColumnKey, fieldKey, hashText } from './api/metadata.ts';
import type { SerialTime } from './serial-time.ts';

/** A row as the sheet should have it: a value for each column that the writer writes. */
export interface SheetRow {
  readonly id: string;
  readonly values: ReadonlyMap<ColumnKey, SheetValue>;
  readonly fingerprint: string;
}

/** Characters of the longest ID that is stored. */
const MAX_ID = 1_000;

/** Whether a cell returns a submission ID unchanged. */
const isStorableId = (id: string): boolean =>
  id.trim() !== '' && id.length <= MAX_ID && fitText(id).text === id;

/** Turns rows into cell values, for our own columns and those of the selected fields. */
export class RowEncoder {
  readonly #fields: readonly SelectedField[];
  readonly #time: SerialTime;
  readonly #order: readonly ColumnKey[];

  /** `columns`: the existing columns. */
  constructor(columns: Iterable<ColumnKey>, selected: readonly SelectedField[], time: SerialTime) {
    const keys = new Set(selected.map(({ id }) => fieldKey(id)));
    const known = new Set([...columns].filter((key) => !key.startsWith('f:') || keys.has(key)));
    this.#fields = selected.filter(({ id }) => known.has(fieldKey(id)));
    this.#time = time;
    this.#order = [...known].filter((key) => key !== 's:id').sort();
  }

  /** A row, and why it is not stored unchanged; `undefined` if its ID cannot be stored. */
  encode(row: Row): { row: SheetRow | undefined; reasons: readonly string[] } {
    if (!isStorableId(row.id))
      return { row: undefined, reasons: ['It has an ID that a cell of a sheet cannot hold.'] };
    const reasons: string[] = [];
    const { createdAt } = row;
    const values = new Map<ColumnKey, SheetValue>([
      ['s:id', row.id],
      // A real date; a time that a date cannot hold exactly stays text.
      ['s:at', createdAt === null ? null : (this.#time.toSerial(createdAt) ?? createdAt)],
      ['s:status', fitText(row.status).text],
      ['s:removed', null],
    ]);
    for (const { id, label } of this.#fields) {
      const { value, defects } = toSheetValue(row.cells.get(id) ?? null);
      values.set(fieldKey(id), value);
      for (const defect of defects)
        reasons.push(`The answer to "${safeText(label, MAX_LABEL)}" ${defect}.`);
    }
    const fingerprint = this.fingerprintOf((key) => values.get(key));
    return { row: { id: row.id, values, fingerprint }, reasons };
  }

  /** The fingerprint of a row, as read or as it will be written. */
  fingerprintOf(valueOf: (key: ColumnKey) => ReadValue | SheetValue): string {
    // Blank cells add nothing, so that a new column does not change the fingerprints of old rows.
    const filled = this.#order.flatMap((key): (readonly [ColumnKey, unknown])[] => {
      const value = valueOf(key) ?? '';
      if (value === '') return [];
      return [[key, comparable(key, value)]];
    });
    return hashText(JSON.stringify(filled), 12);
  }

  /** The cells in which a row that was read differs from its submission. */
  differences(row: SheetRow, read: (key: ColumnKey) => ReadValue): Map<ColumnKey, SheetValue> {
    const differing = new Map<ColumnKey, SheetValue>();
    for (const key of this.#order) {
      const value = row.values.get(key);
      if (value === undefined) continue;
      if (comparable(key, read(key) ?? '') !== comparable(key, value ?? ''))
        differing.set(key, value);
    }
    return differing;
  }
}

/** Characters of a label in a reason. */
const MAX_LABEL = 80;

const isTime = (key: ColumnKey): boolean => key === 's:at' || key === 's:removed';

/** Serials that mean the same microsecond are the same time. */
const microsOf = (serial: number): number => Math.round(serial * 86_400_000_000);

/** A comparable form of a cell, written or read: equal for equal contents. */
export function comparable(key: ColumnKey, value: ReadValue): ReadValue {
  if (typeof value === 'string') return plainLines(value);
  return isTime(key) && typeof value === 'number' ? microsOf(value) : value;
}

/** The kinds of answers in a field's column so far. `none`: no answer yet. */
export type FieldContent = 'none' | 'numbers' | 'mixed';

/** A cell of an answer for the port. In a number column, digits are a number even if stored as text. */
export function answerOf(read: ReadValue, content: FieldContent): Cell {
  if (read === undefined || read === null || read === '') return null;
  const cell = typeof read === 'boolean' ? String(read) : read;
  return typeof cell === 'string' && content === 'numbers' ? (parseNumber(cell) ?? cell) : cell;
}

/** A time for the port; null for an empty cell and for anything else that people typed. */
export function timeOf(read: ReadValue, time: SerialTime): string | null {
  if (typeof read === 'number') return canonicalTime(time.toTime(read));
  return typeof read === 'string' ? canonicalTime(read) : null;
}
