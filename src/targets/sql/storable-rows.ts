import { createHash } from 'node:crypto';
import { cutToBytes } from '../../mirror/column-names.ts';
import type { Cell, Rejection, Row } from '../../mirror/types.ts';
import type { SqlDialect, StorableRow } from './dialect.ts';
import type { FieldColumn } from './field-column.ts';

/** Longest submission ID that becomes a key; PostgreSQL's index takes some 2,700 bytes for all key columns together. */
const MAX_ID_BYTES = 600;
/** Longest reason in `mirror_rejected`, part of a key as well. */
const MAX_REASON_BYTES = 1_000;
/** Most characters of all answers of a row: PostgreSQL and SQLite both end below 1 GB, and a batch must fit into memory. */
const MAX_ROW_CHARACTERS = 200_000_000;

/** A batch as the database can hold it. */
export interface StorableBatch {
  /** In the order of the batch; undefined where the row can't be stored at all. */
  readonly rows: readonly (StorableRow | undefined)[];
  /** What was replaced and what can't be stored. */
  readonly rejections: readonly Rejection[];
}

/** Replaces in a batch what the database can't hold (L10) and sorts out rows that it can't hold at all (L6). */
export function storableBatch(
  rows: readonly Row[],
  fields: readonly FieldColumn[],
  dialect: SqlDialect,
): StorableBatch {
  const rejections: Rejection[] = [];
  const storable = rows.map((row) => {
    const defect = hopelessDefect(row);
    if (defect !== undefined) {
      rejections.push({ submissionId: row.id, reason: defect, stored: false });
      return undefined;
    }
    const { row: cleaned, columns } = cleanedRow(row, fields, dialect);
    if (columns.length > 0) {
      const reason = replacedReason(columns, dialect);
      rejections.push({ submissionId: row.id, reason, stored: true });
    }
    return cleaned;
  });
  return { rows: storable, rejections };
}

/** True for an ID that a row here can have. Any other one is in no table, so nobody needs to ask. */
export function isStorableId(id: string): boolean {
  return id.isWellFormed() && !id.includes('\0') && Buffer.byteLength(id) <= MAX_ID_BYTES;
}

/** A rejection as it can be listed: an ID that can't be stored is cut and cleaned, and told apart by a hash. */
export function listable(rejection: Rejection): Rejection {
  const { submissionId } = rejection;
  const reason = cutToBytes(cleanText(rejection.reason), MAX_REASON_BYTES);
  if (isStorableId(submissionId)) return { ...rejection, reason };
  const hash = createHash('sha256').update(submissionId).digest('hex').slice(0, 12);
  const shown = cutToBytes(cleanText(submissionId), MAX_ID_BYTES - 20);
  return { ...rejection, reason, submissionId: `${shown} #${hash}` };
}

/** `text` without what some database can't hold: for labels, names and messages, where nobody needs to be told. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}');
}

function hopelessDefect(row: Row): string | undefined {
  if (!isStorableId(row.id)) {
    return `the submission ID has more than ${MAX_ID_BYTES} bytes or characters that no key can hold`;
  }
  let characters = 0;
  for (const cell of row.cells.values()) {
    if (typeof cell === 'string') characters += cell.length;
  }
  return characters > MAX_ROW_CHARACTERS
    ? `the answers have more than ${MAX_ROW_CHARACTERS / 1e6} million characters`
    : undefined;
}

function cleanedRow(
  row: Row,
  fields: readonly FieldColumn[],
  dialect: SqlDialect,
): { row: StorableRow; columns: string[] } {
  const columns: string[] = [];
  const clean = (text: string, column: string): string => {
    const storable = dialect.takesNul ? text.toWellFormed() : cleanText(text);
    if (storable !== text) columns.push(column);
    return storable;
  };
  const cells = fields.map((field): Cell => {
    const cell = row.cells.get(field.id) ?? null;
    return typeof cell === 'string' ? clean(cell, field.column) : cell;
  });
  const { id, createdAt } = row;
  return { row: { id, status: clean(row.status, 'status'), createdAt, cells }, columns };
}

function replacedReason(columns: readonly string[], dialect: SqlDialect): string {
  const named = columns.slice(0, 3).join(', ');
  const more = columns.length > 3 ? ` and ${columns.length - 3} more` : '';
  return `${named}${more}: characters that ${dialect.product} can't hold were replaced by U+FFFD`;
}
