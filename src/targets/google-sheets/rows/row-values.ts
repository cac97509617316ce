import type { Cell, Rejection, Row } from '../../../mirror/types.ts';
import { parseNumber } from '../../../mirror/json.ts';
import { canonicalTime } from '../../../mirror/canonical-time.ts';
import type { FieldContent } from '../columns/own-columns.ts';
import { type ColumnKey, fieldKey } from '../api/metadata.ts';
import type { SerialTime } from './serial-time.ts';
import {
  Fingerprint,
  fitText,
  fromRead,
  holds,
  type ReadValue,
  type SheetValue,
  toSheetValue,
} from '../api/cell-value.ts';

/** A row as the sheet should hold it: a value for each column that the writer writes. */
export interface SheetRow {
  readonly id: string;
  readonly createdAt: string | null;
  readonly values: ReadonlyMap<ColumnKey, SheetValue>;
  readonly fingerprint: number;
}

/** A field that is written: its ID and, for reports, its label. */
export interface WrittenField {
  readonly id: string;
  readonly label: string;
}

/** Characters of the longest ID that is stored. */
const MAX_ID = 1_000;

/** True for a submission ID that a cell gives back as it is. */
export const isStorableId = (id: string): boolean =>
  id.trim() !== '' && id.length <= MAX_ID && fitText(id).text === id;

/** Turns rows into what cells should hold. `columns`: those that are there and that this writer writes. */
export class RowEncoder {
  readonly #columns: ReadonlySet<ColumnKey>;
  readonly #fields: readonly WrittenField[];
  readonly #time: SerialTime;
  readonly #order: readonly ColumnKey[];

  constructor(columns: Iterable<ColumnKey>, fields: readonly WrittenField[], time: SerialTime) {
    this.#columns = new Set(columns);
    this.#fields = fields.filter((field) => this.#columns.has(fieldKey(field.id)));
    this.#time = time;
    this.#order = [...this.#columns].filter((key) => key !== 's:id').sort();
  }

  /** The columns that count in a fingerprint, in its order. */
  get order(): readonly ColumnKey[] {
    return this.#order;
  }

  /** A row with the defects that its cells made visible; `undefined` when its ID cannot be kept. */
  encode(row: Row): { row: SheetRow | undefined; rejections: Rejection[] } {
    if (!isStorableId(row.id)) {
      const reason = 'has an ID that a cell of a sheet cannot hold';
      return {
        row: undefined,
        rejections: [{ submissionId: fitText(row.id).text, reason, stored: false }],
      };
    }
    const values = new Map<ColumnKey, SheetValue>([['s:id', row.id]]);
    const rejections: Rejection[] = [];
    const put = (key: ColumnKey, value: SheetValue): void => {
      if (this.#columns.has(key)) values.set(key, value);
    };
    put('s:at', this.#timeValue(row.createdAt));
    put('s:status', fitText(row.status).text);
    put('s:removed', null);
    for (const { id, label } of this.#fields) {
      const { value, defects } = toSheetValue(row.cells.get(id) ?? null);
      values.set(fieldKey(id), value);
      for (const defect of defects) {
        const reason = `The answer to "${shortLabel(label)}" ${defect}.`;
        rejections.push({ submissionId: row.id, reason, stored: true });
      }
    }
    const fingerprint = this.#fingerprint((key) => values.get(key));
    return { row: { id: row.id, createdAt: row.createdAt, values, fingerprint }, rejections };
  }

  /** The fingerprint of a row that was read. */
  fingerprintOf(read: (key: ColumnKey) => ReadValue): number {
    return this.#fingerprint(read);
  }

  /** The cells in which a row that was read differs from what it should hold. */
  differences(row: SheetRow, read: (key: ColumnKey) => ReadValue): Map<ColumnKey, SheetValue> {
    const differing = new Map<ColumnKey, SheetValue>();
    for (const key of this.#order) {
      const value = row.values.get(key);
      if (value !== undefined && !sameValue(key, read(key), value)) differing.set(key, value);
    }
    return differing;
  }

  #fingerprint(valueOf: (key: ColumnKey) => ReadValue | SheetValue): number {
    const print = new Fingerprint();
    for (const key of this.#order) {
      const value = valueOf(key);
      print.add(key, isTime(key) && typeof value === 'number' ? microsOf(value) : value);
    }
    return print.value();
  }

  /** A real date; a time that a date cannot hold exactly stays text. */
  #timeValue(time: string | null): SheetValue {
    return time === null ? null : (this.#time.toSerial(time) ?? time);
  }
}

const shortLabel = (label: string): string =>
  label.length <= 80 ? label : `${label.slice(0, 79).toWellFormed()}…`;

const isTime = (key: ColumnKey): boolean => key === 's:at' || key === 's:removed';

/** Serials that mean the same microsecond are the same time. */
const microsOf = (serial: number): number => Math.round(serial * 86_400_000_000);

function sameValue(key: ColumnKey, read: ReadValue, value: SheetValue): boolean {
  if (isTime(key) && typeof read === 'number' && typeof value === 'number') {
    return microsOf(read) === microsOf(value);
  }
  return holds(read, value);
}

/** A cell of an answer as the port shows it: in a column of numbers, digits are a number however they are kept. */
export function answerOf(read: ReadValue, content: FieldContent): Cell {
  const cell = fromRead(read);
  return typeof cell === 'string' && content === 'numbers' ? (parseNumber(cell) ?? cell) : cell;
}

/** A time as the port shows it; null for an empty cell and for anything else that people typed. */
export function timeOf(read: ReadValue, time: SerialTime): string | null {
  if (typeof read === 'number') return canonicalTime(time.toTime(read));
  return typeof read === 'string' ? canonicalTime(read) : null;
}

/** True when a cell of the Removed column marks its row. What people type there, other than dates, marks nothing. */
export const marksRemoved = (read: ReadValue): boolean =>
  typeof read === 'number' || (typeof read === 'string' && canonicalTime(read) !== null);
