import { canonicalTime } from '../../mirror/canonical-time.ts';
import type { StatusCounts } from '../../mirror/status-counts.ts';
import type { TimeCount, TimeGrain, TimeSpan } from '../../mirror/time-counts.ts';
import type { SqlDialect } from './dialect.ts';
import { numberOf, type SqlSession, type SqlValue, textOf } from './sql-session.ts';

/*
 * Counts of a form's live rows. They are asked for at each pass, of a million rows too, so each comes from an index alone:
 * statuses from that on status and ID, dates from that on date and status.
 */

/** A form's table, and those of its columns that are there. People may have dropped some. */
export interface CountedTable {
  readonly table: string;
  readonly present: ReadonlySet<string>;
}

/** Condition: the row is not marked deleted. Without the column none is. */
const isLive = (present: ReadonlySet<string>): string =>
  present.has('_deleted_at') ? '_deleted_at IS NULL' : '1 = 1';

/** Live rows by status; without the column all have an empty one. */
export async function countStatuses(
  session: SqlSession,
  dialect: SqlDialect,
  { table, present }: CountedTable,
): Promise<StatusCounts> {
  const rows = await session.query(
    `SELECT ${statusOf(present)} AS status, count(*) AS n FROM ${dialect.relation(table)}
     WHERE ${isLive(present)} GROUP BY 1`,
  );
  return new Map(rows.map((row) => [textOf(row, 'status'), numberOf(row, 'n')]));
}

/** Live rows within the span by date and status, in order of time; without the column no row has a date. */
export async function countDates(
  session: SqlSession,
  dialect: SqlDialect,
  { table, present }: CountedTable,
  { span, grain }: { readonly span: TimeSpan; readonly grain: TimeGrain },
): Promise<TimeCount[]> {
  if (!present.has('created_at')) return [];
  const bounds = within(dialect, span, 1);
  const rows = await session.query(
    `SELECT ${dialect.grainText('start')} AS start, status, n FROM (
       SELECT ${dialect.grainOf('created_at', grain)} AS start, ${statusOf(present)} AS status, count(*) AS n
       FROM ${dialect.relation(table)} WHERE ${isLive(present)} AND ${bounds.condition} GROUP BY 1, 2) AS c
     ORDER BY start, status`,
    bounds.params,
  );
  return rows.flatMap((row) => {
    // Whatever else people wrote into a column of texts is no date.
    const start = canonicalTime(textOf(row, 'start'));
    return start === null
      ? []
      : [{ start, status: textOf(row, 'status'), rows: numberOf(row, 'n') }];
  });
}

/** A row's ID and its date as {@link SqlDialect.timeText} gives it. */
export interface DatedId {
  readonly id: string;
  readonly createdAt: string;
}

/** Which IDs to read: of rows within the span and, with `status`, of that status; those behind `after`. */
export interface DatedIdsQuery {
  readonly span: TimeSpan;
  readonly status: string | undefined;
  readonly after: DatedId | undefined;
  readonly limit: number;
}

/**
 * Whether it is a date: people may have written anything into a column of texts. Asked of the day alone, as {@link countDates} does:
 * where there are as many rows as were met, their IDs are not read, so that both must speak of the same ones.
 */
export const isDated = ({ createdAt }: DatedId): boolean =>
  canonicalTime(createdAt.slice(0, '2026-01-31'.length)) !== null;

/** IDs of live rows in order of their dates, a page of at most `limit`; not all are {@link isDated}. */
export async function readDatedIds(
  session: SqlSession,
  dialect: SqlDialect,
  { table, present }: CountedTable,
  { span, status, after, limit }: DatedIdsQuery,
): Promise<DatedId[]> {
  if (!present.has('created_at')) return [];
  const bounds = within(dialect, span, 1);
  const params: SqlValue[] = [...bounds.params];
  const conditions = [isLive(present), bounds.condition];
  if (status !== undefined) {
    params.push(status);
    // Not by the index on statuses, which would read all dates of one.
    conditions.push(`coalesce(${statusOf(present)}, '') = $${params.length}`);
  }
  if (after !== undefined) {
    params.push(dialect.timeValue(after.createdAt), after.id);
    const behind = [`$${params.length - 1}`, `$${params.length}`];
    conditions.push(dialect.isBehind(['created_at', 'id'], behind));
  }
  const rows = await session.query(
    `SELECT id, ${dialect.timeText('created_at')} AS dated FROM ${dialect.relation(table)}
     WHERE ${conditions.join(' AND ')} ORDER BY created_at, id LIMIT ${limit}`,
    params,
  );
  return rows.map((row) => ({ id: textOf(row, 'id'), createdAt: textOf(row, 'dated') }));
}

/** Condition: the row is dated, within the span; `first` numbers the first of its parameters. */
function within(
  dialect: SqlDialect,
  { from, to }: TimeSpan,
  first: number,
): { readonly condition: string; readonly params: readonly string[] } {
  const params: string[] = [];
  const conditions = ['created_at IS NOT NULL'];
  for (const [bound, operator] of [
    [from, '>='],
    [to, '<'],
  ] as const) {
    if (bound === null) continue;
    conditions.push(`created_at ${operator} $${first + params.length}`);
    params.push(dialect.timeBound(bound));
  }
  return { condition: conditions.join(' AND '), params };
}

const statusOf = (present: ReadonlySet<string>): string =>
  present.has('status') ? 'status' : `''`;
