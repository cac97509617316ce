import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** A stored row as anybody with SQL sees it. */
export interface TableRow {
  id: string;
  status: string;
  created_at: string | null;
  _changed_at: string;
  _deleted_at: string | null;
  [column: string]: unknown;
}

/** Looks into a SQLite target from outside, not through our own code. */
export class TableView {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** All rows of a form's table by ID; empty when there is none. */
  rows(formId: string): Map<string, TableRow> {
    return this.#read(new Map(), (db) => {
      const table = tableOf(db, formId);
      if (table === undefined) return new Map();
      const rows = db.prepare(`select * from "${table}"`).all() as unknown as TableRow[];
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

function tableOf(db: DatabaseSync, formId: string): string | undefined {
  const row = db.prepare('select table_name from mirror_forms where form_id = ?').get(formId);
  return (row as { table_name: string } | undefined)?.table_name;
}
