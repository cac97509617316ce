import { ApiError, notDone } from './api-error.ts';
import type { Catalog, Column, Dataset, Table } from './catalog.ts';
import { quoted, textLiteral, type Relation } from './emit.ts';
import type { Defaults } from './name-resolution.ts';
import { duckType, sqlName, type BqType } from './types.ts';

/** A view of INFORMATION_SCHEMA, its rows written out. */
export interface InformationTable {
  readonly columns: readonly { readonly name: string; readonly type: BqType }[];
  readonly relation: Relation;
}

const TEXT: BqType = { kind: 'STRING' };
const WHOLE: BqType = { kind: 'INT64' };
const MOMENT: BqType = { kind: 'TIMESTAMP' };

type Cells = Readonly<Record<string, string | number | null>>;

interface Shape {
  readonly columns: Readonly<Record<string, BqType>>;
  rows(dataset: Dataset): Cells[];
}

const SHAPES: Readonly<Record<string, Shape>> = {
  TABLES: {
    columns: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      table_type: TEXT,
      is_insertable_into: TEXT,
      is_typed: TEXT,
      creation_time: MOMENT,
      ddl: TEXT,
    },
    rows: (dataset) =>
      tablesOf(dataset).map((table) =>
        rowOf(table, {
          table_type: table.kind === 'VIEW' ? 'VIEW' : 'BASE TABLE',
          is_insertable_into: table.kind === 'VIEW' ? 'NO' : 'YES',
          is_typed: 'NO',
          creation_time: table.createdMs,
          ddl: null,
        }),
      ),
  },
  VIEWS: {
    columns: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      view_definition: TEXT,
      check_option: TEXT,
      use_standard_sql: TEXT,
    },
    rows: (dataset) =>
      tablesOf(dataset)
        .filter(({ kind }) => kind === 'VIEW')
        .map((table) =>
          rowOf(table, {
            view_definition: table.viewQuery ?? '',
            check_option: null,
            use_standard_sql: 'YES',
          }),
        ),
  },
  COLUMNS: {
    columns: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      column_name: TEXT,
      ordinal_position: WHOLE,
      is_nullable: TEXT,
      data_type: TEXT,
      is_generated: TEXT,
      is_hidden: TEXT,
      is_system_defined: TEXT,
      is_partitioning_column: TEXT,
      clustering_ordinal_position: WHOLE,
      column_default: TEXT,
    },
    rows: (dataset) =>
      tablesOf(dataset).flatMap((table) =>
        table.columns.map((column, index) =>
          rowOf(table, {
            column_name: column.name,
            ordinal_position: index + 1,
            is_nullable: column.isRequired ? 'NO' : 'YES',
            data_type: sqlName(column.type),
            is_generated: 'NEVER',
            is_hidden: 'NO',
            is_system_defined: 'NO',
            is_partitioning_column: table.partitioning?.field === column.name ? 'YES' : 'NO',
            clustering_ordinal_position: ordinal(table.clustering, column.name),
            column_default: 'NULL',
          }),
        ),
      ),
  },
  COLUMN_FIELD_PATHS: {
    columns: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      column_name: TEXT,
      field_path: TEXT,
      data_type: TEXT,
      description: TEXT,
    },
    rows: (dataset) =>
      tablesOf(dataset).flatMap((table) =>
        table.columns.flatMap((column) => fieldPaths(table, column.name, column, column.name)),
      ),
  },
  TABLE_OPTIONS: {
    columns: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      option_name: TEXT,
      option_type: TEXT,
      option_value: TEXT,
    },
    rows: (dataset) =>
      tablesOf(dataset)
        .filter(({ description }) => description !== undefined)
        .map((table) =>
          rowOf(table, {
            option_name: 'description',
            option_type: 'STRING',
            option_value: JSON.stringify(table.description),
          }),
        ),
  },
};

const tablesOf = (dataset: Dataset): Table[] => [...dataset.tables.values()];

/** A row about a table, which it names first. */
const rowOf = ({ project, dataset, name }: Table, cells: Cells): Cells => ({
  table_catalog: project,
  table_schema: dataset,
  table_name: name,
  ...cells,
});

function ordinal(clustering: readonly string[], name: string): number | null {
  const index = clustering.indexOf(name);
  return index < 0 ? null : index + 1;
}

function fieldPaths(table: Table, column: string, field: Column, path: string): Cells[] {
  const own = rowOf(table, {
    column_name: column,
    field_path: path,
    data_type: sqlName(field.type),
    description: field.description ?? null,
  });
  return [
    own,
    ...field.fields.flatMap((inner) => fieldPaths(table, column, inner, `${path}.${inner.name}`)),
  ];
}

/** The view of INFORMATION_SCHEMA that a path names; undefined when it names something else. */
export function informationSchema(
  parts: readonly string[],
  catalog: Catalog,
  defaults: Defaults,
): InformationTable | undefined {
  const at = parts.findIndex((part) => part.toUpperCase() === 'INFORMATION_SCHEMA');
  if (at < 0) return undefined;
  const view = parts
    .slice(at + 1)
    .join('.')
    .toUpperCase();
  const shape = SHAPES[view];
  if (shape === undefined) throw notDone(`INFORMATION_SCHEMA.${view}`);
  const dataset = parts[at - 1] ?? defaults.dataset?.name;
  if (dataset === undefined || dataset.startsWith('region-')) {
    throw notDone('INFORMATION_SCHEMA of a project or region');
  }
  const project =
    parts.slice(0, Math.max(0, at - 1)).join('.') || defaults.dataset?.project || defaults.project;
  const found = catalog.findDataset(project, dataset);
  if (found === undefined || found.location !== defaults.location) {
    throw new ApiError(
      'notFound',
      `Not found: Dataset ${project}:${dataset} was not found in location ${defaults.location}`,
    );
  }
  const columns = Object.entries(shape.columns).map(([name, type]) => ({ name, type }));
  const names = columns.map(({ name }) => name);
  const selects = shape.rows(found).map((cells) => {
    const items = columns.map(({ name, type }) => cellSql(cells[name] ?? null, type));
    return `(${items.join(', ')})`;
  });
  const nothing = `SELECT ${columns.map(({ name, type }) => `CAST(NULL AS ${duckType(type)}) AS ${quoted(name)}`).join(', ')} WHERE FALSE`;
  const sql =
    selects.length === 0
      ? `(${nothing})`
      : `(SELECT * FROM (VALUES ${selects.join(', ')}) AS v(${names.map(quoted).join(', ')}))`;
  return {
    columns,
    relation: { sql, columns: names, isTable: false },
  };
}

function cellSql(value: string | number | null, type: BqType): string {
  if (value === null) return `CAST(NULL AS ${duckType(type)})`;
  if (type.kind === 'TIMESTAMP') return `make_timestamp(CAST(${Number(value) * 1_000} AS BIGINT))`;
  return typeof value === 'number' ? `CAST(${value} AS BIGINT)` : textLiteral(value);
}
