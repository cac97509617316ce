import { insertDimension } from './dimensions.ts';
import type { Edit } from './edit.ts';
import type { Area, Sheet, Table } from './sheet.ts';
import { hasFooter, replaceTable, tableArea, tableBody, withArea } from './tables.ts';

/** The row behind the last one of a table's body that holds something. */
function bodyEnd(sheet: Sheet, table: Table): number {
  const body = tableBody(table);
  for (let row = body.bottom - 1; row >= body.top; row--) {
    for (let column = body.left; column < body.right; column++) {
      if (sheet.cell(row, column).content !== null) return row + 1;
    }
  }
  return body.top;
}

const isEmpty = (sheet: Sheet, area: Area): boolean => {
  for (let row = area.top; row < Math.min(area.bottom, sheet.usedRows); row++) {
    const cells = sheet.row(row)?.cells.slice(area.left, area.right) ?? [];
    if (cells.some((content) => content !== null)) return false;
  }
  return true;
};

/**
 * Makes room for rows at the end of a table's body and takes them into it; returns the first of them. Rows come in above a
 * footer, and above what stands below the table, which moves down: what Google does there is not known, but for that
 * the rows end up in the body.
 */
export function roomInTable(edit: Edit, sheet: Sheet, table: Table, count: number): number {
  const top = bodyEnd(sheet, table);
  const area = tableArea(table);
  const body = tableBody(table);
  const missing = top + count - body.bottom;
  if (missing <= 0) return top;
  const below = { ...area, top: area.bottom, bottom: area.bottom + missing };
  if (hasFooter(table)) {
    insertDimension(edit.document, sheet, 'ROWS', body.bottom, missing, body.bottom - 1);
    return top;
  }
  if (!isEmpty(sheet, below)) {
    insertDimension(edit.document, sheet, 'ROWS', area.bottom, missing, area.bottom - 1);
  }
  sheet.rowCount = Math.max(sheet.rowCount, below.bottom);
  edit.document.checkSize();
  replaceTable(sheet, withArea(table, { ...area, bottom: area.bottom + missing }));
  return top;
}

/** Where values go that would be appended below a table with a footer: above it, in rows of their own. */
export function roomAboveFooter(
  edit: Edit,
  sheet: Sheet,
  { top, left }: { top: number; left: number },
  count: number,
): number {
  const table = sheet.overlays.tables.find((one) => {
    const area = tableArea(one);
    return hasFooter(one) && area.bottom === top && left >= area.left && left < area.right;
  });
  if (table === undefined || count === 0) return top;
  const footer = top - 1;
  insertDimension(edit.document, sheet, 'ROWS', footer, count, footer - 1);
  return footer;
}
