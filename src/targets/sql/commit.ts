import { type FormState, sumOf } from '../../mirror/form-state.ts';
import type { Applied, Change, Entry, EntryKind } from '../../mirror/port.ts';
import type { Row } from '../../mirror/types.ts';
import {
  type Dialect,
  inSavepoint,
  insert,
  type PackedRow,
  type Session,
  type SqlField,
  timeAt,
  type Writing,
  type Written,
} from './dialect.ts';
import { storedColumns } from './fields.ts';
import { addRun } from './runs.ts';
import { addTo, loadNew, markDeleted, stagedUpsert } from './write-rows.ts';
import { countEntries } from './tally.ts';

/** What a change is applied to. */
export interface Committing {
  /** With the name of this commit. */
  readonly state: FormState;
  readonly fields: readonly SqlField[];
  /** Columns that the table has. */
  readonly columns: ReadonlySet<string>;
  readonly pack: (row: Row) => PackedRow;
  readonly keepsAnswers: boolean;
  readonly how: Way;
}

/**
 * How rows are stored. `load`: straight into the table, which refuses IDs that it has; `upsert`: through the staging table.
 * `halve`: also that, and halves refused rows down to the one at fault.
 */
export type Way = 'load' | 'upsert' | 'halve';

export interface Committed {
  readonly state: FormState;
  readonly applied: Applied;
  /** A row, an entry or a run was written. */
  readonly hasWritten: boolean;
}

const NOTHING: Written = { inserted: 0, updated: 0, more: new Map() };

/** What a commit writes, apart from its rows. */
export const writingOf = (
  dialect: Dialect,
  {
    state: { formId, place, commitUs, statusesAsOfMs },
    fields,
    columns,
    keepsAnswers,
  }: Pick<Committing, 'state' | 'fields' | 'columns' | 'keepsAnswers'>,
): Writing => ({
  formId,
  table: place,
  at: timeAt(commitUs, dialect),
  notBefore: statusesAsOfMs === null ? null : timeAt(statusesAsOfMs * 1_000, dialect),
  answers: keepsAnswers ? storedColumns(fields, columns) : null,
});

/** A change, applied within a transaction. A rejection ends the transaction. */
export class Commit {
  readonly #tx: Session;
  readonly #change: Change;
  readonly #from: Committing;
  readonly #writing: Writing;

  constructor(tx: Session, change: Change, from: Committing) {
    [this.#tx, this.#change, this.#from] = [tx, change, from];
    this.#writing = writingOf(tx.dialect, from);
  }

  /** `rows`: those of the change that were not forgotten. `forgotten`: the IDs of those that were, with their digests. */
  async apply(
    rows: readonly PackedRow[],
    forgotten: ReadonlyMap<string, string>,
  ): Promise<Committed> {
    const { state } = this.#from;
    const { entries: listed = [], deleted: gone = [], run } = this.#change;
    const rejected: Entry[] = [];
    const stored = rows.length === 0 ? NOTHING : await this.#store(rows, rejected);
    const refused = new Set(rejected.map(({ id }) => id));
    const kept = refused.size === 0 ? rows : rows.filter(({ id }) => !refused.has(id));
    const replaced = `An answer contains the character U+0000, which ${this.#tx.dialect.product} cannot hold; it is shown as \uFFFD.`;
    const entries = [
      ...this.#followed(forgotten),
      ...listed.filter(({ id, kind }) => kind === 'forgotten' || !forgotten.has(id)),
      ...rejected,
      ...kept.filter((row) => row.isReplaced).map((row) => entryOf('rejected', row, replaced)),
    ];
    const isSettled = await this.#settle(entries, kept);
    await this.#list(entries);
    const deleted = await markDeleted(this.#tx, gone, this.#writing);

    const counts = new Map(Object.entries(state.tally.rows));
    for (const [status, n] of stored.more) addTo(counts, status, n);
    for (const [status, n] of deleted) addTo(counts, status, -n);
    // Rows that are live now, apart from the inserted ones, were marked deleted before.
    const restored = sumOf(stored.more.values()) - stored.inserted;
    const { formId } = state;
    const isTouched = isSettled || entries.length + gone.length + forgotten.size > 0;
    const tally = {
      ...state.tally,
      deleted: state.tally.deleted + sumOf(deleted.values()) - restored,
      rows: Object.fromEntries([...counts].filter(([, n]) => n !== 0)),
      ...(isTouched ? await countEntries(this.#tx, state) : {}),
    };
    if (run !== undefined) await addRun(this.#tx, formId, run);
    const { inserted, updated } = stored;
    return {
      state: { ...state, tally },
      hasWritten: isTouched || inserted + updated > 0 || run !== undefined,
      applied: {
        inserted,
        updated,
        unchanged: kept.length - inserted - updated,
        deleted: sumOf(deleted.values()),
        rejected: rejected.length,
      },
    };
  }

  /** A forgotten submission is not stored; its status is copied to its entry. */
  #followed(forgotten: ReadonlyMap<string, string>): Entry[] {
    if (forgotten.size === 0) return [];
    const { rows = [], entries = [] } = this.#change;
    const seen = [...rows, ...entries.filter(({ kind }) => kind !== 'forgotten')];
    return seen.flatMap((each) => {
      const digest = forgotten.get(each.id);
      return digest === undefined ? [] : [entryOf('forgotten', { ...each, id: digest }, '')];
    });
  }

  /** Stores rows. Adds those at fault to `rejected`. */
  async #store(rows: readonly PackedRow[], rejected: Entry[]): Promise<Written> {
    const { dialect } = this.#tx;
    const { pack, how } = this.#from;
    const put = how === 'load' ? loadNew : stagedUpsert;
    const upsert = async (some: readonly PackedRow[]): Promise<Written> => {
      let written = NOTHING;
      // A row that was packed before a column was made has no answer for it.
      for (const [columns, alike] of Map.groupBy(some, ({ columns }) => columns))
        written = plus(written, await put(this.#tx, { columns, rows: alike }, this.#writing));
      return written;
    };
    if (how !== 'halve') return upsert(rows);
    const store = async (some: readonly PackedRow[]): Promise<Written> => {
      try {
        return await inSavepoint(this.#tx, () => upsert(some));
      } catch (error) {
        const description = dialect.describe(error);
        if (description?.refused !== 'row') throw error;
        if (some.length > 1) {
          const half = some.length >> 1;
          return plus(await store(some.slice(0, half)), await store(some.slice(half)));
        }
        // Only a fault of the row itself rejects it. If it is refused even without its answers, the target has failed (L6).
        const [row] = some;
        if (row === undefined || !(await takes({ ...row, cells: new Map() }))) throw error;
        rejected.push(entryOf('rejected', row, description.what));
        return NOTHING;
      }
    };
    const takes = async (row: Row): Promise<boolean> => {
      const rolledBack = new Error('rolled back');
      const tried = inSavepoint(this.#tx, async () => {
        await upsert([pack(row)]);
        throw rolledBack;
      });
      return tried.catch((error: unknown) => error === rolledBack);
    };
    return store(rows);
  }

  /** Removes entries that this change settles; true if there were any. `kept`: the rows that it stores. */
  async #settle(entries: readonly Entry[], kept: readonly Row[]): Promise<boolean> {
    const { state } = this.#from;
    const { among } = this.#tx.dialect;
    const { settled = [], deleted = [] } = this.#change;
    let many = 0;
    const drop = async (kinds: readonly EntryKind[], ids: readonly string[]): Promise<void> => {
      if (ids.length === 0) return;
      many += await this.#tx.run(
        `DELETE FROM _mirror_entries WHERE form_id = $1 AND ${among('kind', '$2')} AND ${among('id', '$3')}`,
        [state.formId, kinds, ids],
      );
    };
    const { held, undecided, rejected } = state.tally;
    if (held + undecided + rejected > 0) {
      const stored = kept.map(({ id }) => id);
      await drop(['held', 'undecided'], stored);
      // An entry that is listed again keeps its first time.
      const listed = new Set(entries.map(({ id }) => id));
      const unlisted = stored.filter((id) => !listed.has(id));
      await drop(['rejected'], unlisted);
    }
    for (const { kind, ids } of settled) await drop([kind], ids);
    await drop(['rejected', 'held', 'undecided', 'refused'], deleted);
    return many > 0;
  }

  async #list(entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    const { dialect } = this.#tx;
    const { formId, at } = this.#writing;
    const taken = ['status', 'created_at', 'reason', 'last_seen_at'];
    const rows = entries.map(({ kind, id, status, createdAt, reason, atMs }) => {
      const seen = kind === 'refused' ? timeAt(atMs * 1_000, dialect) : at;
      return {
        form_id: formId,
        kind,
        id,
        status,
        created_at: dialect.timeParam(createdAt),
        reason,
        first_seen_at: seen,
        last_seen_at: seen,
      };
    });
    // If one is listed twice, the last counts.
    const last = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row] as const));
    const key = ['form_id', 'kind', 'id'];
    await insert(this.#tx, '_mirror_entries', [...last.values()], key, taken);
  }
}

function plus(a: Written, b: Written): Written {
  const more = new Map(a.more);
  for (const [status, n] of b.more) addTo(more, status, n);
  return { inserted: a.inserted + b.inserted, updated: a.updated + b.updated, more };
}

/** An entry that is listed as of the commit. */
const entryOf = (
  kind: 'rejected' | 'forgotten',
  { id, status, createdAt }: Pick<Entry, 'id' | 'status' | 'createdAt'>,
  reason: string,
): Entry => ({ kind, id, status, createdAt, reason, atMs: 0 });
