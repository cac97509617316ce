import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { Calculator } from './calculator.ts';
import { meets } from './conditions.ts';
import { boundsOf } from './document.ts';
import type { Edit } from './edit.ts';
import type { Area, Sheet } from './sheet.ts';
import { sortArea } from './sorting.ts';

type Criteria = readonly (readonly [number, sheets_v4.Schema$FilterCriteria])[];

function criteriaOf(filter: sheets_v4.Schema$BasicFilter): Criteria {
  const old = Object.entries(filter.criteria ?? {}).map(
    ([column, criterion]) => [Number(column), criterion] as const,
  );
  const specs = (filter.filterSpecs ?? []).map(
    (spec) => [spec.columnIndex ?? 0, spec.filterCriteria ?? {}] as const,
  );
  return [...new Map([...old, ...specs])];
}

function passes(
  calculator: Calculator,
  sheet: Sheet,
  row: number,
  criteria: Criteria,
  top: number,
): boolean {
  return criteria.every(([column, criterion]) => {
    const text = calculator.text(sheet, row, column);
    if ((criterion.hiddenValues ?? []).includes(text)) return false;
    if (!criterion.condition) return true;
    return meets(criterion.condition, { calculator, sheet, row, column }, { row: top, column });
  });
}

function setHidden(sheet: Sheet, row: number, hidden: boolean): void {
  const { hiddenByFilter, ...properties } = sheet.row(row)?.properties ?? {};
  if ((hiddenByFilter === true) === hidden) return;
  const fresh = hidden ? { ...properties, hiddenByFilter: true } : properties;
  sheet.setRowProperties(row, Object.keys(fresh).length === 0 ? undefined : fresh);
}

/** Sets the tab's filter: sorts by its sort specs, then hides rows. The first row of the range is its header. */
export function applyFilter(edit: Edit, sheet: Sheet, filter: sheets_v4.Schema$BasicFilter): void {
  liftFilter(sheet);
  const whole = sheet.areaOf(boundsOf(filter.range));
  const data: Area = { ...whole, top: whole.top + 1 };
  if (data.top < data.bottom && (filter.sortSpecs ?? []).length > 0) {
    sortArea(edit, sheet, data, filter.sortSpecs ?? []);
  }
  const criteria = criteriaOf(filter);
  if (criteria.length > 0) {
    const calculator = new Calculator(edit.document, edit.nowMs);
    const bottom = Math.min(data.bottom, sheet.usedRows);
    for (let row = data.top; row < bottom; row++) {
      setHidden(sheet, row, !passes(calculator, sheet, row, criteria, data.top));
    }
  }
  sheet.overlays = { ...sheet.overlays, basicFilter: filter };
}

/** Takes the tab's filter away; every row that it hid is shown again. */
export function liftFilter(sheet: Sheet): void {
  if (sheet.overlays.basicFilter === undefined) return;
  for (let row = 0; row < sheet.usedRows; row++) setHidden(sheet, row, false);
  sheet.overlays = { ...sheet.overlays, basicFilter: undefined };
}
