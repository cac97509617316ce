import type { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/v2.js';
import type { ColumnKind, ColumnShape, HeldTable, TableShape } from './bigquery-tables.ts';

/* How REST writes tables and columns. */

/** Google's limit for what describes a column. */
const MAX_DESCRIPTION = 1_024;
/** Names of types that REST gives for those that SQL has. */
const REST_TYPES: Readonly<Record<string, ColumnKind>> = {
  INTEGER: 'INT64',
  BOOLEAN: 'BOOL',
};

/** What makes descriptions what they are to be; undefined where they are. */
export function describedTable(
  { description, schema }: bigquery_v2.Schema$Table,
  wanted: string,
  columns: Readonly<Record<string, string>>,
): bigquery_v2.Schema$Table | undefined {
  let isChanged = false;
  const fields: bigquery_v2.Schema$TableFieldSchema[] = [];
  for (const field of schema?.fields ?? []) {
    const { name } = field;
    const text = name && Object.hasOwn(columns, name) ? columns[name] : undefined;
    const isSame = text === undefined || cut(text) === (field.description ?? '');
    fields.push(isSame ? field : { ...field, description: cut(text) });
    isChanged ||= !isSame;
  }
  if (!isChanged && wanted === (description ?? '')) return undefined;
  return { description: wanted, ...(isChanged && { schema: { fields } }) };
}

/** A table as REST takes it. */
export function restTable(shape: TableShape): bigquery_v2.Schema$Table {
  return {
    description: shape.description,
    schema: { fields: shape.columns.map(restField) },
    ...(shape.partitionedBy !== undefined && {
      timePartitioning: { type: 'MONTH', field: shape.partitionedBy },
    }),
    ...(shape.clusteredBy !== undefined && { clustering: { fields: [...shape.clusteredBy] } }),
  };
}

/** A column as REST takes it. */
export const restField = ({
  name,
  type,
  isRequired = false,
  description = '',
}: ColumnShape): bigquery_v2.Schema$TableFieldSchema => ({
  name,
  type,
  mode: isRequired ? 'REQUIRED' : 'NULLABLE',
  ...(description !== '' && { description: cut(description) }),
});

/** A table as REST tells of it. */
export function heldTable(name: string, held: bigquery_v2.Schema$Table): HeldTable {
  const months = held.timePartitioning?.type === 'MONTH' ? held.timePartitioning.field : undefined;
  return {
    name,
    kind: held.type === 'VIEW' ? 'view' : 'table',
    isForeign: held.type !== 'VIEW' && held.type !== 'TABLE',
    columns: (held.schema?.fields ?? []).map((field) => ({
      name: field.name ?? '',
      // A column of people's may be of any type; only its name matters then.
      type: REST_TYPES[field.type ?? ''] ?? (field.type as ColumnKind),
      isRequired: field.mode === 'REQUIRED',
      description: field.description ?? '',
    })),
    ...(typeof months === 'string' && { partitionedBy: months }),
    ...(held.clustering?.fields && { clusteredBy: held.clustering.fields }),
    description: held.description ?? '',
    ...(typeof held.view?.query === 'string' && { sql: held.view.query }),
    rows: Number(held.numRows ?? 0),
    changedAt: held.lastModifiedTime ?? '',
  };
}

const cut = (text: string): string =>
  text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION - 1).toWellFormed()}…`;
