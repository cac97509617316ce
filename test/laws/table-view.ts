import type { FormWindow } from '../../src/mirror/window.ts';
import type { Asker } from './law-places.ts';

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

/** Reads a SQL target directly, not through the code under test. */
export class TableView {
  readonly #asker: Asker;
  /** Forms whose last pass died with a write that may have been made: what was lost may be there again. */
  readonly unheard = new Set<string>();

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  /** All rows of a form's table by ID; empty when there is none. */
  rows(formId: string): Map<string, TableRow> {
    const table = this.#tableOf(formId);
    if (table === undefined) return new Map();
    const rows = this.#asker.all(`select * from "${table}" order by id`) as unknown as TableRow[];
    const sql = `select column_name as own, text_column as beside from mirror_fields where form_id = ? and text_column is not null`;
    const pairs = this.#asker.all(sql, formId) as { own: string; beside: string }[];
    for (const row of rows) for (const { own, beside } of pairs) joinAnswer(row, own, beside);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** The column of each field ID. */
  columns(formId: string): Map<string, string> {
    const rows = this.#ofForm<{ field_id: string; column_name: string }>(
      'select field_id, column_name from mirror_fields where form_id = ?',
      formId,
    );
    return new Map(rows.map((row) => [row.field_id, row.column_name]));
  }

  /** IDs (or `no-id:…`) of the submissions listed as rejected. */
  rejected(formId: string): Set<string> {
    const rows = this.#ofForm<{ submission_id: string }>(
      'select submission_id from mirror_rejected where form_id = ?',
      formId,
    );
    return new Set(rows.map((row) => row.submission_id));
  }

  /** The windows that a form is read in. */
  windows(formId: string): FormWindow[] {
    const rows = this.#ofForm<{ from_at: string; to_at: string }>(
      'select from_at, to_at from mirror_windows where form_id = ? order by ordinal',
      formId,
    );
    return rows.map(({ from_at: from, to_at: to }) => ({ from, to }));
  }

  /** What is wrong with the counts of what was stored, by which losses are found; empty before the first write. */
  miscounts(formId: string): string[] {
    const table = this.#tableOf(formId);
    if (table === undefined) return [];
    const sql = `select row_count, live_count, rejected_count, losses, (select count(*) from "${table}") as held_rows,
      (select count(*) from "${table}" where _deleted_at is null) as held_live,
      (select count(*) from mirror_rejected where form_id = f.form_id) as listed from mirror_forms as f where form_id = ?`;
    const [counts = {}] = this.#asker.all(sql, formId);
    return [
      ...(counts['row_count'] === counts['held_rows'] ? [] : ['rows']),
      ...(counts['live_count'] === counts['held_live'] ? [] : ['live rows']),
      ...(counts['rejected_count'] === counts['listed'] ? [] : ['rejections']),
      ...(counts['losses'] === null ? [] : ['losses']),
    ].map((what) => `L4: ${what} of ${formId} are miscounted, and read again for nothing`);
  }

  /** What a person does to a form's table: deletes a few rows, all of them, or the table. False when there was none. */
  harm(formId: string, harm: Harm): boolean {
    const table = this.#tableOf(formId);
    // An earlier harm may have dropped it.
    if (table === undefined) return false;
    const [before] = this.#asker.all(`select count(*) as many from "${table}"`);
    const view = `drop view if exists "${table}_labelled"`;
    const first = `select id from (select id from "${table}" order by _first_seen_at, id limit 3) as f`;
    const some = `delete from "${table}" where id in (${first})`;
    this.#asker.run(
      { some, all: `delete from "${table}"`, table: `${view}; drop table "${table}"` }[harm],
    );
    return harm === 'table' || Number(before?.['many']) > 0;
  }

  #ofForm<Row>(sql: string, formId: string): Row[] {
    return this.#asker.tables().has('mirror_forms') ? (this.#asker.all(sql, formId) as Row[]) : [];
  }

  /** Undefined for a form that was never mirrored, and for one whose table someone dropped. */
  #tableOf(formId: string): string | undefined {
    const tables = this.#asker.tables();
    if (!tables.has('mirror_forms')) return undefined;
    const sql = 'select table_name from mirror_forms where form_id = ?';
    const table = this.#asker.all(sql, formId)[0]?.['table_name'];
    return typeof table === 'string' && tables.has(table) ? table : undefined;
  }
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
