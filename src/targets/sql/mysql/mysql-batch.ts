import type { Cell } from '../../../mirror/types.ts';
import { partCell, partsOf } from '../answer-parts.ts';
import type { StorableRow } from '../dialect.ts';
import { type AnswerPart, type FieldColumn, type FormTable, MORE_COLUMN } from '../field-column.ts';
import { decodeMore, encodeMore } from '../more-column.ts';
import { encodeMysqlCell, inMysqlJson, MYSQL_LIMITS, mysqlTime } from './mysql-cells.ts';
import { backticked, doubleLiteral, textLiteral } from './mysql-literal.ts';

/** A value as a column takes it: a time as {@link mysqlTime} writes it. */
export type MysqlValue = string | number | null;

/** What a batch writes, and where. The values of a row stand in the order of the columns. */
export interface BatchTable {
  readonly table: string;
  /** Besides the key: status, date and answers, the overflow column last. */
  readonly columns: readonly string[];
  /** The values of a row that is new. */
  readonly valuesOf: (row: StorableRow) => MysqlValue[];
  /** The same for one that is stored: answers in the overflow column that are not written now stay. */
  readonly mergedWith: (values: MysqlValue[], stored: readonly (string | null)[]) => MysqlValue[];
  /** The names of the columns that differ. */
  readonly changedColumns: (
    values: readonly MysqlValue[],
    stored: readonly (string | null)[],
  ) => readonly number[];
}

/** The table of a form, to write these fields of it. */
export function batchTable(form: FormTable, fields: readonly FieldColumn[]): BatchTable {
  const places = new Map(fields.map((field, index) => [field, index]));
  const cellOf = (part: AnswerPart, row: StorableRow): Cell =>
    partCell(part, row.cells[places.get(part.field) ?? -1] ?? null, MYSQL_LIMITS);
  const parts = partsOf(fields);
  const own = parts.filter(({ storage }) => storage === 'column');
  const inMore = parts.filter(({ storage }) => storage === 'more');
  const order = keysOf(partsOf(form.fields));
  const written = keysOf(inMore);
  const answersOf = (row: StorableRow): Map<string, Cell> =>
    new Map(inMore.map((part) => [part.name, inMysqlJson(cellOf(part, row))]));
  const hasMore = inMore.length > 0;
  const columns = ['status', 'created_at', ...own.map(({ name }) => name)];
  const last = columns.length;
  return {
    table: backticked(form.table),
    columns: [...columns, ...(hasMore ? [MORE_COLUMN] : [])].map(backticked),
    valuesOf: (row) => [
      row.status,
      row.createdAt === null ? null : mysqlTime(row.createdAt),
      ...own.map((part) => encodeMysqlCell(cellOf(part, row), part.type)),
      ...(hasMore ? [encodeMore(answersOf(row), order)] : []),
    ],
    mergedWith(values, stored) {
      if (!hasMore || written.length === order.length) return values;
      const merged = new Map(decodeMore(stored[last]));
      const now = decodeMore(values[last]);
      for (const key of written) merged.set(key, now.get(key) ?? null);
      return [...values.slice(0, last), encodeMore(merged, order)];
    },
    changedColumns(values, stored) {
      const changed: number[] = [];
      for (const [nth, value] of values.entries()) {
        const held = stored[nth] ?? null;
        const isSame =
          typeof value === 'number' ? held !== null && Number(held) === value : held === value;
        // People, and the server's own functions, write the same JSON otherwise.
        if (isSame || (nth === last && encodeMore(decodeMore(held), order) === value)) continue;
        changed.push(nth);
      }
      return changed;
    },
  };
}

const keysOf = (parts: readonly AnswerPart[]): string[] =>
  parts.filter(({ storage }) => storage === 'more').map(({ name }) => name);

/** A value as a literal. */
export function valueLiteral(value: MysqlValue): string {
  if (value === null) return 'NULL';
  return typeof value === 'number' ? doubleLiteral(value) : textLiteral(value);
}
