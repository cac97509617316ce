import { MirrorError } from '../../src/base/errors.ts';
import { forgottenHash } from '../../src/mirror/forgotten.ts';
import { sameCell } from '../../src/mirror/cell.ts';
import { labelMap } from '../../src/mirror/label-map.ts';
import type { Form } from '../../src/mirror/types.ts';
import type { Cell, FormIdentity, PickedField, Row } from '../../src/core/mirror/port.ts';
import { type FormState, newFormState, nextCommitUs } from '../../src/core/mirror/form-state.ts';
import {
  countsOf,
  entriesAfter,
  forgetIn,
  isIn,
  type LedgerRow,
  tallyOf,
} from '../../src/core/mirror/ledger.ts';
import type {
  Applied,
  Change,
  Count,
  CountQuery,
  Entry,
  EntryKind,
  Erasure,
  Grain,
  OpenForm,
  RowQuery,
  Run,
  Store,
  StoredField,
  StoredForm,
  StoredRecord,
  StoredRow,
} from '../../src/core/mirror/port.ts';

/*
 * A target in memory: the plainest thing that the port can mean, to judge the core with and to hold other stores against.
 */

export interface MemoryRow extends StoredRow, LedgerRow {
  readonly changedUs: number;
  readonly deletedMs: number | null;
  /** Statuses that it had, the oldest first. */
  readonly statuses: readonly string[];
}

/** What is durable of one form. */
export interface MemoryForm {
  state: FormState;
  revision: number;
  fields: readonly StoredField[];
  rows: ReadonlyMap<string, MemoryRow>;
  /** By kind and ID. */
  entries: ReadonlyMap<string, Entry>;
  runs: readonly Run[];
  /** Whoever has the lease. */
  writer: object | null;
}

/** What is durable of a target: it outlives the processes that have it open. */
export class MemoryPlace {
  readonly forms = new Map<string, MemoryForm>();
  readonly records = new Map<string, StoredRecord>();
}

/** What a process tells of what it does: throws where it dies. */
export type OnAct = (what: string) => void;

const SALT = 'salt';

export class MemoryStore implements Store {
  readonly #place: MemoryPlace;
  readonly #now: () => number;
  readonly #act: OnAct;
  /** Called when a lease is taken: what ends it when its process dies. */
  readonly #onLease: (end: () => void) => void;

  constructor(
    place: MemoryPlace,
    now: () => number,
    act: OnAct = () => {},
    onLease: (end: () => void) => void = () => {},
  ) {
    [this.#place, this.#now, this.#act, this.#onLease] = [place, now, act, onLease];
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async check(): Promise<[]> {
    return [];
  }

  async forms(): Promise<StoredForm[]> {
    return [...this.#place.forms.values()].map(({ state, fields }) => ({
      state,
      fields,
      losses: [],
      notices: [],
    }));
  }

  states(): Promise<StoredForm[]> {
    return this.forms();
  }

  async snapshot(): Promise<null> {
    return null;
  }

  async relations(): Promise<null> {
    return null;
  }

  async record(key: string): Promise<StoredRecord | null> {
    return this.#place.records.get(key) ?? null;
  }

  async putRecord(key: string, value: unknown, revision: number | null): Promise<boolean> {
    const before = this.#place.records.get(key);
    if ((before?.revision ?? null) !== revision) return false;
    this.#act(`before the record ${key}`);
    const copy: unknown = JSON.parse(JSON.stringify(value));
    this.#place.records.set(key, { value: copy, revision: (revision ?? 0) + 1 });
    this.#act(`after the record ${key}`);
    return true;
  }

  open(form: FormIdentity, mode: 'write'): Promise<OpenForm>;
  open(form: Pick<FormIdentity, 'id'>, mode: 'read'): Promise<OpenForm | null>;
  async open(
    form: Partial<FormIdentity> & { id: string },
    mode: 'read' | 'write',
  ): Promise<OpenForm | null> {
    const held = this.#place.forms.get(form.id);
    if (mode === 'read')
      return held === undefined ? null : new MemoryOpenForm(held, this.#now, this.#act, null);
    const { id, slug = id, name = id } = form;
    const made: MemoryForm = held ?? {
      state: newFormState({ formId: id, slug, name, place: id }),
      revision: 0,
      fields: [],
      rows: new Map(),
      entries: new Map(),
      runs: [],
      writer: null,
    };
    if (made.writer !== null) throw new MirrorError('TARGET_BUSY', 'another process has the form');
    const writer = {};
    made.writer = writer;
    this.#place.forms.set(id, made);
    made.state = { ...made.state, slug, name };
    this.#onLease(() => {
      if (made.writer === writer) made.writer = null;
    });
    return new MemoryOpenForm(made, this.#now, this.#act, writer);
  }
}

class MemoryOpenForm implements OpenForm {
  readonly losses: readonly string[] = [];
  readonly #held: MemoryForm;
  readonly #now: () => number;
  readonly #act: OnAct;
  readonly #writer: object | null;
  #revision: number;
  #prepared: readonly PickedField[] = [];

  constructor(held: MemoryForm, now: () => number, act: OnAct, writer: object | null) {
    [this.#held, this.#now, this.#act, this.#writer] = [held, now, act, writer];
    this.#revision = held.revision;
  }

  get state(): FormState {
    return this.#held.state;
  }

  get fields(): readonly StoredField[] {
    return this.#held.fields;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#writer !== null && this.#held.writer === this.#writer) this.#held.writer = null;
  }

  async *rows(query: RowQuery, cells = false): AsyncIterable<readonly StoredRow[]> {
    const rows = this.#query(query);
    if (cells) yield rows;
    else yield rows.map((row) => Object.assign({}, row, { cells: new Map() }));
  }

  async counts(query: CountQuery, grain: Grain): Promise<Count[]> {
    return countsOf(this.#held.rows, this.#held.entries, query, grain);
  }

  async *entries(kind: EntryKind): AsyncIterable<readonly Entry[]> {
    yield [...this.#held.entries.values()].filter((entry) => entry.kind === kind);
  }

  async forgotten(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map(
      ids.flatMap((id) => {
        const digest = this.#digest(id);
        return this.#held.entries.has(`forgotten ${digest}`) ? [[id, digest] as const] : [];
      }),
    );
  }

  async runs(limit: number): Promise<Run[]> {
    return this.#held.runs.slice(-limit).toReversed();
  }

  async prepare(form: Form, fields: readonly PickedField[]): Promise<void> {
    this.#prepared = fields;
    const known = new Map(this.#held.fields.map((field) => [field.id, field]));
    const selected = new Set(fields.map(({ id }) => id));
    for (const { id, label, position, inSchema } of fields) {
      const column = known.get(id)?.column ?? null;
      known.set(id, {
        id,
        label,
        position,
        column,
        isFilled: column !== null,
        isInForm: inSchema,
      });
    }
    const labels = labelMap(form);
    for (const [id, field] of known) {
      const now = labels.get(id);
      if (!selected.has(id)) known.set(id, { ...field, ...now, isInForm: now !== undefined });
    }
    this.#act('before fields');
    this.#held.fields = [...known.values()];
    this.#act('after fields');
  }

  async commit(change: Change): Promise<Applied> {
    const { rows = [], deleted = [], state = (same) => same } = change;
    const held = this.#held;
    if (this.#writer === null || held.writer !== this.#writer || held.revision !== this.#revision)
      throw new MirrorError('TARGET_BUSY', 'another writer has committed since');
    const now = this.#now();
    const commitUs = nextCommitUs(held.state, now);
    const nextRows = new Map(held.rows);
    const known = rows.filter(({ id }) => !held.entries.has(`forgotten ${this.#digest(id)}`));
    const applied = { inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 };
    for (const row of known) {
      const before = nextRows.get(row.id);
      if (before !== undefined && isSameRow(before, row, this.#prepared)) {
        applied.unchanged++;
        continue;
      }
      applied[before === undefined ? 'inserted' : 'updated']++;
      nextRows.set(row.id, this.#stored(row, before, commitUs));
    }
    for (const id of deleted) {
      const row = nextRows.get(id);
      if (row === undefined || row.isDeleted) continue;
      applied.deleted++;
      nextRows.set(id, {
        ...row,
        isDeleted: true,
        deletedAt: new Date(now).toISOString(),
        deletedMs: now,
        changedUs: commitUs,
      });
    }
    const stored = known.map(({ id }) => id);
    const nextEntries = entriesAfter(held.entries, change, stored, (id) => this.#digest(id));
    this.#act('before COMMIT');
    held.rows = nextRows;
    held.entries = nextEntries;
    held.state = state({ ...held.state, commitUs, tally: tallyOf(nextRows, nextEntries) });
    if (change.run !== undefined) held.runs = [...held.runs, change.run];
    held.revision++;
    this.#revision = held.revision;
    this.#act('after COMMIT');
    return applied;
  }

  async erase(what: Erasure): Promise<number> {
    const held = this.#held;
    const [rows, entries] = [new Map(held.rows), new Map(held.entries)];
    let erased = 0;
    switch (what.kind) {
      case 'forget':
        for (const id of what.ids) {
          forgetIn(entries, id, rows.get(id), { digest: this.#digest(id), atMs: this.#now() });
          if (rows.delete(id)) erased++;
        }
        break;
      case 'remember':
        for (const id of what.ids) entries.delete(`forgotten ${this.#digest(id)}`);
        break;
      case 'purge':
        for (const [id, { deletedMs }] of rows) {
          if (deletedMs === null || deletedMs >= (what.deletedBeforeMs ?? -Infinity)) continue;
          rows.delete(id);
          erased++;
        }
        break;
      case 'columns':
      case 'rehash': {
        const hash = what.kind === 'rehash' ? what.hash : (): Cell => null;
        for (const [id, row] of rows) {
          const cells = new Map(row.cells);
          for (const fieldId of what.fieldIds) {
            const cell = cells.get(fieldId) ?? null;
            if (cell !== null && !(typeof cell === 'string' && /^[0-9a-f]{64}$/.test(cell)))
              cells.set(fieldId, hash(cell));
          }
          rows.set(id, { ...row, cells });
        }
        break;
      }
    }
    this.#act('before COMMIT');
    [held.rows, held.entries] = [rows, entries];
    held.state = { ...held.state, tally: tallyOf(rows, entries) };
    held.revision++;
    this.#revision = held.revision;
    this.#act('after COMMIT');
    return erased;
  }

  async finish(): Promise<[]> {
    return [];
  }

  #digest(id: string): string {
    return forgottenHash(SALT, this.#held.state.formId, id);
  }

  #stored(row: Row, before: MemoryRow | undefined, changedUs: number): MemoryRow {
    const cells = new Map(before?.cells);
    for (const { id } of this.#prepared) {
      const cell = row.cells.get(id) ?? null;
      cells.set(id, cell);
      this.#held.fields = this.#held.fields.map((field) =>
        field.id === id && cell !== null && field.column === null
          ? { ...field, column: id }
          : field,
      );
    }
    const had = before?.statuses ?? [];
    const statuses = had.at(-1) === row.status ? had : [...had, row.status];
    const { id, status, createdAt } = row;
    return {
      id,
      status,
      createdAt,
      isDeleted: false,
      deletedAt: null,
      deletedMs: null,
      cells,
      changedUs,
      statuses,
    };
  }

  #query(query: RowQuery): MemoryRow[] {
    const ids = query.ids === undefined ? null : new Set(query.ids);
    const isDeleted = query.isDeleted === true;
    return [...this.#held.rows.values()].filter(
      (row) => row.isDeleted === isDeleted && (ids === null || ids.has(row.id)) && isIn(row, query),
    );
  }
}

function isSameRow(before: MemoryRow, row: Row, fields: readonly PickedField[]): boolean {
  return (
    !before.isDeleted &&
    before.status === row.status &&
    before.createdAt === row.createdAt &&
    fields.every(({ id }) => sameCell(before.cells.get(id) ?? null, row.cells.get(id) ?? null))
  );
}
