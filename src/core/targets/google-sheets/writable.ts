import { keepsFrom, type Obstacle } from '../../../targets/google-sheets/api/obstacles.ts';
import type { SheetValue } from '../../../targets/google-sheets/api/cell-value.ts';
import type { ColumnKey } from '../../../targets/google-sheets/api/metadata.ts';
import type { Columns } from './rows.ts';

/** The cells of a row that can be written, and the others with what is in the way of them. */
export interface Writable {
  readonly values: ReadonlyMap<ColumnKey, SheetValue>;
  readonly blocked: readonly ColumnKey[];
  /** Names of obstacles. */
  readonly by: readonly string[];
}

/** Leaves out the cells of a row that people have protected or merged. */
export function writableCells(
  values: ReadonlyMap<ColumnKey, SheetValue>,
  row: number,
  columns: Columns,
  obstacles: readonly Obstacle[],
): Writable {
  if (obstacles.length === 0) return { values, blocked: [], by: [] };
  const open = new Map(values);
  const blocked: ColumnKey[] = [];
  const by = new Set<string>();
  for (const key of values.keys()) {
    // The ID is what the row was found by.
    const column = key === 's:id' ? undefined : columns.get(key);
    const met = column === undefined ? [] : obstacles.filter((one) => keepsFrom(one, row, column));
    if (met.length === 0) continue;
    open.delete(key);
    blocked.push(key);
    for (const { name } of met) by.add(name);
  }
  return { values: open, blocked, by: [...by] };
}

const NAMED_COLUMNS = 5;
const IN_THE_WAY = ' cannot be written because of ';

/** Why a submission's row is not as it should be. `headers`: of the cells that are not written. */
export function blockedReason(headers: readonly string[], by: readonly string[]): string {
  const named = headers.slice(0, NAMED_COLUMNS).map((header) => `"${header}"`);
  const more = headers.length - named.length;
  const cells = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
  return `${cells}${IN_THE_WAY}${by.join(' and ')}.`;
}

/** Whether a reason is one of {@link blockedReason}. */
export const isBlocked = (reason: string): boolean => reason.includes(IN_THE_WAY);
