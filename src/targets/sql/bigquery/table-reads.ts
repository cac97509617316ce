import { canonicalTime } from '../../../mirror/canonical-time.ts';
import type { StoredRow } from '../../../mirror/target.ts';
import type { TimeSpan } from '../../../mirror/time-counts.ts';
import { answerReader } from '../answer-parts.ts';
import { isStorableId } from '../row-batch.ts';
import { standingOf } from '../table-standing.ts';
import { decodeCell, LIMITS } from './answer-values.ts';
import type { HeldTable } from './bigquery-tables.ts';
import type { ResultRow } from './bigquery-values.ts';
import type { FormState, StateField } from './form-state.ts';
import { isInMonths, type Month, monthOf, timeLiteral } from './partitions.ts';
import {
  type Candidate,
  candidateOf,
  selectCandidates,
  selectElsewhere,
} from './row-statements.ts';
import { listParameter, named } from './sql-text.ts';
import type { Store } from './store.ts';

/* Reads of a form's table. What people dropped of it is empty. */

/** A form's table as it is, and the state that tells of it. */
export interface HeldForm {
  readonly state: FormState;
  readonly table: string;
  readonly relation: string;
  readonly present: ReadonlySet<string>;
}

/** A form's table as it is; undefined where there is none, or not ours any more. */
export function heldForm(
  store: Store,
  state: FormState,
  table: HeldTable | undefined,
): HeldForm | undefined {
  const columns = columnNames(table);
  if (state.table === null || standingOf(columns) !== 'ours') return undefined;
  return {
    state,
    table: state.table,
    relation: store.relation(state.table),
    present: new Set(columns),
  };
}

/** The columns of what stands under the name of a form's table; undefined where that is no table that can be written to. */
export const columnNames = (table: HeldTable | undefined): string[] | undefined =>
  table === undefined || table.kind !== 'table' || table.isForeign
    ? undefined
    : table.columns.map(({ name }) => name);

/** IDs of one page, which are handed out in chunks. */
const IDS_A_PAGE = 50_000;
/** IDs in one chunk. */
const IDS_A_CHUNK = 5_000;

/** IDs that a table can hold. */
export const storableIds = (ids: readonly string[]): string[] => [
  ...new Set(ids.filter((id) => isStorableId(id, LIMITS))),
];

/** Condition: the row is not marked deleted. Without the column none is. */
export const isLive = ({ present }: HeldForm): string =>
  present.has('_deleted_at') ? 't._deleted_at IS NULL' : 'TRUE';

const orNull = ({ present }: HeldForm, column: string, type: string): string =>
  present.has(column) ? `t.${column}` : `CAST(NULL AS ${type})`;

/** What is stored under these IDs, wherever it is: by ID. Rows are looked for where `months` say, then elsewhere. */
export async function findCandidates(
  store: Store,
  held: HeldForm,
  ids: readonly string[],
  months: ReadonlySet<Month>,
): Promise<Map<string, Candidate>> {
  const found = new Map<string, Candidate>();
  if (ids.length === 0) return found;
  const read = async (some: readonly string[], where: ReadonlySet<Month>): Promise<void> => {
    const { sql, parameters } = selectCandidates(held.relation, some, where);
    for (const row of await store.query({ sql, parameters })) {
      const candidate = candidateOf(row);
      found.set(candidate.id, candidate);
    }
  };
  await read(ids, months);
  const rest = ids.filter((id) => !found.has(id));
  // Dates never change, as far as the source keeps to that; where it doesn't, no row is to be there twice.
  if (rest.length === 0 || held.state.months.every((month) => months.has(month))) return found;
  const elsewhere = await store.query(selectElsewhere(held.relation, rest, months));
  if (elsewhere.length === 0) return found;
  const others = new Set(elsewhere.map((row) => monthOf(row['created_at'] ?? null)));
  await read(
    elsewhere.map((row) => row['id'] ?? ''),
    others,
  );
  return found;
}

/** Every row with one of these IDs, wherever it is dated: people may have doubled some. */
export async function locate(
  store: Store,
  held: HeldForm,
  ids: readonly string[],
): Promise<Candidate[]> {
  const known = storableIds(ids);
  if (known.length === 0) return [];
  const columns = [
    't.id',
    `${orNull(held, 'status', 'STRING')} AS status`,
    `${orNull(held, 'created_at', 'TIMESTAMP')} AS created_at`,
    'CAST(NULL AS STRING) AS _hash',
    `NOT (${isLive(held)}) AS is_deleted`,
  ];
  const rows = await store.query({
    sql: `SELECT ${columns.join(', ')} FROM ${held.relation} AS t WHERE t.id IN UNNEST(@ids)`,
    parameters: { ids: listParameter(known) },
  });
  return rows.map(candidateOf);
}

/** The IDs of rows, each once. */
export const idsOf = (rows: readonly Candidate[]): string[] => [
  ...new Set(rows.map(({ id }) => id)),
];

/** The rows with these IDs, with their answers; of those in these partitions. */
export async function readRows(
  store: Store,
  held: HeldForm,
  ids: readonly string[],
  months: ReadonlySet<Month>,
): Promise<Map<string, StoredRow>> {
  if (ids.length === 0) return new Map();
  const { fields } = held.state;
  const answers = answersOf(held, fields);
  const rows = await store.query({
    sql: `SELECT ${[...rowColumns(held), ...answers.columns].join(', ')} FROM ${held.relation} AS t
      WHERE t.id IN UNNEST(@ids) AND ${isInMonths(months, 't.created_at')}`,
    parameters: { ids: listParameter(ids) },
  });
  const found = new Map<string, StoredRow>();
  for (const row of rows) {
    const cells = answers.decode(row);
    const id = row['id'] ?? '';
    found.set(id, {
      id,
      status: row['status'] ?? '',
      createdAt: row['created_at'] ?? null,
      deletedAt: row['_deleted_at'] ?? null,
      cells: new Map(fields.map((field, at) => [field.id, cells[at] ?? null])),
      ...(found.has(id) && { isDoubled: true }),
    });
  }
  return found;
}

/** The columns of a row besides its answers. */
export const rowColumns = (held: HeldForm): string[] => [
  't.id',
  `${orNull(held, 'status', 'STRING')} AS status`,
  `${orNull(held, 'created_at', 'TIMESTAMP')} AS created_at`,
  `${orNull(held, '_deleted_at', 'TIMESTAMP')} AS _deleted_at`,
];

/** How answers to these fields are read: a SELECT list, and what makes cells of a row. */
export function answersOf({ present }: HeldForm, fields: readonly StateField[]) {
  const typed = fields.filter(({ type }) => type !== null);
  const reader = answerReader(typed, present, { decodeCell });
  const places = new Map(typed.map((field, at) => [field, at]));
  return {
    columns: reader.names.map((name) => `t.${named(name)}`),
    decode(row: ResultRow) {
      const cells = reader.decode(reader.names.map((name) => row[name] ?? null));
      return fields.map((field) => {
        const at = places.get(field);
        return at === undefined ? null : (cells[at] ?? null);
      });
    },
  };
}

/** IDs of rows that satisfy a condition, in chunks, in their order: one query, whose pages are fetched as they are asked for. */
export async function* idChunks(
  store: Store,
  held: HeldForm,
  condition: string,
  parameters: Parameters<Store['query']>[0]['parameters'] = {},
): AsyncGenerator<string[]> {
  const sql = `SELECT t.id FROM ${held.relation} AS t WHERE ${condition} ORDER BY t.id`;
  const result = await store.open({ sql, parameters }, IDS_A_PAGE);
  for await (const page of result.pages()) {
    const ids = page.map((row) => row['id'] ?? '');
    for (let at = 0; at < ids.length; at += IDS_A_CHUNK) yield ids.slice(at, at + IDS_A_CHUNK);
  }
}

/** Condition: the row is dated, within the span. */
export function isWithinSpan({ from, to }: TimeSpan): string {
  const conditions = ['t.created_at IS NOT NULL'];
  if (from !== null) conditions.push(`t.created_at >= ${timeLiteral(from)}`);
  if (to !== null) conditions.push(`t.created_at < ${timeLiteral(to)}`);
  return conditions.join(' AND ');
}

/** Rows by status and whether they are marked deleted, at one instant. */
export interface StatusGroup {
  readonly status: string;
  readonly isDeleted: boolean;
  readonly rows: number;
  /** In which they are dated. */
  readonly months: readonly Month[];
}

/** Counts all rows. */
export async function countGroups(store: Store, held: HeldForm): Promise<StatusGroup[]> {
  const month = held.present.has('created_at')
    ? `COALESCE(FORMAT_TIMESTAMP('%E4Y-%m', t.created_at), '')`
    : `''`;
  const rows = await store.query({
    sql: `SELECT ${held.present.has('status') ? `COALESCE(t.status, '')` : `''`} AS status, NOT (${isLive(held)}) AS is_deleted, COUNT(*) AS n,
        STRING_AGG(DISTINCT ${month}, ' ') AS months
      FROM ${held.relation} AS t GROUP BY 1, 2`,
    parameters: {},
  });
  return rows.map((row) => ({
    status: row['status'] ?? '',
    isDeleted: row['is_deleted'] === 'true',
    rows: Number(row['n']),
    months: (row['months'] ?? '').split(' '),
  }));
}

/** The time in a column of a result. */
export const timeOf = (row: ResultRow, column: string): string | null => {
  const text = row[column] ?? null;
  return text === null ? null : canonicalTime(text);
};
