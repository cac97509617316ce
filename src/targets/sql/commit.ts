import { MirrorError } from '../../base/errors.ts';
import type { PickedField, Row } from '../../mirror/types.ts';
import { type FormState, sumOf } from '../../mirror/form-state.ts';
import type { Applied, Change, Entry, EntryKind } from '../../mirror/port.ts';
import {
  type Batch,
  type ByStatus,
  type Dialect,
  inSavepoint,
  numberOf,
  quoted,
  type Session,
  type SqlField,
  textOf,
  timeAt,
  type VersionPlan,
  type Written,
} from './dialect.ts';
import { encoderOf, ownColumns } from './fields.ts';
import { Swallowed } from './errors.ts';
import { countEntries } from './tally.ts';

/** What a change is applied to. */
export interface Committing {
  /** With the name of this commit. */
  readonly state: FormState;
  readonly fields: readonly SqlField[];
  /** Columns that the table has. */
  readonly columns: ReadonlySet<string>;
  readonly prepared: readonly PickedField[];
  readonly keepsAnswers: boolean;
}

/** Rows of a change, as stored. */
export interface StorableRows {
  readonly rows: readonly Row[];
  /** Entries of those that the database cannot hold unchanged. */
  readonly replaced: readonly Entry[];
  /** IDs in the change that were forgotten, with their digests. */
  readonly forgotten: ReadonlyMap<string, string>;
}

export interface Committed {
  readonly state: FormState;
  readonly applied: Applied;
  /** A row, an entry or a run was written. */
  readonly hasWritten: boolean;
}

/** A run more than this many ago is not kept. */
const MOST_RUNS = 1_000;

/** The rows of a change, without those that were forgotten. */
export function storableRows(
  { rows = [] }: Change,
  dialect: Dialect,
  forgotten: ReadonlyMap<string, string>,
  atMs: number,
): StorableRows {
  const known = rows.filter(({ id }) => !forgotten.has(id));
  return { ...withoutNul(known, dialect, atMs), forgotten };
}

/** Applies a change within a transaction. A rejection ends the transaction. */
export async function applyChange(
  tx: Session,
  dialect: Dialect,
  change: Change,
  { rows, replaced, forgotten }: StorableRows,
  from: Committing,
): Promise<Committed> {
  const { state } = from;
  const { formId } = state;
  const at = timeAt(state.commitUs, dialect);
  await followForgotten(tx, dialect, formId, forgotten, change, at);

  const stored = await storeRows(tx, dialect, rows, from);
  const entries = [
    ...(change.entries ?? []).filter(({ id, kind }) => kind === 'forgotten' || !forgotten.has(id)),
    ...stored.rejected,
    ...replaced.filter(({ id }) => !stored.rejected.some((each) => each.id === id)),
  ];
  const refused = new Set(stored.rejected.map(({ id }) => id));
  const kept = refused.size === 0 ? rows : rows.filter(({ id }) => !refused.has(id));
  const isSettled = await settleEntries(tx, dialect, state, change, entries, kept);
  await putEntries(tx, dialect, state, entries, at);
  const deleted = await deleteRows(tx, dialect, change.deleted ?? [], from, at);

  const counts = new Map(Object.entries(state.tally.rows));
  addAll(counts, stored.now, 1);
  addAll(counts, stored.before, -1);
  addAll(counts, deleted.before, -1);
  // A row that was updated and not live before is live again.
  const restored = stored.updated - sumOf(stored.before.values());
  const isTouched = isSettled || entries.length > 0 || deleted.isTouched || forgotten.size > 0;
  const tally = {
    ...state.tally,
    deleted: state.tally.deleted + deleted.rows - restored,
    rows: Object.fromEntries([...counts].filter(([, n]) => n !== 0)),
    ...(isTouched ? await countEntries(tx, formId) : {}),
  };
  if (change.run !== undefined) await addRun(tx, dialect, formId, change.run);
  const { inserted, updated, rejected } = stored;
  return {
    state: { ...state, tally },
    hasWritten: isTouched || inserted + updated > 0 || change.run !== undefined,
    applied: {
      inserted,
      updated,
      unchanged: kept.length - inserted - updated,
      deleted: deleted.rows,
      rejected: rejected.length,
    },
  };
}

function addAll(counts: Map<string, number>, more: ByStatus, sign: 1 | -1): void {
  for (const [status, n] of more) counts.set(status, (counts.get(status) ?? 0) + sign * n);
}

function hasNul({ status, cells }: Row): boolean {
  for (const cell of cells.values())
    if (typeof cell === 'string' && cell.includes(NUL)) return true;
  return status.includes(NUL);
}

/** Rows as the database can hold them; for each that it cannot hold unchanged, an entry. */
function withoutNul(
  rows: readonly Row[],
  dialect: Dialect,
  atMs: number,
): { readonly rows: readonly Row[]; readonly replaced: readonly Entry[] } {
  if (dialect.takesNul) return { rows, replaced: [] };
  const replaced: Entry[] = [];
  const clean = rows.map((row) => {
    if (!hasNul(row)) return row;
    const wrong = [...row.cells].filter(
      ([, cell]) => typeof cell === 'string' && cell.includes(NUL),
    );
    const reason = `U+0000, which ${dialect.product} cannot hold, was replaced by U+FFFD`;
    replaced.push(rejectedEntry(row, reason, atMs));
    const cells = new Map([
      ...row.cells,
      ...wrong.map(([id, cell]) => [id, (cell as string).replaceAll(NUL, '\uFFFD')] as const),
    ]);
    return { ...row, status: row.status.replaceAll(NUL, '\uFFFD'), cells };
  });
  return { rows: clean, replaced };
}

const NUL = '\u0000';

/** A forgotten submission is not stored: its entry follows its status. */
async function followForgotten(
  tx: Session,
  dialect: Dialect,
  formId: string,
  forgotten: ReadonlyMap<string, string>,
  { rows = [], entries = [] }: Change,
  at: string,
): Promise<void> {
  if (forgotten.size === 0) return;
  const seen = [...rows, ...entries.filter(({ kind }) => kind !== 'forgotten')];
  for (const { id, status, createdAt } of seen) {
    const digest = forgotten.get(id);
    if (digest === undefined) continue;
    await tx.run(
      `UPDATE _mirror_entries SET status = $1, created_at = $2, last_seen_at = $3 WHERE form_id = $4 AND kind = 'forgotten' AND id = $5`,
      [status, dialect.timeParam(createdAt), at, formId, digest],
    );
  }
}

interface StoredRows extends Written {
  readonly rejected: readonly Entry[];
}

const NOTHING: Written = { inserted: 0, updated: 0, now: new Map(), before: new Map() };

function plus(a: Written, b: Written): Written {
  const [now, before] = [new Map(a.now), new Map(a.before)];
  addAll(now, b.now, 1);
  addAll(before, b.before, 1);
  return { inserted: a.inserted + b.inserted, updated: a.updated + b.updated, now, before };
}

async function storeRows(
  tx: Session,
  dialect: Dialect,
  rows: readonly Row[],
  from: Committing,
): Promise<StoredRows> {
  const { state, fields, prepared } = from;
  if (rows.length === 0) return { ...NOTHING, rejected: [] };
  const encoder = encoderOf(fields, prepared, dialect);
  const batchOf = (some: readonly Row[]): Batch => ({
    formId: state.formId,
    table: state.place,
    columns: encoder.columns,
    at: timeAt(state.commitUs, dialect),
    rows: some.map((row) => encoder.valuesOf(row)),
  });
  const versions = versionPlan(from, dialect);
  const rejected: Entry[] = [];
  const upsert = async (some: readonly Row[]): Promise<Written> => {
    try {
      return await inSavepoint(tx, () => dialect.upsert(tx, batchOf(some), versions));
    } catch (error) {
      if (error instanceof Swallowed) throw asFailure(error.message);
      const refusal = dialect.refusal(error);
      if (refusal === undefined) throw error;
      if (some.length > 1) {
        const half = some.length >> 1;
        return plus(await upsert(some.slice(0, half)), await upsert(some.slice(half)));
      }
      const [row] = some;
      // Only a fault of the row itself rejects it: if it is refused without its answers, the target has failed (L6).
      if (row === undefined || !refusal.isOfRow || !(await takesBlank(row)))
        throw asFailure(refusal.reason);
      rejected.push(rejectedEntry(row, refusal.reason, Math.floor(state.commitUs / 1_000)));
      return NOTHING;
    }
  };
  const takesBlank = async (row: Row): Promise<boolean> => {
    const blank = { ...row, cells: new Map() };
    try {
      await inSavepoint(tx, async () => {
        await dialect.upsert(tx, batchOf([blank]), versions);
        throw new RolledBack();
      });
    } catch (error) {
      return error instanceof RolledBack;
    }
    return false;
  };
  return { ...(await upsert(rows)), rejected };
}

class RolledBack extends Error {}

const asFailure = (reason: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `The target refuses rows: ${reason}. Nothing of this batch was stored.`,
  );

const rejectedEntry = ({ id, status, createdAt }: Row, reason: string, atMs: number): Entry => ({
  kind: 'rejected',
  id,
  status,
  createdAt,
  reason,
  atMs,
});

function versionPlan(
  { state, fields, columns, keepsAnswers }: Committing,
  dialect: Dialect,
): VersionPlan {
  const { formId, place, statusesAsOfMs } = state;
  const notBefore = statusesAsOfMs === null ? null : timeAt(statusesAsOfMs * 1_000, dialect);
  const answers = keepsAnswers ? fields.flatMap((field) => ownColumns(field, columns)) : null;
  return { formId, table: place, notBefore, answers };
}

/** Removes entries that this change settles; true where there were any. `kept`: the rows that it stores. */
async function settleEntries(
  tx: Session,
  dialect: Dialect,
  { formId, tally }: FormState,
  { settled = [], deleted = [] }: Change,
  entries: readonly Entry[],
  kept: readonly Row[],
): Promise<boolean> {
  let many = 0;
  const drop = async (kinds: readonly EntryKind[], ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    many += await tx.run(
      `DELETE FROM _mirror_entries WHERE form_id = $1 AND ${dialect.among('kind', '$2')} AND ${dialect.among('id', '$3')}`,
      [formId, kinds, ids],
    );
  };
  if (tally.held + tally.undecided + tally.rejected > 0) {
    const stored = kept.map(({ id }) => id);
    await drop(['held', 'undecided'], stored);
    // An entry that is listed again keeps the time at which it was first seen.
    const listed = new Set(entries.map(({ id }) => id));
    await drop(
      ['rejected'],
      stored.filter((id) => !listed.has(id)),
    );
  }
  for (const { kind, ids } of settled) await drop([kind], ids);
  await drop(['rejected', 'held', 'undecided', 'refused'], deleted);
  return many > 0;
}

async function putEntries(
  tx: Session,
  dialect: Dialect,
  { formId, place }: FormState,
  entries: readonly Entry[],
  at: string,
): Promise<void> {
  if (entries.length === 0) return;
  const live = new Set<string>();
  for (const row of await tx.query(
    `SELECT id FROM ${quoted(place)} WHERE _deleted_at IS NULL AND ${dialect.among('id', '$1')}`,
    [entries.map(({ id }) => id)],
  ))
    live.add(textOf(row['id']));
  const there = dialect.onConflict(
    ['form_id', 'kind', 'id'],
    ['status', 'created_at', 'reason', 'is_stored', 'last_seen_at'],
  );
  for (const { kind, id, status, createdAt, reason, atMs } of entries) {
    const isStored = kind === 'held' || kind === 'undecided' || live.has(id);
    const seen = kind === 'refused' ? timeAt(atMs * 1_000, dialect) : at;
    await tx.run(
      `INSERT INTO _mirror_entries (form_id, kind, id, status, created_at, reason, is_stored, first_seen_at, last_seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ${there}`,
      [
        formId,
        kind,
        id,
        status,
        dialect.timeParam(createdAt),
        reason,
        isStored ? 1 : 0,
        seen,
        seen,
      ],
    );
  }
}

async function deleteRows(
  tx: Session,
  dialect: Dialect,
  ids: readonly string[],
  from: Committing,
  at: string,
): Promise<{ readonly rows: number; readonly before: ByStatus; readonly isTouched: boolean }> {
  if (ids.length === 0) return { rows: 0, before: new Map(), isTouched: false };
  const table = from.state.place;
  const live = await tx.query(
    `SELECT status, count(*) AS n FROM ${quoted(table)} WHERE _deleted_at IS NULL AND ${dialect.among('id', '$1')} GROUP BY status`,
    [ids],
  );
  const before = new Map(live.map((row) => [textOf(row['status']), numberOf(row['n'])] as const));
  await dialect.keepDeleted(tx, { at, ids }, versionPlan(from, dialect));
  const rows = await tx.run(
    `UPDATE ${quoted(table)} SET _deleted_at = $1, _changed_at = $1 WHERE _deleted_at IS NULL AND ${dialect.among('id', '$2')}`,
    [at, ids],
  );
  return { rows, before, isTouched: true };
}

async function addRun(
  tx: Session,
  dialect: Dialect,
  formId: string,
  run: NonNullable<Change['run']>,
): Promise<void> {
  const { startedAtMs, endedAtMs, outcome, code, error, requests, held, isWhole } = run;
  await tx.run(
    `INSERT INTO _mirror_runs (form_id, started_at, ended_at, outcome, code, error, requests, inserted, updated, unchanged, deleted, rejected, held, is_whole)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ${dialect.onConflict(['form_id', 'started_at'])}`,
    [
      formId,
      timeAt(startedAtMs * 1_000, dialect),
      timeAt(endedAtMs * 1_000, dialect),
      outcome,
      code,
      error,
      requests,
      run.inserted,
      run.updated,
      run.unchanged,
      run.deleted,
      run.rejected,
      held,
      isWhole ? 1 : 0,
    ],
  );
  await tx.run(
    `DELETE FROM _mirror_runs WHERE form_id = $1 AND started_at <= (SELECT started_at FROM
     (SELECT started_at FROM _mirror_runs WHERE form_id = $2 ORDER BY started_at DESC LIMIT 1 OFFSET ${MOST_RUNS}) AS oldest)`,
    [formId, formId],
  );
}
