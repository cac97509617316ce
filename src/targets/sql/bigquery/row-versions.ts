import { uniqueName } from '../../../mirror/column-names.ts';
import { partsOf } from '../answer-parts.ts';
import { FORM_TEXTS } from '../descriptions.ts';
import type { FieldColumn } from '../field-column.ts';
import { isHistory } from '../row-history.ts';
import type { HeldTable } from './bigquery-tables.ts';
import type { ColumnShape, TableShape } from './bigquery-tables.ts';
import type { FormHold } from './form-hold.ts';
import type { FormState } from './form-state.ts';
import { isInMonths } from './partitions.ts';
import type { KnownRows } from './row-statements.ts';
import { listParameter, named, type Statement, timeParameter } from './sql-text.ts';
import { answerColumns, columnParts } from './table-columns.ts';
import { columnNames } from './table-reads.ts';

/*
 * `<table>_history`, where TARGET_HISTORY asks for it: every version that a row had, from `_valid_from` on and before `_valid_to`
 * (NULL while it is the row as it is now), as in every SQL target; written by the script that changes the rows.
 */

const ROW_COLUMNS: readonly ColumnShape[] = [
  { name: 'id', type: 'STRING' },
  { name: 'status', type: 'STRING' },
  { name: 'created_at', type: 'TIMESTAMP' },
];

const MARKS: readonly ColumnShape[] = [
  {
    name: '_valid_from',
    type: 'TIMESTAMP',
    description: 'From when on it was so, as the mirror saw it.',
  },
  {
    name: '_valid_to',
    type: 'TIMESTAMP',
    description: 'Until when, without that instant; empty for what is so now.',
  },
  {
    name: '_is_deleted',
    type: 'BOOL',
    description: 'Whether the submission was deleted at the source then.',
  },
];

const historyTable = (name: string, state: FormState): TableShape => ({
  name,
  kind: 'table',
  description: FORM_TEXTS.versions({ id: '', slug: state.slug, name: state.name }),
  partitionedBy: 'created_at',
  clusteredBy: ['id'],
  columns: [...ROW_COLUMNS, ...answerColumns(state.fields), ...MARKS],
});

/**
 * Begins the history of a form, ends it, or gives it the columns that the form's table got. After the table is as it is to be.
 * `madeNow`: columns that the table did not have until now, of which no version has anything to tell.
 */
export async function followHistory(
  hold: FormHold,
  isWanted: boolean,
  madeNow: ReadonlySet<string>,
): Promise<void> {
  const { state, store } = hold;
  const { history } = state;
  if (state.table === null || (!isWanted && history?.isOpen !== true)) return;
  const { jobs } = store;
  const found = history === null ? undefined : await jobs.table(history.table);
  const names = columnNames(found);
  const held = names !== undefined && isHistory(names) ? found : undefined;
  const at = hold.now();
  if (!isWanted) {
    const ended = history && { ...history, isOpen: false };
    const end = held === undefined ? [] : [endVersions(hold, held.name, 'TRUE', {}, at)];
    return hold.commit({ ...state, history: ended }, end);
  }
  const isTaken = history === null || (held === undefined && found !== undefined);
  const table = isTaken ? await freeName(hold, state.table) : history.table;
  // A process that dies once it is made leaves an empty one, which the next pass begins.
  if (history?.table !== table) await hold.commit({ ...state, history: { table, isOpen: false } });
  const dropped: string[] = [];
  if (held === undefined) await jobs.createTable(historyTable(table, state));
  else dropped.push(...(await addMissing(hold, held)).filter((name) => !madeNow.has(name)));
  if (held !== undefined && history?.isOpen === true) {
    if (dropped.length > 0) await hold.commit(hold.state, [refillVersions(hold, table, dropped)]);
    return;
  }
  const next = { ...hold.state, history: { table, isOpen: true } };
  await hold.commit(next, [insertVersions(hold, table, 'TRUE', {}, at)]);
}

/** The name that a form's history takes first. */
export const historyName = (table: string): string => `${table}_history`;

async function freeName({ store }: FormHold, table: string): Promise<string> {
  const names = await store.jobs.tables();
  return uniqueName(historyName(table), new Set(names.map((name) => name.toLowerCase())));
}

/** Adds the columns that it lacks; their names. */
async function addMissing({ state, store }: FormHold, held: HeldTable): Promise<string[]> {
  const present = new Set(held.columns.map(({ name }) => name));
  const missing = answerColumns(state.fields).filter(({ name }) => !present.has(name));
  if (missing.length > 0) await store.jobs.addColumns(held.name, missing);
  return missing.map(({ name }) => name);
}

/** Tells again what is so now in columns that people dropped of the history. */
function refillVersions(
  { state, store }: FormHold,
  table: string,
  columns: readonly string[],
): Statement {
  const names = columns.map(named);
  return {
    sql: `UPDATE ${store.relation(table)} AS _v SET ${names.map((name) => `${name} = t.${name}`).join(', ')}
     FROM (SELECT o.id, ${names.map((name) => `ANY_VALUE(o.${name}) AS ${name}`).join(', ')}
       FROM ${store.relation(state.table ?? '')} AS o GROUP BY o.id) AS t
     WHERE _v.id = t.id AND _v._valid_to IS NULL`,
    parameters: {},
    mutates: table,
  };
}

/**
 * Ends the versions that these rows had and begins those that they have now; `retracted`: says of the ones that they have that they are
 * deleted, as they were written anew and were so before.
 */
export function versionsOfRows(
  hold: FormHold,
  { ids, months }: KnownRows,
  at: string,
  kind: 'changed' | 'retracted',
): Statement[] {
  const { history } = hold.state;
  if (history?.isOpen !== true || ids.length === 0) return [];
  const relation = hold.store.relation(history.table);
  const parameters = { version_ids: listParameter(ids) };
  if (kind === 'retracted') {
    return [
      {
        sql: `UPDATE ${relation} AS v SET _is_deleted = TRUE WHERE v._valid_to IS NULL AND v.id IN UNNEST(@version_ids)`,
        parameters,
        mutates: history.table,
      },
    ];
  }
  const which = (as: string): string => `${as}.id IN UNNEST(@version_ids)`;
  return [
    {
      // What began in this very instant was never true.
      sql: `DELETE FROM ${relation} AS v WHERE v._valid_to IS NULL AND v._valid_from = @version_at AND ${which('v')}`,
      parameters: { ...parameters, version_at: timeParameter(at) },
      mutates: history.table,
    },
    endVersions(hold, history.table, which('v'), parameters, at),
    insertVersions(
      hold,
      history.table,
      `${which('t')} AND ${isInMonths(months, 't.created_at')}`,
      parameters,
      at,
    ),
  ];
}

/** What began later, by a clock that was ahead, lasts a moment, and the next version begins after it. */
const endVersions = (
  { store }: FormHold,
  table: string,
  which: string,
  parameters: Statement['parameters'],
  at: string,
): Statement => ({
  sql: `UPDATE ${store.relation(table)} AS v
   SET _valid_to = IF(v._valid_from < @version_at, @version_at, TIMESTAMP_ADD(v._valid_from, INTERVAL 1 MILLISECOND))
   WHERE v._valid_to IS NULL AND ${which}`,
  parameters: { ...parameters, version_at: timeParameter(at) },
  mutates: table,
});

/** No version begins before the one before it ended, though the clock may have been set back since. */
function insertVersions(
  { state, store }: FormHold,
  table: string,
  which: string,
  parameters: Statement['parameters'],
  at: string,
): Statement {
  const columns = [
    ...ROW_COLUMNS.map(({ name }) => name),
    ...columnParts(state.fields).map(({ name }) => name),
  ].map(named);
  const ids = 'version_ids' in parameters ? 'WHERE h.id IN UNNEST(@version_ids)' : '';
  return {
    sql: `INSERT INTO ${store.relation(table)} (${columns.join(', ')}, _valid_from, _is_deleted)
     SELECT ${columns.map((name) => `t.${name}`).join(', ')}, IF(e.ended > @version_at, e.ended, @version_at), t._deleted_at IS NOT NULL
     FROM ${store.relation(state.table ?? '')} AS t
     LEFT JOIN (SELECT h.id, MAX(h._valid_to) AS ended FROM ${store.relation(table)} AS h ${ids} GROUP BY h.id) AS e ON e.id = t.id
     WHERE ${which}`,
    parameters: { ...parameters, version_at: timeParameter(at) },
    mutates: table,
  };
}

/** After a pass that made losses good: ends the versions of rows that did not come back. */
export function endLostVersions(hold: FormHold, at: string): Statement[] {
  const { history, table } = hold.state;
  if (history?.isOpen !== true || table === null) return [];
  const which = `v.id NOT IN (SELECT t.id FROM ${hold.store.relation(table)} AS t)`;
  return [endVersions(hold, history.table, which, {}, at)];
}

/** Removes the answers to these fields from versions: from those that ended, or from all. */
export async function clearVersionColumns(
  { state, store }: FormHold,
  fieldIds: ReadonlySet<string>,
  which: 'ended' | 'all',
): Promise<Statement[]> {
  const { history } = state;
  const wanted = state.fields.filter(({ id }) => fieldIds.has(id));
  if (history === null || wanted.length === 0) return [];
  // One that was ended got no column since, and people may have dropped it.
  const held = await store.jobs.table(history.table);
  const present = columnNames(held) ?? [];
  const columns = versionColumns(state.fields, wanted, present).map(named);
  if (columns.length === 0 || !present.includes('_valid_to')) return [];
  const isFilled = columns.map((name) => `_v.${name} IS NOT NULL`).join(' OR ');
  const ended = which === 'ended' ? '_v._valid_to IS NOT NULL AND ' : '';
  return [
    {
      sql: `UPDATE ${store.relation(history.table)} AS _v SET ${columns.map((name) => `${name} = NULL`).join(', ')}
       WHERE ${ended}(${isFilled})`,
      parameters: {},
      mutates: history.table,
    },
  ];
}

/**
 * Of the columns of a history those that may hold answers to some of a form's fields: their own, whatever the form's table knows of
 * them, and those of which no field is known any more, as they may have stood beside one of them in a table that was dropped.
 */
export function versionColumns(
  fields: readonly FieldColumn[],
  wanted: readonly FieldColumn[],
  present: readonly string[],
): string[] {
  const own = new Set(partsOf(wanted).map(({ name }) => name));
  const known = new Set([
    ...[...ROW_COLUMNS, ...MARKS].map(({ name }) => name),
    ...partsOf(fields).map(({ name }) => name),
  ]);
  return present.filter((name) => own.has(name) || !known.has(name));
}

/** Of rows that were written anew, hashed perhaps: what stood there plainly leaves former versions, too (L18). */
export const clearFormVersions = (
  hold: FormHold,
  hashed: ReadonlySet<string>,
): Promise<Statement[]> => clearVersionColumns(hold, hashed, 'ended');
