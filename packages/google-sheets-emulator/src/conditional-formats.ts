import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Calculator } from './calculator.ts';
import { Formula } from './cell.ts';
import { copyFormula } from './formula-moves.ts';
import { type Area, cellsOf, meets, type Sheet } from './sheet.ts';

type Rule = sheets_v4.Schema$ConditionalFormatRule;

function hit(rule: Rule, row: number, column: number): Area | undefined {
  const areas = (rule.ranges ?? []).map(cellsOf);
  const cell = { top: row, bottom: row + 1, left: column, right: column + 1 };
  // A relative reference in the rule's formula counts from the top left of its first range.
  return areas.some((area) => meets(area, cell)) ? areas[0] : undefined;
}

/**
 * The additions of conditional formatting to a cell's format: of the matching rules, the earlier one takes precedence. A
 * condition that forms-mirror does not use never matches.
 */
export function conditionalFormat(
  calculator: Calculator,
  sheet: Sheet,
  row: number,
  column: number,
): sheets_v4.Schema$CellFormat | undefined {
  const formats = sheet.overlays.conditionalFormats.flatMap((rule) => {
    const { condition, format } = rule.booleanRule ?? {};
    const origin = hit(rule, row, column);
    if (!condition || !format || origin === undefined) return [];
    const [operand] = condition.values ?? [];
    const text = operand?.userEnteredValue ?? '';
    if (condition.type === 'TEXT_EQ')
      return calculator.text(sheet, row, column).toLowerCase() === text.toLowerCase()
        ? [format]
        : [];
    if (condition.type !== 'CUSTOM_FORMULA') return [];
    const moved = copyFormula(new Formula(text), row - origin.top, column - origin.left);
    return calculator.evaluate(moved, sheet, row, column) === true ? [format] : [];
  });
  if (formats.length === 0) return undefined;
  return formats.reduceRight((later, earlier) =>
    Object.assign({}, later, earlier, {
      textFormat: Object.assign({}, later.textFormat, earlier.textFormat),
    }),
  );
}
