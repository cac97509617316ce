import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { FormWindow } from '../../src/mirror/window.ts';

/** A stored row as SQL shows it. */
export interface TableRow {
  id: string;
  status: string;
  created_at: string | null;
  _changed_at: string;
  _deleted_at: string | null;
  [column: string]: unknown;
}

/** What people do to a table. */
export type Harm = 'some' | 'all' | 'table';

/** Reads a SQLite target directly, not through the code under test. */
export class TableView {
  readonly #file: string;
  /** Forms whose last pass died with a write that may have been made: what was lost may be there again. */
  readonly unheard = new Set<string>();

  constructor(file: string) {
    this.#file = file;
  }

  /** All rows of a form's table by ID; empty when there is none. */
  rows(formId: string): Map<string, TableRow> {
    return this.#read(new Map(), (db) => {
      const table = tableOf(db, formId);
      if (table === undefined) return new Map();
      const rows = db.prepare(`select * from "${table}"`).all() as unknown as TableRow[];
      const sql = `select column_name as own, text_column as beside from mirror_fields where form_id = ? and text_column is not null`;
      const pairs = db.prepare(sql).all(formId) as { own: string; beside: string }[];
      for (const row of rows) for (const { own, beside } of pairs) joinAnswer(row, own, beside);
      return new Map(rows.map((row) => [row.id, row]));
    });
  }

  /** The column of each field ID. */
  columns(formId: string): Map<string, string> {
    return this.#read(new Map(), (db) => {
      const sql = 'select field_id, column_name from mirror_fields where form_id = ?';
      const rows = db.prepare(sql).all(formId) as { field_id: string; column_name: string }[];
      return new Map(rows.map((row) => [row.field_id, row.column_name]));
    });
  }

  /** IDs (or `no-id:…`) of the submissions listed as rejected. */
  rejected(formId: string): Set<string> {
    return this.#read(new Set(), (db) => {
      const sql = 'select submission_id from mirror_rejected where form_id = ?';
      const rows = db.prepare(sql).all(formId) as { submission_id: string }[];
      return new Set(rows.map((row) => row.submission_id));
    });
  }

  /** The windows that a form is read in. */
  windows(formId: string): FormWindow[] {
    return this.#read([], (db) => {
      const sql = 'select from_at, to_at from mirror_windows where form_id = ? order by ordinal';
      const rows = db.prepare(sql).all(formId) as { from_at: string; to_at: string }[];
      return rows.map(({ from_at: from, to_at: to }) => ({ from, to }));
    });
  }

  /** What is wrong with the counts of what was stored, by which losses are found; empty before the first write. */
  miscounts(formId: string): string[] {
    return this.#read([], (db) => {
      const table = tableOf(db, formId);
      if (table === undefined) return [];
      const sql = `select row_count, live_count, rejected_count, losses, (select count(*) from "${table}") as held_rows,
        (select count(*) from "${table}" where _deleted_at is null) as held_live,
        (select count(*) from mirror_rejected where form_id = f.form_id) as listed from mirror_forms as f where form_id = ?`;
      const counts = db.prepare(sql).get(formId) as Record<string, unknown>;
      return [
        ...(counts['row_count'] === counts['held_rows'] ? [] : ['rows']),
        ...(counts['live_count'] === counts['held_live'] ? [] : ['live rows']),
        ...(counts['rejected_count'] === counts['listed'] ? [] : ['rejections']),
        ...(counts['losses'] === null ? [] : ['losses']),
      ].map((what) => `L4: ${what} of ${formId} are miscounted, and read again for nothing`);
    });
  }

  /** What a person does to a form's table: deletes a few rows, all of them, or the table. False when there was none. */
  harm(formId: string, harm: Harm): boolean {
    if (!existsSync(this.#file)) return false;
    using db = new DatabaseSync(this.#file);
    const table = tableOf(db, formId);
    if (table === undefined) return false;
    // An earlier harm may have dropped it.
    const held = db.prepare(`select 1 from sqlite_master where type = 'table' and name = ?`);
    if (held.get(table) === undefined) return false;
    const before = db.prepare(`select count(*) as rows from "${table}"`).get() as { rows: number };
    const view = `drop view if exists "${table}_labelled"`;
    const some = `delete from "${table}" where id in (select id from "${table}" order by _first_seen_at, id limit 3)`;
    db.exec({ some, all: `delete from "${table}"`, table: `${view}; drop table "${table}"` }[harm]);
    return harm === 'table' || before.rows > 0;
  }

  #read<T>(none: T, look: (db: DatabaseSync) => T): T {
    if (!existsSync(this.#file)) return none;
    const db = new DatabaseSync(this.#file, { readOnly: true });
    try {
      const catalogue = "select 1 from sqlite_master where name = 'mirror_forms'";
      return db.prepare(catalogue).get() === undefined ? none : look(db);
    } finally {
      db.close();
    }
  }
}

/** Undefined for a form that was never mirrored, and for one whose table someone dropped. */
function tableOf(db: DatabaseSync, formId: string): string | undefined {
  const sql =
    'select table_name from mirror_forms join sqlite_master on sqlite_master.name = table_name where form_id = ?';
  const row = db.prepare(sql).get(formId);
  return (row as { table_name: string } | undefined)?.table_name;
}

/** Puts what stands beside a column in its place: all digits of a number, or an answer of another type. */
export function joinAnswer(row: Record<string, unknown>, own: string, beside: string): void {
  row[own] = row[beside] ?? row[own];
  delete row[beside];
}

/** A stored value as text; SQLite gives texts, numbers and null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : (value as string | null);
}
