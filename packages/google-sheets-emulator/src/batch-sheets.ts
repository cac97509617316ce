import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import { type Document, MAX_TABS } from './document.ts';
import { guard, type Edit } from './edit.ts';
import { Sheet, type SheetProperties } from './sheet.ts';
import { sheetProperties } from './spreadsheet-resource.ts';

type Response = sheets_v4.Schema$Response;

const MAX_TITLE = 100;

/** Google words the refusal of an empty name by the request. */
function checkTitle(document: Document, title: string, own?: Sheet): void {
  if (title === '') {
    throw invalid(own ? 'The sheet name cannot be empty.' : 'Sheet name cannot be blank.');
  }
  if (title.length > MAX_TITLE) {
    throw invalid(`Sheet name cannot be greater than ${MAX_TITLE} characters.`);
  }
  const taken = document.sheets.some(
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

function checkFrozen({ properties: { frozenRowCount = 0 }, rowCount }: Sheet): void {
  if (frozenRowCount >= rowCount) throw invalid("You can't freeze all visible rows on the sheet.");
}

/** addSheet: 1,000 rows and 26 columns unless the request says otherwise. */
export function addSheet(edit: Edit, request: sheets_v4.Schema$AddSheetRequest): Response {
  const properties = request.properties ?? {};
  const { document } = edit;
  const title = properties.title ?? `Sheet${document.sheets.length + 1}`;
  checkTitle(document, title);
  const sheetId = properties.sheetId ?? edit.nextId();
  checkNewSheet(edit, sheetId);
  const grid = properties.gridProperties ?? {};
  const kept: SheetProperties = {
    title,
    ...(properties.hidden === true && { hidden: true }),
    ...(grid.frozenRowCount && { frozenRowCount: grid.frozenRowCount }),
    ...(grid.hideGridlines === true && { hideGridlines: true }),
  };
  const sheet = new Sheet(sheetId, kept, grid.rowCount ?? 1_000, grid.columnCount ?? 26);
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

/** updateSheetProperties: the title or frozen rows. */
export function updateSheetProperties(
  { document }: Edit,
  { properties = {}, fields }: sheets_v4.Schema$UpdateSheetPropertiesRequest,
): undefined {
  const sheet = document.sheets.find((candidate) => candidate.id === (properties.sheetId ?? 0));
  if (sheet === undefined) throw invalid(`No sheet with id: ${properties.sheetId ?? 0}`);
  if (fields === 'title') {
    const title = properties.title ?? '';
    checkTitle(document, title, sheet);
    document.followRename(sheet.properties.title, title);
    sheet.properties = { ...sheet.properties, title };
  } else if (fields === 'gridProperties.frozenRowCount') {
    const { frozenRowCount: _, ...rest } = sheet.properties;
    const frozenRowCount = properties.gridProperties?.frozenRowCount;
    sheet.properties = { ...rest, ...(frozenRowCount && { frozenRowCount }) };
    checkFrozen(sheet);
  } else throw new ApiError('UNIMPLEMENTED', 'The emulator changes the title and frozen rows.');
  return undefined;
}
