import type { TimeSpan } from '../../../mirror/time-counts.ts';
import type { FieldColumn } from '../field-column.ts';
import type { FormColumns } from './form-columns.ts';
import type { FormHold } from './form-hold.ts';
import { isInMonths, monthOf } from './partitions.ts';
import { fingerprintOf } from './row-fingerprint.ts';
import type { HashSet } from './row-hash.ts';
import { writtenParts } from './row-statements.ts';
import { literal, named, type Statement } from './sql-text.ts';
import { type HeldForm, isLive, isWithinSpan, timeOf } from './table-reads.ts';

/**
 * Empties the hash of rows that people have changed since they were written: whatever applies them next reads them then. Of those dated
 * within one of these spans, or all. Whether there are any. Bills the columns of answers once, and another statement where there are.
 */
export async function distrustEdited(
  hold: FormHold,
  held: HeldForm,
  columns: Pick<FormColumns, 'fields'>,
  spans: readonly TimeSpan[] | 'all',
): Promise<boolean> {
  const { state, store } = hold;
  const isEdited = editedRows(state.hashSets, columns.fields);
  if (isEdited === undefined || state.counts.rows === 0 || spans.length === 0) return false;
  const isAsked = spans === 'all' ? 'TRUE' : spans.map((span) => `(${isWithinSpan(span)})`);
  const where = `${isLive(held)} AND (${[isAsked].flat().join(' OR ')}) AND ${isEdited}`;
  const found = await store.query({
    sql: `SELECT TIMESTAMP_TRUNC(t.created_at, MONTH) AS month FROM ${held.relation} AS t WHERE ${where} GROUP BY 1`,
    parameters: {},
  });
  if (found.length === 0) return false;
  const months = new Set(found.map((row) => monthOf(timeOf(row, 'month'))));
  const emptied: Statement = {
    sql: `UPDATE ${held.relation} AS t SET _hash = NULL WHERE ${where} AND ${isInMonths(months, 't.created_at')}`,
    parameters: {},
    mutates: held.table,
  };
  await hold.commit(state, [emptied]);
  return true;
}

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
