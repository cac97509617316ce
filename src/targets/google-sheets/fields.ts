import { safeText } from '../../base/errors.ts';
import { isBlank } from '../../mirror/cells.ts';
import type { StoredField } from '../../mirror/port.ts';
import type { Row } from '../../mirror/types.ts';
import { type ColumnKey, fieldKey } from './api/metadata.ts';
import type { FieldContent } from './row-values.ts';
import { OWN, OWN_COLUMNS } from './own-columns.ts';

/** A field as a spreadsheet stores it. Metadata identifies its column, which exists from its first answer on. */
export interface SheetField extends StoredField {
  readonly column: ColumnKey | null;
  /** The header that was written last. Another one in the sheet is a person's. Null before there is a column. */
  readonly header: string | null;
  /** In a number column, digits that a cell stores as text are a number. */
  readonly content: FieldContent;
}

/** A field without a column. */
export const NEW_FIELD = { column: null, header: null, content: 'none' } as const;

/** The fields after some rows are stored: those with a first answer get a column. `selected`: IDs of the fields that are stored. */
export function withAnswers(
  fields: readonly SheetField[],
  rows: readonly Row[],
  selected: ReadonlySet<string>,
): SheetField[] {
  return fields.map((field) => {
    if (!selected.has(field.id)) return field;
    const answers = rows.flatMap(({ cells }) => cells.get(field.id) ?? []);
    const given = answers.filter((cell) => !isBlank(cell));
    if (given.length === 0) return field;
    const isText = field.content === 'mixed' || given.some((cell) => typeof cell === 'string');
    const content = isText ? 'mixed' : 'numbers';
    return { ...field, column: fieldKey(field.id), isFilled: true, content };
  });
}

/**
 * The fields after people removed columns, or brought them back. `selected`: IDs of the fields that are stored; their columns are
 * made again, and those of other fields are not. `columns`: those of the tab.
 */
export const withoutRemoved = (
  fields: readonly SheetField[],
  selected: ReadonlySet<string>,
  columns: ReadonlyMap<ColumnKey, number>,
): SheetField[] =>
  fields.map((field) => {
    const column = fieldKey(field.id);
    const isThere = columns.has(column);
    if (selected.has(field.id) || isThere === (field.column !== null)) return field;
    return isThere
      ? { ...field, column, isFilled: true }
      : { ...field, ...NEW_FIELD, isFilled: false };
  });

/**
 * The headers that columns should have, fields in the order of the form. Equal labels are equal headers, because metadata
 * identifies columns.
 */
export function headersOf(fields: readonly SheetField[]): Map<ColumnKey, string> {
  const headers = new Map<ColumnKey, string>(OWN_COLUMNS.map((key) => [key, OWN[key].header]));
  for (const field of fields.toSorted((a, b) => a.position - b.position))
    if (field.column !== null) headers.set(field.column, headerText(field));
  return headers;
}

/** Columns whose header is not the one that they should have. */
export const waitingHeaders = (fields: readonly SheetField[]): ColumnKey[] =>
  fields.flatMap((field) =>
    field.column !== null && field.header !== headerText(field) ? [field.column] : [],
  );

/** Longest label written into a header cell. */
const MAX_HEADER = 300;
/** How many characters of a field's ID distinguish it from others if it has no label. */
const ID_END = 6;

/** A field's label as a header cell: one line of limited length. A question that only answers show has only its ID as a label. */
export function headerText({ id, label }: SheetField): string {
  const line = safeText(label.replace(/\s*[\r\n]+\s*/g, ' ').trim(), MAX_HEADER);
  return line === '' || line === id ? `Unnamed question (…${id.slice(-ID_END)})` : line;
}
