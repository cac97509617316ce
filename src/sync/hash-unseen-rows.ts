import type { StoredRow } from '../mirror/port.ts';
import { looksHashed } from '../mirror/cells.ts';

/** The fields to be hashed of which a row holds a plain answer. */
export const plainFields = (row: StoredRow, hashed: readonly string[]): string[] =>
  hashed.filter((id) => {
    const cell = row.cells.get(id) ?? null;
    return cell !== null && cell !== '' && !looksHashed(cell);
  });
