import { cellText, looksHashed, toCell } from '../../mirror/cells.ts';
import { parseJson } from '../../mirror/json.ts';
import type { Cell, Json } from '../../mirror/types.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Erasure } from '../../mirror/port.ts';
import {
  change,
  changeRows,
  insert,
  pagesOf,
  quoted,
  type Session,
  type SqlField,
  type SqlRow,
  textOf,
  textOrNull,
  timeAt,
} from './dialect.ts';
import { decodeRow, encodeMore, MORE, ownColumns } from './fields.ts';
import { countTally } from './tally.ts';

/** The target of an erasure. */
export interface Erasing {
  readonly state: FormState;
  readonly fields: readonly SqlField[];
  readonly columns: ReadonlySet<string>;
  readonly digestOf: (id: string) => string;
  /** ISO. */
  readonly at: string;
}

export interface Erased {
  readonly state: FormState;
  readonly rows: number;
}

/** How many rows are rewritten at once. */
const ROWS_AT_ONCE = 2_000;

/** Fields whose answers are replaced, and by what. */
interface Rewriting {
  readonly wanted: readonly SqlField[];
  /** All fields without columns of their own, whose answers are in one. */
  readonly more: readonly SqlField[];
  readonly change: (cell: Cell) => string | null;
}

/** Erases within a transaction; bytes that are left in files are for `scrub`. */
export class Eraser {
  readonly #tx: Session;
  readonly #from: Erasing;
  readonly #formId: string;
  /** The form's table, quoted. */
  readonly #table: string;

  constructor(tx: Session, from: Erasing) {
    [this.#tx, this.#from] = [tx, from];
    [this.#formId, this.#table] = [from.state.formId, quoted(from.state.place)];
  }

  async erase(what: Erasure): Promise<Erased> {
    const { state } = this.#from;
    const rows = await this.#rowsOf(what);
    return { rows, state: { ...state, tally: await countTally(this.#tx, state) } };
  }

  async #rowsOf(what: Erasure): Promise<number> {
    switch (what.kind) {
      case 'forget':
        return this.#forget(what.ids);
      case 'remember':
        return this.#tx.run(
          `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind = 'forgotten' AND ${this.#tx.dialect.among('id', '$2')}`,
          [this.#formId, what.ids.map(this.#from.digestOf)],
        );
      case 'purge':
        return this.#purge(what);
      case 'columns':
        return this.#rewrite(what.fieldIds, () => null);
      case 'rehash':
        return this.#rewrite(what.fieldIds, (cell) =>
          cellText(looksHashed(cell) ? cell : what.hash(cell)),
        );
    }
  }

  async #forget(ids: readonly string[]): Promise<number> {
    const { digestOf, at } = this.#from;
    const { timeOf, timeParam, among } = this.#tx.dialect;
    const known = new Map<string, SqlRow>();
    // A live row knows better than the list of rejected submissions.
    for (const [from, params] of [
      [
        `_mirror_entries WHERE form_id = $1 AND kind = 'rejected' AND ${among('id', '$2')}`,
        [this.#formId, ids],
      ],
      [`${this.#table} WHERE _deleted_at IS NULL AND ${among('id', '$1')}`, [ids]],
    ] as const)
      for (const row of await this.#tx.query(`SELECT id, status, created_at FROM ${from}`, params))
        known.set(textOf(row['id']), row);
    // An unknown one is remembered too; the source's list later shows its status.
    const entries = [...new Set(ids)].map((id) => ({
      form_id: this.#formId,
      kind: 'forgotten',
      id: digestOf(id),
      status: textOrNull(known.get(id)?.['status'] ?? null),
      created_at: timeParam(timeOf(known.get(id)?.['created_at'])),
      reason: '',
      first_seen_at: timeParam(at),
      last_seen_at: timeParam(at),
    }));
    await insert(this.#tx, '_mirror_entries', entries, ['form_id', 'kind', 'id']);
    await change(
      this.#tx,
      `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind <> 'forgotten' AND ${among('id', '$2')}`,
      [this.#formId, ids],
    );
    await change(
      this.#tx,
      `DELETE FROM _mirror_versions WHERE form_id = $1 AND ${among('submission_id', '$2')}`,
      [this.#formId, ids],
    );
    return this.#tx.run(`DELETE FROM ${this.#table} WHERE ${among('id', '$1')}`, [ids]);
  }

  async #purge({
    deletedBeforeMs,
    versionsBeforeMs,
  }: Extract<Erasure, { kind: 'purge' }>): Promise<number> {
    let erased = 0;
    if (deletedBeforeMs !== null) {
      const before = timeAt(deletedBeforeMs * 1_000, this.#tx.dialect);
      await change(
        this.#tx,
        `DELETE FROM _mirror_versions WHERE form_id = $1 AND submission_id IN (SELECT id FROM ${this.#table} WHERE _deleted_at < $2)`,
        [this.#formId, before],
      );
      erased += await this.#tx.run(`DELETE FROM ${this.#table} WHERE _deleted_at < $1`, [before]);
    }
    if (versionsBeforeMs !== null)
      erased += await this.#tx.run(
        'DELETE FROM _mirror_versions WHERE form_id = $1 AND until < $2',
        [this.#formId, timeAt(versionsBeforeMs * 1_000, this.#tx.dialect)],
      );
    return erased;
  }

  /** Replaces each stored answer of some fields, in rows and in versions, deleted rows included. How many rows had one. */
  async #rewrite(fieldIds: readonly string[], change: Rewriting['change']): Promise<number> {
    const { fields, columns } = this.#from;
    const ids = new Set(fieldIds);
    const wanted = fields.filter(
      ({ id, column, isInMore }) =>
        ids.has(id) && column !== null && columns.has(isInMore ? MORE : column),
    );
    if (wanted.length === 0) return 0;
    const inMore = fields.filter(({ isInMore }) => isInMore);
    const more = wanted.some(({ isInMore }) => isInMore) ? inMore : [];
    await this.#rewriteVersions({ wanted, more, change });
    return this.#rewriteRows({ wanted, more, change });
  }

  async #rewriteRows(rewriting: Rewriting): Promise<number> {
    const own = rewriting.wanted.flatMap((field) => ownColumns(field, this.#from.columns));
    if (rewriting.more.length > 0) own.push(MORE);
    const empty = new Set(
      rewriting.wanted.filter(({ type }) => type !== 'text').map(({ column }) => column),
    );
    const names = own.filter((name) => !empty.has(name));
    let many = 0;
    for await (const page of pagesOf(this.#tx, {
      select: ['id', ...own.map(quoted)].join(', '),
      from: this.#table,
      where: [],
      params: [],
      size: ROWS_AT_ONCE,
    })) {
      const rows = page.flatMap((row) => {
        const values = rewritten(row, rewriting);
        const id = textOf(row['id']);
        return values === null ? [] : [[id, ...names.map((name) => values[name] ?? null)]];
      });
      many += rows.length;
      await changeRows(this.#tx, {
        table: this.#table,
        keys: ['id'],
        names: names.map(quoted),
        emptied: own.filter((name) => empty.has(name)).map(quoted),
        rows,
      });
    }
    return many;
  }

  /** Versions keep their answers by column name, as JSON. A text that cannot be read as JSON keeps none of them. */
  async #rewriteVersions(rewriting: Rewriting): Promise<void> {
    const versions = await this.#tx.query(
      'SELECT submission_id, until, answers FROM _mirror_versions WHERE form_id = $1 AND answers IS NOT NULL',
      [this.#formId],
    );
    const rows = versions.map(({ submission_id: id, until, answers }) => {
      const parsed = parseJson(textOf(answers));
      const kept = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : [];
      // SQLite keeps JSON as text, PostgreSQL as a value.
      const row = Object.fromEntries(
        kept.map(([name, value]) => [name, cellText(toCell(value as Json))] as const),
      );
      const next = [...kept, ...Object.entries(rewritten(row, rewriting) ?? {})];
      const text = JSON.stringify(Object.fromEntries(next));
      return [this.#formId, textOf(id), textOf(until), text];
    });
    await changeRows(this.#tx, {
      table: '_mirror_versions',
      keys: ['form_id', 'submission_id', 'until'],
      names: ['answers'],
      emptied: [],
      rows,
    });
  }
}

/**
 * The columns of these fields with their answers replaced; null where nothing changes. The text that replaces an answer goes where a
 * text answer of the field goes: a column of numbers or JSON cannot hold it.
 */
function rewritten(
  row: Readonly<Record<string, unknown>>,
  { wanted, more, change }: Rewriting,
): Readonly<Record<string, string | null>> | null {
  const own = wanted.filter(({ isInMore }) => !isInMore);
  const cells = decodeRow([...own, ...more], row);
  const values: Record<string, string | null> = {};
  let isChanged = false;
  for (const { id, column, textColumn, type, isInMore } of wanted) {
    const cell = cells.get(id) ?? null;
    const next = cell === null ? null : change(cell);
    if (next !== cell) isChanged = true;
    cells.set(id, next);
    if (isInMore) continue;
    values[column ?? ''] = type === 'text' ? next : null;
    if (textColumn !== null) values[textColumn] = type === 'text' ? null : next;
  }
  if (more.length > 0) values[MORE] = encodeMore(more, cells);
  return isChanged ? values : null;
}
