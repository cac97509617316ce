import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { storedRange, type Edit } from './edit.ts';
import type { Sheet } from './sheet.ts';

type Rule = sheets_v4.Schema$ConditionalFormatRule;

function stored(edit: Edit, rule: Rule | undefined): Rule {
  const ranges = rule?.ranges ?? [];
  if (ranges.length === 0) throw invalid('ConditionalFormatRule.ranges must not be empty.');
  if (!rule?.booleanRule && !rule?.gradientRule) {
    throw invalid('ConditionalFormatRule must specify either a booleanRule or a gradientRule.');
  }
  return {
    ...rule,
    ranges: ranges.map((range) => storedRange(edit, range)),
  };
}

function setRules(sheet: Sheet, conditionalFormats: readonly Rule[]): void {
  sheet.overlays = { ...sheet.overlays, conditionalFormats };
}

/** addConditionalFormatRule: an earlier rule wins over a later one. */
export function addRule(
  edit: Edit,
  request: sheets_v4.Schema$AddConditionalFormatRuleRequest,
): undefined {
  const rule = stored(edit, request.rule);
  const sheet = edit.document.grid(rule.ranges?.[0]?.sheetId);
  const rules = [...sheet.overlays.conditionalFormats];
  const index = request.index ?? 0;
  if (index > rules.length) throw invalid(`Index ${index} is after the last conditional format.`);
  rules.splice(index, 0, rule);
  setRules(sheet, rules);
  return undefined;
}
