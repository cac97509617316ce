import type { Asker } from './sqlite-asker.ts';

/** A stored row as SQL shows it. */
export interface TableRow {
  id: string;
  status: string;
  created_at: string | null;
  _changed_at: string;
  _deleted_at: string | null;
  [column: string]: unknown;
}

/** Reads a SQL target directly, not through the code under test. */
export class TableView {
  readonly #asker: Asker;
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
