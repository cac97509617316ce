import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { storedRange, type Edit } from './edit.ts';
import type { Sheet } from './sheet.ts';

type Response = sheets_v4.Schema$Response;
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

function ruleAt(sheet: Sheet, index: number): Rule {
  const rule = sheet.overlays.conditionalFormats[index];
  if (rule === undefined) {
    throw invalid(`No conditional format on sheet: ${sheet.id} at index: ${index}`);
  }
  return rule;
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

/** updateConditionalFormatRule: a new rule in the place of the old one, or the old one in a new place. */
export function updateRule(
  edit: Edit,
  request: sheets_v4.Schema$UpdateConditionalFormatRuleRequest,
): Response {
  const index = request.index ?? 0;
  const sheet = edit.document.grid(request.sheetId ?? request.rule?.ranges?.[0]?.sheetId);
  const oldRule = ruleAt(sheet, index);
  const rules = [...sheet.overlays.conditionalFormats];
  if (request.rule) {
    const newRule = stored(edit, request.rule);
    rules[index] = newRule;
    setRules(sheet, rules);
    return { updateConditionalFormatRule: { oldRule, newRule, newIndex: index } };
  }
  const newIndex = request.newIndex ?? 0;
  rules.splice(index, 1);
  rules.splice(newIndex, 0, oldRule);
  setRules(sheet, rules);
  return { updateConditionalFormatRule: { newRule: oldRule, newIndex, oldIndex: index } };
}

/** deleteConditionalFormatRule. */
export function deleteRule(
  edit: Edit,
  request: sheets_v4.Schema$DeleteConditionalFormatRuleRequest,
): Response {
  const sheet = edit.document.grid(request.sheetId);
  const rule = ruleAt(sheet, request.index ?? 0);
  setRules(
    sheet,
    sheet.overlays.conditionalFormats.filter((item) => item !== rule),
  );
  return { deleteConditionalFormatRule: { rule } };
}
