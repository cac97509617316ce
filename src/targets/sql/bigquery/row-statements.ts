import type { AnswerPart, FieldColumn } from '../field-column.ts';
import { partsOf } from '../answer-parts.ts';
import type { StorableRow } from '../dialect.ts';
import { partText } from './answer-values.ts';
import { isInMonths, isOutsideMonths, type Month } from './partitions.ts';
import { fingerprintOf } from './row-fingerprint.ts';
import { listParameter, named, type Statement, textParameter, timeParameter } from './sql-text.ts';

/* The statements that read and write the rows of a form. Each names the partitions that it touches. */

/** What is known of a stored row without its answers. */
export interface Candidate {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string | null;
  readonly hash: string | null;
  readonly isDeleted: boolean;
}

/** Reads what is known of rows with these IDs, of those in these partitions. */
export function selectCandidates(
  relation: string,
  ids: readonly string[],
  months: ReadonlySet<Month> | 'all',
): Statement {
  const where = months === 'all' ? '' : ` AND ${isInMonths(months, 't.created_at')}`;
  return {
    sql: `SELECT t.id, t.status, t.created_at, t._hash, (t._deleted_at IS NOT NULL) AS is_deleted FROM ${relation} AS t
     WHERE t.id IN UNNEST(@ids)${where}`,
    parameters: { ids: listParameter(ids) },
  };
}

/** Reads a candidate from a row of {@link selectCandidates}. */
export const candidateOf = (row: Readonly<Record<string, string | null>>): Candidate => ({
  id: row['id'] ?? '',
  status: row['status'] ?? '',
  createdAt: row['created_at'] ?? null,
  hash: row['_hash'] ?? null,
  isDeleted: row['is_deleted'] === 'true',
});

/** Finds rows with these IDs outside of these partitions. */
export const selectElsewhere = (
  relation: string,
  ids: readonly string[],
  months: ReadonlySet<Month>,
): Statement => ({
  sql: `SELECT t.id, t.created_at FROM ${relation} AS t
   WHERE t.id IN UNNEST(@ids) AND ${isOutsideMonths(months, 't.created_at')}`,
  parameters: { ids: listParameter(ids) },
});

/** A row to be written. */
export interface WrittenRow {
  readonly row: StorableRow;
  readonly hash: string;
  /** Only its hash is other than what is stored: that is no change. */
  readonly isSame?: boolean;
}

/** The columns that are written of these fields: those that exist, as a field without any answer has none. */
export const writtenParts = (fields: readonly FieldColumn[]): AnswerPart[] =>
  partsOf(fields).filter(({ field }) => field.type !== null);

/** Rows as JSON texts, each the element of a list that a statement takes apart again. `fields`: in the order of the cells. */
export function rowTexts(
  fields: readonly FieldColumn[],
  rows: readonly WrittenRow[],
): readonly string[] {
  const places = new Map(fields.map((field, at) => [field, at]));
  const parts = writtenParts(fields).map((part) => [part, places.get(part.field) ?? -1] as const);
  return rows.map(({ row, hash, isSame }) =>
    JSON.stringify({
      i: row.id,
      s: row.status,
      c: row.createdAt,
      h: hash,
      ...(isSame === true && { k: '1' }),
      v: parts.map(([part, at]) => partText(part, row.cells[at] ?? null)),
    }),
  );
}

/** What is written, and where. */
export interface RowsToWrite {
  readonly table: string;
  readonly relation: string;
  readonly fields: readonly FieldColumn[];
  readonly rows: readonly WrittenRow[];
  /** The partitions of the rows as they are and were. */
  readonly months: ReadonlySet<Month>;
  readonly at: string;
}

/** Inserts rows that are new: a MERGE that can't change any other, so that what it touches is not billed. */
export function insertRows(what: RowsToWrite): Statement {
  return {
    sql: `${mergeHead(what, 'inserted')}
     WHEN NOT MATCHED BY TARGET THEN ${insertClause(what)}`,
    parameters: {
      inserted: textParameter(`[${rowTexts(what.fields, what.rows).join(',')}]`),
      at: timeParameter(what.at),
    },
    mutates: what.table,
  };
}

/** Writes rows that differ from what is stored, and takes the mark of deletion away; one that is gone meanwhile is inserted. */
export function updateRows(what: RowsToWrite): Statement {
  const changes = [
    'status = s.status',
    'created_at = s.created_at',
    ...writtenParts(what.fields).map(({ name }, at) => `${named(name)} = s.v${at}`),
    '_changed_at = IF(s.is_same, _t._changed_at, @at)',
    '_deleted_at = NULL',
    '_hash = s._hash',
  ];
  return {
    sql: `${mergeHead(what, 'updated')}
     WHEN MATCHED THEN UPDATE SET ${changes.join(', ')}
     WHEN NOT MATCHED BY TARGET THEN ${insertClause(what)}`,
    parameters: {
      updated: textParameter(`[${rowTexts(what.fields, what.rows).join(',')}]`),
      at: timeParameter(what.at),
    },
    mutates: what.table,
  };
}

function mergeHead({ relation, fields, months }: RowsToWrite, parameter: string): string {
  const values = writtenParts(fields).map((part, at) => `${valueOf(part, at)} AS v${at}`);
  const columns = [
    `JSON_VALUE(r, '$.i') AS id`,
    `JSON_VALUE(r, '$.s') AS status`,
    `CAST(JSON_VALUE(r, '$.c') AS TIMESTAMP) AS created_at`,
    `JSON_VALUE(r, '$.h') AS answers_hash`,
    `(JSON_VALUE(r, '$.k') IS NOT NULL) AS is_same`,
    ...values,
  ];
  const fingerprint = fingerprintOf(writtenParts(fields), (_part, at) => `w.v${at}`);
  // `UPDATE SET t = …` would mean the row: no field's column begins with an underscore.
  return `MERGE ${relation} AS _t USING (
     SELECT w.*, CONCAT(w.answers_hash, '.', ${fingerprint}) AS _hash
     FROM (SELECT ${columns.join(', ')} FROM UNNEST(JSON_QUERY_ARRAY(@${parameter})) AS r) AS w) AS s
     ON _t.id = s.id AND ${isInMonths(months, '_t.created_at')}`;
}

function valueOf({ type }: AnswerPart, at: number): string {
  const text = `JSON_VALUE(r, '$.v[${at}]')`;
  if (type === 'number') return `CAST(${text} AS NUMERIC)`;
  // Otherwise BigQuery refuses the whole statement for a number that it would write with other digits, such as 0.55587577846274.
  return type === 'json' ? `PARSE_JSON(${text}, wide_number_mode => 'round')` : text;
}

function insertClause({ fields }: RowsToWrite): string {
  const parts = writtenParts(fields);
  const columns = ['id', 'status', 'created_at', ...parts.map(({ name }) => named(name))];
  const values = ['s.id', 's.status', 's.created_at', ...parts.map((_, at) => `s.v${at}`)];
  const own = ['_first_seen_at', '_changed_at', '_hash'];
  return `INSERT (${[...columns, ...own].join(', ')}) VALUES (${[...values, '@at', '@at', 's._hash'].join(', ')})`;
}

/** Rows of a table that are known by ID and partition. */
export interface KnownRows {
  readonly table: string;
  readonly relation: string;
  readonly ids: readonly string[];
  readonly months: ReadonlySet<Month>;
}

const whichRows = ({ months }: KnownRows, ids: string): string =>
  `t.id IN UNNEST(@${ids}) AND ${isInMonths(months, 't.created_at')}`;

/** Marks rows deleted that are not yet. */
export const markRows = (rows: KnownRows, deletedAt: string, at: string): Statement => ({
  sql: `UPDATE ${rows.relation} AS t SET _deleted_at = @deleted_at, _changed_at = @at
   WHERE ${whichRows(rows, 'marked')} AND t._deleted_at IS NULL`,
  parameters: {
    marked: listParameter(rows.ids),
    deleted_at: timeParameter(deletedAt),
    at: timeParameter(at),
  },
  mutates: rows.table,
});

/** Gives rows statuses. */
export const setStatuses = (
  rows: KnownRows,
  statuses: ReadonlyMap<string, string>,
  at: string,
): Statement => ({
  sql: `MERGE ${rows.relation} AS t USING (
     SELECT JSON_VALUE(r, '$.i') AS id, JSON_VALUE(r, '$.s') AS status FROM UNNEST(JSON_QUERY_ARRAY(@given)) AS r) AS s
   ON t.id = s.id AND ${isInMonths(rows.months, 't.created_at')}
   WHEN MATCHED THEN UPDATE SET status = s.status, _changed_at = @at`,
  parameters: {
    given: textParameter(
      JSON.stringify(rows.ids.map((id) => ({ i: id, s: statuses.get(id) ?? '' }))),
    ),
    at: timeParameter(at),
  },
  mutates: rows.table,
});

/** Removes rows. */
export const deleteRows = (rows: KnownRows): Statement => ({
  sql: `DELETE FROM ${rows.relation} AS t WHERE ${whichRows(rows, 'erased_rows')}`,
  parameters: { erased_rows: listParameter(rows.ids) },
  mutates: rows.table,
});

/** Removes the answers in these columns, of the rows that hold any. */
export function emptyColumns(
  { table, relation }: Pick<KnownRows, 'table' | 'relation'>,
  columns: readonly string[],
  at: string,
): Statement {
  const changes = columns.map((name) => `${named(name)} = NULL`);
  const conditions = columns.map((name) => `${named(name)} IS NOT NULL`);
  return {
    // What a hash tells of an answer is not to stay either (L18).
    sql: `UPDATE ${relation} AS _t SET ${changes.join(', ')}, _hash = NULL, _changed_at = @at
     WHERE ${conditions.join(' OR ')}`,
    parameters: { at: timeParameter(at) },
    mutates: table,
  };
}
