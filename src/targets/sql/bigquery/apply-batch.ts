import type { ApplyResult, RowOutcome } from '../../../mirror/target.ts';
import type { Rejection } from '../../../mirror/types.ts';
import type { StorableRow } from '../dialect.ts';
import { listable, storableBatch } from '../row-batch.ts';
import { cellKey, LIMITS } from './answer-values.ts';
import { type BatchPiece, MOST_ROW_BYTES, rowBytes } from './batch-pieces.ts';
import type { FormColumns } from './form-columns.ts';
import type { FormHold } from './form-hold.ts';
import { heldForm } from './table-reads.ts';
import {
  addStatuses,
  beginStatuses,
  changeListings,
  endMarks,
  type SeenStatus,
  type StatusMoment,
} from './list-statements.ts';
import { type Month, monthOf, monthsOf } from './partitions.ts';
import { RowHasher } from './row-hash.ts';
import { type Candidate, insertRows, updateRows, type WrittenRow } from './row-statements.ts';
import { versionsOfRows } from './row-versions.ts';
import { listParameter, type Statement, textParameter } from './sql-text.ts';
import { counted, moved } from './state-changes.ts';
import { findCandidates, readRows } from './table-reads.ts';

/** A row that comes, what is stored of it, and what becomes of it. */
interface Judged {
  readonly row: StorableRow;
  readonly was: Candidate | undefined;
  readonly outcome: 'inserted' | 'updated' | 'restored' | 'unchanged';
  /** Nothing of it differs but its hash. */
  readonly isRehashed?: boolean;
}

/**
 * Stores a piece of a batch: one query finds what is stored, and one script writes what differs, with the state and the lists. Where
 * nothing does, nothing is sent. `forgotten`: submissions that stay away.
 */
export async function applyBatch(
  hold: FormHold,
  columns: FormColumns,
  { rows, rejections }: BatchPiece,
  forgotten: ReadonlySet<string>,
): Promise<ApplyResult> {
  const kept = rows.filter(({ id }) => !forgotten.has(id));
  const batch = storableBatch(kept, columns.fields, LIMITS);
  const own: Rejection[] = [...batch.rejections];
  const attempts = batch.rows.map((row) => {
    if (row === undefined || rowBytes(row.cells) <= MOST_ROW_BYTES) return row;
    const reason = `the answers take more than ${MOST_ROW_BYTES / 1e6} million bytes in a request`;
    own.push({ submissionId: row.id, reason, stored: false });
    return undefined;
  });
  const storable = attempts.filter((row) => row !== undefined);
  await columns.suit(storable);
  const judged = await judge(hold, columns, storable);
  const listings = await listingsOf(
    hold,
    storable,
    [...rejections.filter(({ submissionId }) => !forgotten.has(submissionId)), ...own].map((one) =>
      listable(one, LIMITS),
    ),
  );
  await store(hold, columns, judged, listings);
  const outcomes = new Map(judged.map(({ row, outcome }) => [row.id, outcome]));
  const isRow = new Set(attempts.flatMap((row) => (row === undefined ? [] : [row.id])));
  const outcomeOf = (id: string): RowOutcome => {
    if (forgotten.has(id)) return 'forgotten';
    return isRow.has(id) ? (outcomes.get(id) ?? 'rejected') : 'rejected';
  };
  const ids = new Set([...rows.map(({ id }) => id), ...rejections.map((one) => one.submissionId)]);
  return {
    outcomes: rows.map(({ id }) => outcomeOf(id)),
    rejections: own.map((one) => listable(one, LIMITS)),
    newlyListed: new Set(
      [...rejections, ...own]
        .map(({ submissionId }) => submissionId)
        .filter((id) => listings.isNew(listedId(id))),
    ),
    forgotten: new Set([...ids].filter((id) => forgotten.has(id))),
  };
}

const listedId = (submissionId: string): string =>
  listable({ submissionId, reason: '', stored: false }, LIMITS).submissionId;

function movesOf({ row, was, outcome }: Judged): (readonly [string, number])[] {
  if (outcome === 'unchanged') return [];
  const before = was === undefined || was.isDeleted ? [] : [[was.status, -1] as const];
  return [...before, [row.status, 1]];
}

/** What becomes of each row. */
async function judge(
  hold: FormHold,
  columns: FormColumns,
  rows: readonly StorableRow[],
): Promise<Judged[]> {
  if (rows.length === 0) return [];
  const { state } = hold;
  const held = heldForm(hold.store, state, await hold.table());
  if (held === undefined) throw new TypeError('rows without a table');
  const found = await findCandidates(
    hold.store,
    held,
    rows.map(({ id }) => id),
    monthsOf(rows),
  );
  const hasher = new RowHasher(state.hashSets, columns.fields);
  const unclear: StorableRow[] = [];
  const judged = rows.map((row): Judged => {
    const was = found.get(row.id);
    if (was === undefined) return { row, was, outcome: 'inserted' };
    if (was.isDeleted) return { row, was, outcome: 'restored' };
    if (was.status !== row.status || was.createdAt !== row.createdAt)
      return { row, was, outcome: 'updated' };
    const verdict = hasher.judge(row, was.hash);
    if (verdict === 'unknown') unclear.push(row);
    return { row, was, outcome: verdict === 'same' ? 'unchanged' : 'updated' };
  });
  if (unclear.length === 0) return judged;
  const stored = await readRows(
    hold.store,
    held,
    unclear.map(({ id }) => id),
    monthsOf(unclear),
  );
  const isAlike = (row: StorableRow): boolean =>
    columns.fields.every(({ id, type }, at) => {
      const cell = stored.get(row.id)?.cells.get(id) ?? null;
      return cellKey(type, cell) === cellKey(type, row.cells[at] ?? null);
    });
  const same = new Set(unclear.filter(isAlike));
  return judged.map(({ row, was, outcome }): Judged =>
    same.has(row) ? { row, was, outcome: 'unchanged', isRehashed: true } : { row, was, outcome },
  );
}

/** What a batch changes of the list of rejections. */
interface Listings {
  readonly listed: readonly Rejection[];
  readonly over: readonly Pick<Rejection, 'submissionId' | 'reason'>[];
  /** How many are listed that were not. */
  readonly added: number;
  /** IDs of the batch that were listed before, for whatever reason. */
  readonly before: ReadonlySet<string>;
  readonly isNew: (submissionId: string) => boolean;
}

async function listingsOf(
  hold: FormHold,
  rows: readonly StorableRow[],
  rejections: readonly Rejection[],
): Promise<Listings> {
  const byKey = new Map(rejections.map((one) => [keyOf(one), one]));
  const ids = new Set([...rows.map(({ id }) => id), ...rejections.map((one) => one.submissionId)]);
  const before = hold.state.counts.rejected === 0 ? [] : await readListed(hold, [...ids]);
  const known = new Set(before.map(keyOf));
  const listedBefore = new Set(before.map(({ submissionId }) => submissionId));
  const added = [...byKey.keys()].filter((key) => !known.has(key));
  const listedNow = new Set(rejections.map(({ submissionId }) => submissionId));
  return {
    listed: [...byKey.values()],
    over: before.filter((one) => !byKey.has(keyOf(one))),
    added: added.length,
    before: listedBefore,
    isNew: (id) => listedNow.has(id) && !listedBefore.has(id),
  };
}

const keyOf = ({ submissionId, reason }: Pick<Rejection, 'submissionId' | 'reason'>): string =>
  `${submissionId}\0${reason}`;

async function readListed(
  { form, store }: FormHold,
  ids: readonly string[],
): Promise<Pick<Rejection, 'submissionId' | 'reason'>[]> {
  if (ids.length === 0) return [];
  const rows = await store.query({
    sql: `SELECT submission_id, reason FROM ${store.relation('mirror_rejected')}
      WHERE form_id = @form AND submission_id IN UNNEST(@ids)`,
    parameters: { form: textParameter(form.id), ids: listParameter(ids) },
  });
  return rows.map((row) => ({
    submissionId: row['submission_id'] ?? '',
    reason: row['reason'] ?? '',
  }));
}

/** Writes what differs. */
async function store(
  hold: FormHold,
  columns: FormColumns,
  judged: readonly Judged[],
  { listed, over, added, before }: Listings,
): Promise<void> {
  const of = (outcome: Judged['outcome']): Judged[] =>
    judged.filter((one) => one.outcome === outcome);
  const [inserted, updated, restored] = [of('inserted'), of('updated'), of('restored')];
  const rehashed = judged.filter(({ isRehashed }) => isRehashed === true);
  const changed = [...updated, ...restored];
  const isQuiet = inserted.length + changed.length + rehashed.length === 0;
  if (isQuiet && listed.length + over.length === 0) return;
  const { form, state } = hold;
  const { relation } = hold.store;
  const at = hold.now();
  const statements: Statement[] = [];
  const months = new Set<Month>(state.months);
  if (!isQuiet && state.table !== null) {
    const hasher = new RowHasher(state.hashSets, columns.fields);
    const written = ({ row, isRehashed }: Judged): WrittenRow => {
      return { row, hash: hasher.hashOf(row), isSame: isRehashed === true };
    };
    const place = { table: state.table, relation: relation(state.table), fields: columns.fields };
    const newMonths = monthsOf(inserted.map(({ row }) => row));
    if (inserted.length > 0) {
      const rows = inserted.map(written);
      statements.push(insertRows({ ...place, rows, months: newMonths, at }));
    }
    const other = [...changed, ...rehashed];
    const otherMonths = monthsOf(other.map(({ row }) => row));
    for (const { was } of other) if (was !== undefined) otherMonths.add(monthOf(was.createdAt));
    if (other.length > 0) {
      const rows = other.map(written);
      statements.push(updateRows({ ...place, rows, months: otherMonths, at }));
    }
    for (const month of newMonths.union(otherMonths)) months.add(month);
    statements.push(...statusesOf(hold, { inserted, updated, restored }, before, at));
    const all = [...inserted, ...changed];
    const known = {
      ...place,
      ids: all.map(({ row }) => row.id),
      months: newMonths.union(otherMonths),
    };
    statements.push(...versionsOfRows(hold, known, at, 'changed'));
    if (changed.length > 0 && state.counts.refusals > 0) {
      const ids = changed.map(({ row }) => row.id);
      statements.push(endMarks(relation, form.id, ids, 'refused'));
    }
  }
  if (listed.length + over.length > 0)
    statements.push(
      changeListings(relation, { formId: form.id, at, epoch: hold.epoch, listed, over }),
    );
  const next = counted(
    moved({ ...state, months: [...months].toSorted() }, judged.flatMap(movesOf)),
    {
      rows: inserted.length,
      live: inserted.length + restored.length,
      rejected: added - over.length,
    },
  );
  await hold.commit(next, statements);
}

/** The entries that the history of statuses gets. `listed`: rows that the last comparison may not have met. */
function statusesOf(
  hold: FormHold,
  { inserted, updated, restored }: Record<'inserted' | 'updated' | 'restored', readonly Judged[]>,
  listed: ReadonlySet<string>,
  at: string,
): Statement[] {
  const { relation } = hold.store;
  const moment = statusMoment(hold, at);
  const seen = (isProven: (id: string) => boolean) => {
    return ({ row: { id, status } }: Judged): SeenStatus => ({
      id,
      status,
      isProven: isProven(id),
    });
  };
  const { passes, losses } = hold.state;
  const isFirst = !passes.hasReadAll && losses.length === 0;
  const begun = isFirst ? inserted.map(seen(() => false)) : [];
  const moved = updated.filter(({ row, was }) => was?.status !== row.status);
  const rest = [
    ...(isFirst ? [] : inserted.map(seen(() => false))),
    ...moved.map(seen((id) => !listed.has(id))),
    ...restored.map(seen(() => false)),
  ];
  return [
    ...(begun.length > 0 ? [beginStatuses(relation, moment, begun)] : []),
    ...(rest.length > 0 ? [addStatuses(relation, moment, rest)] : []),
  ];
}

/** When an entry of the history of statuses is written, and what was proven last. */
export function statusMoment({ entry, form, state }: FormHold, at: string): StatusMoment {
  const { checkpoint } = state;
  const provenAt = checkpoint?.withheld === 0 ? checkpoint.fullProvenAt : null;
  return { formId: form.id, at, entry, provenAt };
}
