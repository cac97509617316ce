import { fieldColumnName, SYSTEM_COLUMNS, uniqueName } from '../../mirror/column-names.ts';
import { followFields } from '../../mirror/fields.ts';
import { cellText, isBlank, toCell } from '../../mirror/cells.ts';
import { decimalText, parseJson, parseNumber } from '../../mirror/json.ts';
import {
  type Cell,
  ExactNumber,
  type Form,
  type Json,
  JsonText,
  type SelectedField,
  type Row,
} from '../../mirror/types.ts';
import {
  type BatchColumn,
  type ColumnType,
  decoded,
  type Dialect,
  type Packed,
  type PackedRow,
  type Param,
  type SqlField,
} from './dialect.ts';

/*
 * Where answers go. A field's column is created with its first answer, which decides its type. An answer of another type, or a
 * number that a number column would round, goes into a text column beside it. A blank is not an answer.
 */

export const MORE = '_more';

/** The fields after an update from the form; a new label is added to those that a field had. `at`: ISO. */
export const relabelled = (
  before: readonly SqlField[],
  form: Form,
  selected: readonly SelectedField[],
  at: string,
): SqlField[] =>
  followFields(before, form, selected, NEW_FIELD).map((field) => withLabel(field, at));

/** The field, with its label as the last of those that it had. */
function withLabel(field: SqlField, at: string): SqlField {
  const { label, labels } = field;
  if (labels.at(-1)?.label === label) return field;
  return { ...field, labels: [...labels, { label, from: at }] };
}

const NEW_FIELD = { column: null, type: null, textColumn: null, isInMore: false, labels: [] };

/** The fields with the columns that these rows need. `columns`: the columns of the table. */
export function withColumns(
  fields: readonly SqlField[],
  prepared: readonly SelectedField[],
  rows: readonly Row[],
  columns: Iterable<string>,
  dialect: Dialect,
): readonly SqlField[] {
  const selected = new Map(prepared.map((field) => [field.id, field]));
  const taken = takenNames(fields, columns);
  let many = fields.reduce((sum, field) => sum + ownColumns(field).length, 0);
  let isChanged = false;
  const next = fields.map((field) => {
    if (!selected.has(field.id)) return field;
    const isHashed = selected.get(field.id)?.hashed === true;
    const need = needOf(field, isHashed, rows, dialect);
    if (need === null) return field;
    isChanged = true;
    let made: SqlField = field;
    if (made.column === null) {
      const column = fieldColumnName(field, taken);
      taken.add(column);
      const isInMore = many >= dialect.maxColumns;
      if (!isInMore) many++;
      made = { ...made, column, isFilled: true, type: need.type, isInMore };
    }
    if (need.isBeside && made.textColumn === null && !made.isInMore) {
      made = withTextColumn(made, taken);
      many++;
    }
    return made;
  });
  return isChanged ? next : fields;
}

/** The columns of these fields that the table lacks. */
export function missingColumns(
  fields: readonly SqlField[],
  columns: ReadonlySet<string>,
): readonly BatchColumn[] {
  const missing = new Map<string, ColumnType>();
  const need = (name: string, type: ColumnType): void => {
    if (!columns.has(name)) missing.set(name, type);
  };
  for (const { column, type, textColumn, isInMore } of fields) {
    if (column === null) continue;
    if (isInMore) need(MORE, 'text');
    else need(column, type ?? 'text');
    if (textColumn !== null) need(textColumn, 'text');
  }
  return [...missing].map(([name, type]) => ({ name, type }));
}

/** The columns that belong to a field; only those in `columns`, if given. */
export const ownColumns = (
  { column, textColumn, isInMore }: SqlField,
  columns?: ReadonlySet<string>,
): string[] =>
  [isInMore ? null : column, textColumn]
    .filter((name) => name !== null)
    .filter((name) => columns?.has(name) !== false);

/** The columns of a table that hold answers to these fields. */
export const storedColumns = (
  fields: readonly SqlField[],
  columns: ReadonlySet<string>,
): string[] => [
  ...fields.flatMap((field) => ownColumns(field, columns)),
  ...(columns.has(MORE) ? [MORE] : []),
];

/** Names that a new column may not have, in lower case. A column that a person added stays theirs (L9). */
function takenNames(fields: readonly SqlField[], columns: Iterable<string>): Set<string> {
  const known = fields.flatMap(({ column, textColumn }) => [column ?? '', textColumn ?? '']);
  const names = [...SYSTEM_COLUMNS, MORE, ...known, ...columns];
  return new Set(names.map((name) => name.toLowerCase()));
}

function withTextColumn(field: SqlField, taken: Set<string>): SqlField {
  const textColumn = uniqueName(`${field.column}_text`, taken);
  taken.add(textColumn);
  return { ...field, textColumn };
}

/** The fields, with those of these IDs able to hold a text: a number or JSON column gets a text column beside it. */
export function withTextColumns(
  fields: readonly SqlField[],
  ids: ReadonlySet<string>,
  columns: Iterable<string>,
): readonly SqlField[] {
  const taken = takenNames(fields, columns);
  return fields.map((field) =>
    ids.has(field.id) && ownColumns(field).length === 1 && field.type !== 'text'
      ? withTextColumn(field, taken)
      : field,
  );
}

/** What a field needs to store the answers of these rows; null for nothing. */
function needOf(
  { id, column, type, textColumn, isInMore }: SqlField,
  isHashed: boolean,
  rows: readonly Row[],
  dialect: Dialect,
): { readonly type: ColumnType; readonly isBeside: boolean } | null {
  if (column !== null && (isInMore || type === 'text' || textColumn !== null)) return null;
  // A hash is text, even for numbers.
  let first: ColumnType | null = type ?? (isHashed && column === null ? 'text' : null);
  let isAnswered = false;
  for (const { cells } of rows) {
    const cell = cells.get(id) ?? null;
    if (isBlank(cell) || cell === null) continue;
    isAnswered = true;
    first ??= typeOf(cell);
    if (first === 'text') break;
    if (inColumn(cell, first, dialect) === undefined) return { type: first, isBeside: true };
  }
  return column === null && isAnswered && first !== null ? { type: first, isBeside: false } : null;
}

const typeOf = (cell: Exclude<Cell, null>): ColumnType =>
  typeof cell === 'string' ? 'text' : cell instanceof JsonText ? 'json' : 'number';

const NUL = '\u0000';
const NO_CELLS: Row['cells'] = new Map();

/** Packs rows into the database's format. */
export function packerOf(
  fields: readonly SqlField[],
  prepared: readonly SelectedField[],
  dialect: Dialect,
): (row: Row) => PackedRow {
  const selected = new Set(prepared.map(({ id }) => id));
  const stored = fields.filter(({ id, column }) => selected.has(id) && column !== null);
  const own = stored.filter(({ isInMore }) => !isInMore);
  const more = stored.filter(({ isInMore }) => isInMore);
  const columns = own.flatMap(({ column, type, textColumn }): BatchColumn[] => [
    { name: column ?? '', type: type ?? 'text' },
    ...(textColumn === null ? [] : [{ name: textColumn, type: 'text' as const }]),
  ]);
  if (more.length > 0) columns.push({ name: MORE, type: 'text' });
  const valuesOf = ({ id, status, createdAt, cells }: Row): Param[] => {
    const values: Param[] = [id, status, dialect.timeParam(createdAt)];
    for (const { id: fieldId, type, textColumn } of own) {
      const cell = cells.get(fieldId) ?? null;
      const value = inColumn(cell, type ?? 'text', dialect);
      values.push(value === undefined ? nearest(cell, type) : value);
      if (textColumn !== null) values.push(value === undefined ? cellText(cell) : null);
    }
    if (more.length > 0) values.push(encodeMore(more, cells));
    return values;
  };
  const { pack } = dialect.staging;
  const isWithoutNul = (packed: Packed): boolean =>
    dialect.takesNul || typeof packed !== 'string' || !packed.includes(NUL);
  return (row) => {
    const { id, status, createdAt } = row;
    const head = { id, status, createdAt, cells: NO_CELLS, columns };
    const values = valuesOf(row);
    const packed = pack(values);
    if (isWithoutNul(packed)) return { ...head, packed, isReplaced: false };
    const held = values.map((value) =>
      typeof value === 'string' ? value.replaceAll(NUL, '\uFFFD') : value,
    );
    return { ...head, packed: pack(held), isReplaced: true };
  };
}

/** The part of an answer that a column of this type stores; undefined if the whole answer belongs in the text column. */
function inColumn(cell: Cell, type: ColumnType, dialect: Dialect): Param | undefined {
  if (cell === null || cell === '') return null;
  if (type === 'text') return cellText(cell);
  if (typeOf(cell) !== type) return undefined;
  if (cell instanceof JsonText) return dialect.refusedJson?.test(cell.text) ? undefined : cell.text;
  // From 2^53 on, databases show a double with an exponent, or round it.
  const isPlain = typeof cell === 'number' && Math.abs(cell) < 2 ** 53;
  return isPlain ? cell : dialect.exact(decimalText(cell as number | ExactNumber));
}

/** For a number column, the double nearest to a number with more digits, so that sums work. */
function nearest(cell: Cell, type: ColumnType | null): number | null {
  if (type !== 'number' || !(typeof cell === 'number' || cell instanceof ExactNumber)) return null;
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(decimalText(cell))));
}

/** Answers without a column of their own: one JSON object by column name. Numbers keep all their digits. */
export function encodeMore(fields: readonly SqlField[], cells: Row['cells']): string | null {
  const properties = fields.flatMap(({ id, column }) => {
    const cell = cells.get(id) ?? null;
    if (cell === null || cell === '') return [];
    const text = typeof cell === 'string' ? JSON.stringify(cell) : cellText(cell);
    return [`${JSON.stringify(column)}:${text}`];
  });
  return properties.length === 0 ? null : `{${properties.join(',')}}`;
}

/** Reads the answers of a row by field ID, from the columns that exist. */
export function decodeRow(
  fields: readonly SqlField[],
  row: Readonly<Record<string, unknown>>,
): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  const text = row[MORE];
  // A person may have edited it; a text that is not JSON has no answers.
  const parsed = typeof text === 'string' ? parseJson(text) : null;
  const more = new Map(Object.entries(parsed ?? {}));
  for (const { id, column, type, textColumn, isInMore } of fields) {
    if (column === null) continue;
    const own = isInMore ? toCell(more.get(column) as Json) : decoded(row[column], type ?? 'text');
    const beside = textColumn === null ? null : decoded(row[textColumn], 'text');
    const isExact = own !== null && typeof beside === 'string' && type === 'number';
    cells.set(id, isExact ? (parseNumber(beside) ?? beside) : (own ?? beside));
  }
  return cells;
}
