import { invalid } from './api-error.ts';
import type { Column } from './catalog.ts';
import { objectAt, objectsAt, textAt, type Raw } from './json-object.ts';
import { restName, scalarOf, type BqField, type BqType } from './types.ts';

const MAX_COLUMNS = 10_000;
const MAX_DESCRIPTION = 1_024;
const MAX_NAME = 300;

/** The columns that a `schema` of the REST interface describes. */
export function columnsOf(schema: Raw | undefined): Column[] {
  const columns = schema === undefined ? [] : objectsAt(schema, 'fields').map(columnOf);
  checkColumns(columns);
  return columns;
}

function columnOf(raw: Raw): Column {
  const name = textAt(raw, 'name') ?? '';
  const type = (textAt(raw, 'type') ?? '').toUpperCase();
  const mode = (textAt(raw, 'mode') ?? 'NULLABLE').toUpperCase();
  if (!['NULLABLE', 'REQUIRED', 'REPEATED'].includes(mode)) throw invalid(`Invalid mode ${mode}`);
  const fields = objectsAt(raw, 'fields').map(columnOf);
  const isStruct = type === 'RECORD' || type === 'STRUCT';
  if (isStruct) checkColumns(fields);
  const one: BqType = isStruct
    ? { kind: 'STRUCT', fields: fields.map(({ name, type }) => ({ name, type })) }
    : { kind: scalarOf(type) };
  return {
    name,
    type: mode === 'REPEATED' ? { kind: 'ARRAY', element: one } : one,
    isRequired: mode === 'REQUIRED',
    description: textAt(raw, 'description'),
    fields,
  };
}

/** Throws for names, numbers and descriptions that BigQuery does not take. */
export function checkColumns(columns: readonly Column[]): void {
  if (columns.length > MAX_COLUMNS) {
    throw invalid(`Too many columns: ${columns.length}. The limit is ${MAX_COLUMNS}.`);
  }
  const seen = new Set<string>();
  for (const { name, description } of columns) {
    checkColumnName(name);
    if (seen.has(name.toLowerCase())) {
      throw invalid(`Duplicate field names are not supported. Duplicate name: ${name}`);
    }
    seen.add(name.toLowerCase());
    checkDescription(description);
  }
}

/** Throws for a name that no column may have. */
export function checkColumnName(name: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name) || name.length > MAX_NAME) {
    throw invalid(
      `Invalid field name "${name}". Fields must contain only letters, numbers, and underscores, start with a letter or underscore, and be at most 300 characters long.`,
    );
  }
  if (
    /^(_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER|_CHANGE_SEQUENCE_NUMBER|_CHANGE_TYPE|_CHANGE_TIMESTAMP)/i.test(
      name,
    )
  ) {
    throw invalid(
      `Invalid field name "${name}". Field names are not allowed to start with a reserved prefix.`,
    );
  }
}

/** Throws for a description of a column that is too long. */
export function checkDescription(description: string | undefined): void {
  if (description !== undefined && Array.from(description).length > MAX_DESCRIPTION) {
    throw invalid(
      `The description for a field is too long. The maximum length is ${MAX_DESCRIPTION} characters.`,
    );
  }
}

/** The `schema` of the REST interface for columns. */
export const schemaOf = (columns: readonly Column[]): { fields: object[] } => ({
  fields: columns.map(fieldOf),
});

function fieldOf({ name, type, isRequired, description, fields }: Column): object {
  const one = type.kind === 'ARRAY' ? type.element : type;
  const mode = type.kind === 'ARRAY' ? 'REPEATED' : isRequired ? 'REQUIRED' : 'NULLABLE';
  return {
    name,
    type: one.kind === 'STRUCT' ? 'RECORD' : one.kind === 'ARRAY' ? 'RECORD' : restName(one.kind),
    mode,
    ...(description !== undefined && { description }),
    ...(one.kind === 'STRUCT' && { fields: fields.map(fieldOf) }),
  };
}

/** A column of a query's result, or of a table made by a statement. */
export function columnFor(field: BqField, isRequired = false, description?: string): Column {
  const one = field.type.kind === 'ARRAY' ? field.type.element : field.type;
  const fields = one.kind === 'STRUCT' ? one.fields.map((inner) => columnFor(inner)) : [];
  return { name: field.name, type: field.type, isRequired, description, fields };
}

/** A query result's schema: columns without a name are `f0_`, `f1_` …. */
export function resultSchema(fields: readonly BqField[]): { fields: object[] } {
  let unnamed = 0;
  return schemaOf(
    fields.map(({ name, type }) =>
      columnFor({ name: name === '' || name.startsWith('$') ? `f${unnamed++}_` : name, type }),
    ),
  );
}

/** The `view` of a table's resource. */
export const viewQueryOf = (raw: Raw): string | undefined => {
  const view = objectAt(raw, 'view');
  return view === undefined ? undefined : textAt(view, 'query');
};
