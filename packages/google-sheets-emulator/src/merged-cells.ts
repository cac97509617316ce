import type { Document } from './document.ts';

/**
 * The fate of a value that is written to a cell under merged ones; Google documents nothing. `kept`: it is stored,
 * hidden, and read like any other; `dropped`: the write succeeds, and the cell stays empty.
 */
export type CoveredCells = 'kept' | 'dropped';

/** Empties all cells that merged cells cover, except the first of each. */
export function dropCovered({ sheets }: Document): void {
  for (const sheet of sheets) {
    for (const range of sheet.overlays.merges) {
      const [top, left] = [range.startRowIndex ?? 0, range.startColumnIndex ?? 0];
      const bottom = Math.min(range.endRowIndex ?? sheet.rowCount, sheet.usedRows);
      for (let index = top; index < bottom; index++) {
        const cells = sheet.row(index)?.cells ?? [];
        const right = Math.min(range.endColumnIndex ?? sheet.columnCount, cells.length);
        sheet.editRow(index, (row) => {
          for (let column = left; column < right; column++) {
            if (index !== top || column !== left) row.content(column, null);
          }
        });
      }
    }
  }
}
