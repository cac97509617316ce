import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError } from './api-error.ts';
import { Formula } from './cell.ts';
import { remapFormula } from './formula-moves.ts';
import type { Remap } from './remap.ts';
import type { Overlays, Table } from './sheet.ts';

type GridRange = sheets_v4.Schema$GridRange;
type Dimension = 'ROWS' | 'COLUMNS';

/** Large enough to represent an open end while it is moved. */
const OPEN = 2 ** 30;

/** A range after rows or columns moved; open sides stay open; undefined if all of it was deleted. */
export function remapGridRange(
  range: GridRange,
  dimension: Dimension,
  remap: Remap,
): GridRange | undefined {
  const [startName, endName] =
    dimension === 'ROWS'
      ? (['startRowIndex', 'endRowIndex'] as const)
      : (['startColumnIndex', 'endColumnIndex'] as const);
  const [start, end] = [range[startName] ?? undefined, range[endName] ?? undefined];
  if (start === undefined && end === undefined) return range;
  const span = remap.span(start ?? 0, end ?? OPEN);
  if (span === undefined) return undefined;
  return {
    ...range,
    ...(start !== undefined && { [startName]: span[0] }),
    ...(end !== undefined && { [endName]: span[1] }),
  };
}

function remapRanged<T extends { range?: GridRange }>(
  item: T,
  dimension: Dimension,
  remap: Remap,
): T | undefined {
  if (item.range === undefined) return item;
  const range = remapGridRange(item.range, dimension, remap);
  return range === undefined ? undefined : { ...item, range };
}

/** Filters store their criteria by column index, so these move, too. */
function remapFilter<T extends Pick<sheets_v4.Schema$BasicFilter, 'range' | 'criteria'>>(
  filter: T,
  dimension: Dimension,
  remap: Remap,
): T | undefined {
  const moved = remapRanged(filter, dimension, remap);
  if (moved === undefined || dimension === 'ROWS') return moved;
  const criteria = Object.entries(moved.criteria ?? {}).flatMap(([column, criterion]) => {
    const index = remap.index(Number(column));
    return index === undefined ? [] : [[String(index), criterion] as const];
  });
  return {
    ...moved,
    ...(moved.criteria !== undefined && { criteria: Object.fromEntries(criteria) }),
  };
}

const kept = <T>(items: readonly (T | undefined)[]): T[] =>
  items.filter((item): item is T => item !== undefined);

function remapRules(
  rules: readonly sheets_v4.Schema$ConditionalFormatRule[],
  dimension: Dimension,
  remap: Remap,
): sheets_v4.Schema$ConditionalFormatRule[] {
  return rules.flatMap((rule) => {
    const ranges = kept(
      (rule.ranges ?? []).map((range) => remapGridRange(range, dimension, remap)),
    );
    if (ranges.length === 0) return [];
    const { booleanRule } = rule;
    if (booleanRule?.condition?.values === undefined) return [{ ...rule, ranges }];
    const values = booleanRule.condition.values.map((value) =>
      remapConditionValue(value, dimension, remap),
    );
    const condition = { ...booleanRule.condition, values };
    return [{ ...rule, ranges, booleanRule: { ...booleanRule, condition } }];
  });
}

/** A rule's formula follows the columns and rows that it names, as a cell's does. */
function remapConditionValue(
  value: sheets_v4.Schema$ConditionValue,
  dimension: Dimension,
  remap: Remap,
): sheets_v4.Schema$ConditionValue {
  const text = value.userEnteredValue;
  if (text?.startsWith('=') !== true) return value;
  const axis = dimension === 'ROWS' ? 'row' : 'column';
  // A reference without a tab is to the rule's own tab.
  return { ...value, userEnteredValue: remapFormula(new Formula(text), '', '', axis, remap).text };
}

/**
 * A table moves as ranges do. Throws 501 if the header row would leave it: Sheets' menus do not offer that, and the API's
 * response is not known.
 */
function remapTable(table: Table, dimension: Dimension, remap: Remap): Table | undefined {
  const range = remapGridRange(table.range, dimension, remap);
  if (range === undefined) return undefined;
  const isKept = remap.index(table.range.startRowIndex ?? 0) === range.startRowIndex;
  if (dimension === 'COLUMNS' || isKept) return { ...table, range };
  const message = 'The Google Sheets emulator does not take the header row from a table.';
  throw new ApiError('UNIMPLEMENTED', message);
}

/** All objects on a tab, after rows or columns moved. */
export function remapOverlays(overlays: Overlays, dimension: Dimension, remap: Remap): Overlays {
  const { merges, protectedRanges, basicFilter, conditionalFormats } = overlays;
  const { bandedRanges, filterViews, tables } = overlays;
  return {
    merges: kept(merges.map((merge) => remapGridRange(merge, dimension, remap))),
    protectedRanges: kept(protectedRanges.map((item) => remapRanged(item, dimension, remap))),
    basicFilter: basicFilter && remapFilter(basicFilter, dimension, remap),
    filterViews: kept(filterViews.map((view) => remapFilter(view, dimension, remap))),
    conditionalFormats: remapRules(conditionalFormats, dimension, remap),
    bandedRanges: kept(bandedRanges.map((banding) => remapRanged(banding, dimension, remap))),
    tables: kept(tables.map((table) => remapTable(table, dimension, remap))),
  };
}
