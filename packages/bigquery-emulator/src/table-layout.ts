import { invalid } from './api-error.ts';
import type { Column, TimePartitioning } from './catalog.ts';
import { restName, type ScalarKind } from './types.ts';

/** How the rows of a table are to be kept: what REST and DDL alike are held to. */
export interface Layout {
  readonly columns: readonly Column[];
  readonly partitioning: TimePartitioning | undefined;
  readonly clustering: readonly string[];
}

const MAX_CLUSTERS = 4;
/** BIGNUMERIC, GEOGRAPHY and RANGE besides, of which no column can be made here. */
const CLUSTERED: ReadonlySet<string> = new Set<ScalarKind>([
  'STRING',
  'INT64',
  'NUMERIC',
  'BOOL',
  'TIMESTAMP',
  'DATETIME',
  'DATE',
]);
const PARTITIONED: ReadonlySet<string> = new Set<ScalarKind>(['TIMESTAMP', 'DATE', 'DATETIME']);

/** Throws for columns by which BigQuery neither partitions nor clusters. */
export function checkLayout({ columns, partitioning, clustering }: Layout): void {
  const find = (wanted: string, use: string): Column => {
    const column = columns.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
    if (column !== undefined) return column;
    // Fields of a structure too: only whole columns count.
    throw invalid(
      `The field specified for ${use} cannot be found in the schema. Invalid field: ${wanted}.`,
    );
  };
  if (partitioning !== undefined) {
    const { name, type } = find(partitioning.field, 'partitioning');
    if (type.kind === 'ARRAY') {
      throw invalid(`Field ${name} has mode REPEATED, which is not supported for partitioning.`);
    }
    if (!PARTITIONED.has(type.kind)) {
      throw invalid(
        `The field specified for partitioning can only be of type TIMESTAMP, DATE or DATETIME. The type found is: ${shown(type.kind)}.`,
      );
    }
  }
  if (clustering.length > MAX_CLUSTERS) {
    throw invalid(
      `Too many clustering fields: ${clustering.length}. The limit is ${MAX_CLUSTERS}.`,
    );
  }
  const seen = new Set<string>();
  for (const field of clustering) {
    const { name, type } = find(field, 'clustering');
    if (type.kind === 'ARRAY') {
      throw invalid(`Field ${name} has mode REPEATED, which is not supported for clustering.`);
    }
    if (!CLUSTERED.has(type.kind)) {
      throw invalid(
        `Field ${name} has type ${shown(type.kind)}, which is not supported for clustering.`,
      );
    }
    if (seen.has(name.toLowerCase())) throw invalid(`Duplicate clustering field: ${name}.`);
    seen.add(name.toLowerCase());
  }
}

const shown = (kind: ScalarKind | 'STRUCT'): string =>
  kind === 'STRUCT' ? 'RECORD' : restName(kind);
