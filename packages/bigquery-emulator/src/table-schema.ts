import { invalid, notDone } from './api-error.ts';
import type { Column } from './catalog.ts';
import { objectsAt, textAt, type Raw } from './json-object.ts';
import { restName, scalarOf, type BqField, type BqType } from './types.ts';

const MAX_COLUMNS = 10_000;
const MAX_NAME = 300;

/** The columns of a `schema` in the REST interface. */
export function columnsOf(schema: Raw): Column[] {
  const columns = objectsAt(schema, 'fields').map((raw) =>
    scalarColumn(textAt(raw, 'name') ?? '', { kind: scalarOf(textAt(raw, 'type') ?? '') }),
  );
  checkColumns(columns);
  return columns;
}

/** A column of a table or view. */
export function scalarColumn(name: string, type: BqType, isRequired = false): Column {
  if (type.kind === 'ARRAY' || type.kind === 'STRUCT') throw notDone(`columns of ${type.kind}`);
  return { name, type, isRequired };
}

/** Throws for column names and numbers of columns that BigQuery refuses. */
export function checkColumns(columns: readonly Column[]): void {
  if (columns.length > MAX_COLUMNS) {
    throw invalid(`Too many columns: ${columns.length}. The limit is ${MAX_COLUMNS}.`);
  }
  const seen = new Set<string>();
  for (const { name } of columns) {
    checkColumnName(name);
    if (seen.has(name.toLowerCase())) {
      throw invalid(`Duplicate field names are not supported. Duplicate name: ${name}`);
    }
    seen.add(name.toLowerCase());
  }
}

function checkColumnName(name: string): void {
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

/** The `schema` of the REST interface for columns. */
export const schemaOf = (columns: readonly Column[]): { fields: object[] } => ({
  fields: columns.map(({ name, type, isRequired }) => ({
    name,
    type: restName(type),
    mode: isRequired ? 'REQUIRED' : 'NULLABLE',
  })),
});

/** A query result's schema: columns without a name are `f0_`, `f1_` …. */
export function resultSchema(fields: readonly BqField[]): { fields: object[] } {
  let unnamed = 0;
  return schemaOf(
    fields.map(({ name, type }) =>
      scalarColumn(name === '' || name.startsWith('$') ? `f${unnamed++}_` : name, type),
    ),
  );
}
