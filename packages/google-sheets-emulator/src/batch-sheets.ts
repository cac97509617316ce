import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { deleteDimension } from './dimensions.ts';
import { MAX_TABS } from './document.ts';
import { guardGrowth } from './batch-dimensions.ts';
import { guard, type Edit } from './edit.ts';
import { merge, touches, updateMask, type Mask } from './field-mask.ts';
import { Sheet, type SheetProperties } from './sheet.ts';
import { storedColor } from './cell-styles.ts';
import { sheetProperties } from './sheet-properties.ts';

type Response = sheets_v4.Schema$Response;
type Properties = sheets_v4.Schema$SheetProperties;

const MAX_TITLE = 100;

/** Google words the refusal of an empty name by the request. */
function checkTitle(edit: Edit, title: string, own?: Sheet): void {
  if (title === '') {
    throw invalid(own ? 'The sheet name cannot be empty.' : 'Sheet name cannot be blank.');
  }
  if (title.length > MAX_TITLE) {
    throw invalid(`Sheet name cannot be greater than ${MAX_TITLE} characters.`);
  }
  const taken = edit.document.sheets.some(
    (sheet) => sheet !== own && sheet.properties.title.toLowerCase() === title.toLowerCase(),
  );
  if (taken) {
    throw invalid(`A sheet with the name "${title}" already exists. Please enter another name.`);
  }
}

function checkNewSheet(edit: Edit, sheetId: number): void {
  if (edit.document.sheets.some((sheet) => sheet.id === sheetId)) {
    throw invalid(`A sheet with id ${sheetId} already exists. Please enter another id.`);
  }
  if (sheetId < 0) throw invalid(`Invalid sheetId: ${sheetId}. Must be non-negative.`);
  if (edit.document.sheets.length >= MAX_TABS) {
    throw invalid(
      `This action would increase the number of sheets in the workbook above the limit of ${MAX_TABS} sheets.`,
    );
  }
}

/** The tab's properties with the masked properties in place of its own. */
function changedProperties(
  current: SheetProperties,
  properties: Properties,
  mask: Mask,
): SheetProperties {
  const grid = {
    frozenRowCount: current.frozenRowCount,
    frozenColumnCount: current.frozenColumnCount,
    hideGridlines: current.hideGridlines,
  };
  const { tabColorStyle, title, hidden, rightToLeft } = current;
  const before: Properties = {
    title,
    ...(hidden !== undefined && { hidden }),
    ...(rightToLeft !== undefined && { rightToLeft }),
    ...(tabColorStyle !== undefined && { tabColorStyle }),
  };
  const color = properties.tabColor;
  const given =
    color !== undefined && color !== null && properties.tabColorStyle === undefined
      ? { ...properties, tabColorStyle: { rgbColor: color } }
      : properties;
  const colored =
    mask !== true && mask.has('tabColor')
      ? new Map([...mask, ['tabColorStyle', true as const]])
      : mask;
  const after = merge({ ...before, gridProperties: grid } as Properties, given, colored);
  const { frozenRowCount, frozenColumnCount, hideGridlines } = after.gridProperties ?? {};
  return {
    title: after.title ?? '',
    ...(after.hidden === true && { hidden: true }),
    ...(after.rightToLeft === true && { rightToLeft: true }),
    ...tabColor(after.tabColorStyle),
    ...(frozenRowCount && { frozenRowCount }),
    ...(frozenColumnCount && { frozenColumnCount }),
    ...(hideGridlines === true && { hideGridlines: true }),
  };
}

/** A color of null takes the tab's color away. */
function tabColor(
  style: sheets_v4.Schema$ColorStyle | undefined,
): Pick<SheetProperties, 'tabColorStyle'> {
  if (style?.themeColor) return { tabColorStyle: style };
  return style?.rgbColor ? { tabColorStyle: { rgbColor: storedColor(style.rgbColor) } } : {};
}

function checkFrozen(sheet: Sheet): void {
  if ((sheet.properties.frozenRowCount ?? 0) >= sheet.rowCount) {
    throw invalid("You can't freeze all visible rows on the sheet.");
  }
  if ((sheet.properties.frozenColumnCount ?? 0) >= sheet.columnCount) {
    throw invalid("You can't freeze all visible columns on the sheet.");
  }
}

/** addSheet: 1,000 rows and 26 columns unless the request says otherwise. */
export function addSheet(edit: Edit, request: sheets_v4.Schema$AddSheetRequest): Response {
  const properties = request.properties ?? {};
  const { document } = edit;
  const title = properties.title ?? `Sheet${document.sheets.length + 1}`;
  checkTitle(edit, title);
  const sheetId = properties.sheetId ?? edit.nextId();
  checkNewSheet(edit, sheetId);
  if (
    properties.sheetType !== undefined &&
    properties.sheetType !== null &&
    properties.sheetType !== 'GRID'
  ) {
    throw invalid('Only GRID sheets can be added here.');
  }
  const grid = properties.gridProperties ?? {};
  const changed = changedProperties({ title }, { ...properties, title }, true);
  const sheet = new Sheet(sheetId, changed, grid.rowCount ?? 1_000, grid.columnCount ?? 26);
  if (sheet.rowCount < 1 || sheet.columnCount < 1)
    throw invalid('A sheet must have at least one row and one column.');
  checkFrozen(sheet);
  const index = Math.min(properties.index ?? document.sheets.length, document.sheets.length);
  document.sheets.splice(index, 0, sheet);
  document.checkSize();
  return { addSheet: { properties: sheetProperties(sheet, index) } };
}

/** deleteSheet: never the last visible one. */
export function deleteSheet(edit: Edit, request: sheets_v4.Schema$DeleteSheetRequest): undefined {
  const { document } = edit;
  const sheet = document.sheets.find((candidate) => candidate.id === (request.sheetId ?? 0));
  if (sheet === undefined) throw invalid(`No sheet with id: ${request.sheetId ?? 0}`);
  if (document.sheets.length === 1) throw invalid("You can't remove all the sheets in a document.");
  guard(edit, sheet, sheet.area);
  const rest = document.sheets.filter((candidate) => candidate !== sheet);
  if (rest.every((candidate) => candidate.properties.hidden === true)) {
    throw invalid("You can't remove all the visible sheets in a document.");
  }
  document.sheets = rest;
  document.forgetSheet(sheet);
  return undefined;
}

function resize(edit: Edit, sheet: Sheet, rowCount: number, columnCount: number): void {
  if (rowCount < 1 || columnCount < 1)
    throw invalid('A sheet must have at least one row and one column.');
  if (rowCount < sheet.rowCount) {
    guard(edit, sheet, { ...sheet.area, top: rowCount });
    deleteDimension(edit.document, sheet, 'ROWS', rowCount, sheet.rowCount);
  }
  if (rowCount > sheet.rowCount) guardGrowth(edit, sheet, rowCount - sheet.rowCount);
  if (columnCount < sheet.columnCount) {
    guard(edit, sheet, { ...sheet.area, left: columnCount });
    deleteDimension(edit.document, sheet, 'COLUMNS', columnCount, sheet.columnCount);
  }
  sheet.rowCount = rowCount;
  sheet.columnCount = columnCount;
  edit.document.checkSize();
}

/** updateSheetProperties: title, place, visibility, size, frozen rows, color. */
export function updateSheetProperties(
  edit: Edit,
  request: sheets_v4.Schema$UpdateSheetPropertiesRequest,
): undefined {
  const mask = updateMask(request.fields);
  const properties = request.properties ?? {};
  const { document } = edit;
  const sheet = document.sheets.find((candidate) => candidate.id === (properties.sheetId ?? 0));
  if (sheet === undefined) throw invalid(`No sheet with id: ${properties.sheetId ?? 0}`);
  const changed = changedProperties(sheet.properties, properties, mask);
  if (changed.title !== sheet.properties.title) {
    checkTitle(edit, changed.title, sheet);
    document.followRename(sheet.properties.title, changed.title);
  }
  sheet.properties = changed;
  if (document.sheets.every((candidate) => candidate.properties.hidden === true)) {
    throw invalid("You can't hide all the sheets in a document.");
  }
  const grid = properties.gridProperties ?? {};
  const sized = (name: string): boolean => touches(mask, `gridProperties.${name}`);
  resize(
    edit,
    sheet,
    sized('rowCount') ? (grid.rowCount ?? sheet.rowCount) : sheet.rowCount,
    sized('columnCount') ? (grid.columnCount ?? sheet.columnCount) : sheet.columnCount,
  );
  checkFrozen(sheet);
  if (touches(mask, 'index')) place(edit, sheet, properties.index ?? document.sheets.length);
  return undefined;
}

/** "Movement is considered in before-the-move indexes": to put S1 behind S2 its index must be 2. */
function place(edit: Edit, sheet: Sheet, index: number): void {
  const { sheets } = edit.document;
  const current = sheets.indexOf(sheet);
  if (index === current || index === current + 1) return;
  const rest = sheets.filter((candidate) => candidate !== sheet);
  rest.splice(index > current ? index - 1 : index, 0, sheet);
  edit.document.sheets = rest;
}
