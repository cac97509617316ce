import type { TimeSpan } from '../../../mirror/time-counts.ts';
import type { FieldColumn } from '../field-column.ts';
import { removeDoubles } from './doubled-rows.ts';
import type { FormColumns } from './form-columns.ts';
import type { FormHold } from './form-hold.ts';
import { isInMonths, monthOf } from './partitions.ts';
import { fingerprintOf } from './row-fingerprint.ts';
import type { HashSet } from './row-hash.ts';
import { writtenParts } from './row-statements.ts';
import { literal, named, type Statement, timeParameter } from './sql-text.ts';
import { type HeldForm, isLive, isWithinSpan, timeOf } from './table-reads.ts';

/** What was found of rows that people changed. `moved`: the table has other rows now, or other live ones, than were counted. */
export interface FoundEdits {
  readonly hasEdited: boolean;
  readonly moved: boolean;
}

/**
 * Empties the hash of rows that people have changed since they were written: whatever applies them next reads them then. Of those dated
 * within one of these spans, or all. Leaves one row of each ID that stands there twice, and marks rows without an ID as deleted: no
 * submission is theirs. Bills the columns of answers once, and another statement where there are any.
 */
export async function distrustEdited(
  hold: FormHold,
  held: HeldForm,
  columns: Pick<FormColumns, 'fields'>,
  spans: readonly TimeSpan[] | 'all',
): Promise<FoundEdits> {
  const { state, store } = hold;
  const isEdited = editedRows(state.hashSets, columns.fields);
  if (isEdited === undefined || state.counts.rows === 0 || spans.length === 0) return NOTHING;
  const isAsked =
    spans === 'all' ? 'TRUE' : spans.map((span) => `(${isWithinSpan(span)})`).join(' OR ');
  const conditions = {
    edited: `(${isLive(held)}) AND (${isEdited})`,
    nameless: `(${isLive(held)}) AND t.id IS NULL`,
  };
  const find = () =>
    store.query({
      sql: `SELECT TIMESTAMP_TRUNC(r.created_at, MONTH) AS month, LOGICAL_OR(r.is_edited) AS edited, LOGICAL_OR(r.is_doubled) AS doubled,
          LOGICAL_OR(r.is_nameless) AS nameless
        FROM (SELECT t.created_at, COALESCE(${conditions.edited}, FALSE) AS is_edited, ${conditions.nameless} AS is_nameless,
            t.id IS NOT NULL AND COUNT(*) OVER (PARTITION BY t.id) > 1 AS is_doubled
          FROM ${held.relation} AS t WHERE ${isAsked}) AS r
        WHERE r.is_edited OR r.is_doubled OR r.is_nameless GROUP BY 1`,
      parameters: {},
    });
  let found = await find();
  const isDoubled = found.some((row) => row['doubled'] === 'true');
  if (isDoubled && (await removeDoubles(hold, held))) found = await find();
  const changes = (['edited', 'nameless'] as const).flatMap((what) => {
    const rows = found.filter((row) => row[what] === 'true');
    if (rows.length === 0) return [];
    const months = new Set(rows.map((row) => monthOf(timeOf(row, 'month'))));
    const value = what === 'edited' ? '_hash = NULL' : '_deleted_at = @nameless_at';
    return [{ what, value, months }];
  });
  const statements = changes.map(({ what, value, months }): Statement => ({
    sql: `UPDATE ${held.relation} AS t SET ${value} WHERE (${isAsked}) AND ${conditions[what]} AND ${isInMonths(months, 't.created_at')}`,
    parameters: what === 'edited' ? {} : { nameless_at: timeParameter(hold.now()) },
    mutates: held.table,
  }));
  if (statements.length > 0) await hold.commit(hold.state, statements);
  const has = (name: string): boolean => changes.some(({ what }) => what === name);
  return { hasEdited: has('edited'), moved: isDoubled || has('nameless') };
}

const NOTHING: FoundEdits = { hasEdited: false, moved: false };

/**
 * Condition: the row is not what was written. Undefined where nothing was. Of rows that were hashed by a set of fields that tells too little of
 * these it says nothing: they are read in any case.
 */
function editedRows(sets: readonly HashSet[], fields: readonly FieldColumn[]): string | undefined {
  const now = new Set(fields.map(({ id }) => id));
  const telling = sets.filter(({ fieldIds, fieldCount }) => {
    const then = new Set(fieldIds);
    const isKept = fieldIds.every((id) => now.has(id));
    return isKept && fields.every(({ id, ordinal }) => then.has(id) || ordinal >= fieldCount);
  });
  if (telling.length === 0) return undefined;
  const isOf = telling.map(({ number }) => `STARTS_WITH(t._hash, ${literal(`${number}.`)})`);
  const fingerprint = fingerprintOf(writtenParts(fields), ({ name }) => `t.${named(name)}`);
  return `(${isOf.join(' OR ')}) AND NOT ENDS_WITH(t._hash, CONCAT('.', ${fingerprint}))`;
}
