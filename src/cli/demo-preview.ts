import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { type TextTableOptions, textTable } from './text-table.ts';

const ROWS = 6;
const CELL_WIDTH = 24;

/** The view with the labels that the file has for a form. */
export function viewName(file: string, formId: string): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const form = database.prepare('SELECT view_name FROM mirror_forms WHERE form_id = ?').get(formId);
  return String(form?.['view_name']);
}

/** The newest rows of a form, as anybody sees them who opens the file. */
export function previewLines(
  file: string,
  formId: string,
  options: Pick<TextTableOptions, 'maxWidth' | 'head'>,
): string[] {
  const view = viewName(file, formId);
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare(`SELECT * FROM "${view}" ORDER BY created_at DESC LIMIT ${ROWS}`)
    .all();
  const columns = Object.keys(rows[0] ?? {}).filter(
    (name) => !name.startsWith('_') && name !== 'id',
  );
  return textTable(
    columns.map((title) => ({ title })),
    rows.map((row) => columns.map((column) => cellText(row[column]))),
    { ...options, maxCell: CELL_WIDTH },
  );
}

function cellText(value: SQLOutputValue | undefined): string {
  return value === null || value === undefined || value instanceof Uint8Array ? '' : String(value);
}
