import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { formatA1 } from './a1.ts';
import { badRequest, invalid } from './api-error.ts';
import { Calculator } from './calculator.ts';
import { flag, type Call, type Method } from './call.ts';
import { roomAboveFooter } from './append-to-table.ts';
import { appendDimension, insertDimension } from './dimensions.ts';
import type { Edit } from './edit.ts';
import { filterRegions, regionsOf, type MatchedRegion } from './regions.ts';
import type { Area, Sheet } from './sheet.ts';
import { findTable } from './values-append.ts';
import { growTables } from './tables.ts';
import { readableArea, readValues, renderOptions, type RenderOptions } from './values-read.ts';
import {
  clearValues,
  inputOption,
  putValues,
  updateResponse,
  updateTotals,
  valueRows,
  writableArea,
  type Written,
} from './values-write.ts';

type ValueRange = sheets_v4.Schema$ValueRange;

const queryOptions = ({ query }: Call): RenderOptions =>
  renderOptions(query.get('valueRenderOption'), query.get('dateTimeRenderOption'));

function readRanges(call: Call, ranges: readonly string[]): ValueRange[] {
  const { file } = call.files.open(call.spreadsheetId, call.account, false);
  call.note({ ranges });
  const options = queryOptions(call);
  const calculator = new Calculator(file.document, call.nowMs);
  return ranges.map((range) => {
    const { sheet, bounds } = file.document.locate(range);
    const area = readableArea(sheet, bounds);
    return readValues(calculator, sheet, area, call.query.get('majorDimension'), options);
  });
}

const get: Method = {
  name: 'spreadsheets.values.get',
  kind: 'read',
  answer: 'ValueRange',
  run: (call) => readRanges(call, [call.resource])[0] ?? {},
};

const batchGet: Method = {
  name: 'spreadsheets.values.batchGet',
  kind: 'read',
  answer: 'BatchGetValuesResponse',
  run(call) {
    const valueRanges = readRanges(call, call.query.getAll('ranges'));
    return {
      spreadsheetId: call.spreadsheetId,
      ...(valueRanges.length > 0 && { valueRanges }),
    } satisfies sheets_v4.Schema$BatchGetValuesResponse;
  },
};

const batchGetByDataFilter: Method = {
  name: 'spreadsheets.values.batchGetByDataFilter',
  kind: 'read',
  body: { schema: 'BatchGetValuesByDataFilterRequest' },
  answer: 'BatchGetValuesByDataFilterResponse',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, false);
    const body = call.body as sheets_v4.Schema$BatchGetValuesByDataFilterRequest;
    const options = renderOptions(body.valueRenderOption, body.dateTimeRenderOption);
    const calculator = new Calculator(file.document, call.nowMs);
    const regions = filterRegions(file.document, body.dataFilters ?? [], caller.project);
    const valueRanges = regions.map(({ sheet, area, filters }) => ({
      valueRange: readValues(calculator, sheet, area, body.majorDimension, options),
      dataFilters: filters,
    }));
    return {
      spreadsheetId: call.spreadsheetId,
      ...(valueRanges.length > 0 && { valueRanges }),
    } satisfies sheets_v4.Schema$BatchGetValuesByDataFilterResponse;
  },
};

/** The echo of includeValuesInResponse. */
function echo(
  edit: Edit,
  written: Written,
  majorDimension: string | null | undefined,
  options: RenderOptions,
): ValueRange {
  const calculator = new Calculator(edit.document, edit.nowMs);
  return readValues(calculator, written.sheet, written.area, majorDimension, options);
}

function checkRange(body: ValueRange, range: string): void {
  const named = body.range ?? '';
  if (named === '' || named === range) return;
  const description = `Requested writing within range [${range}], but the body names [${named}]`;
  throw badRequest([{ field: 'data.range', description }]);
}

const update: Method = {
  name: 'spreadsheets.values.update',
  kind: 'write',
  body: { schema: 'ValueRange', path: 'data' },
  answer: 'UpdateValuesResponse',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, true);
    const body = call.body as ValueRange;
    call.note({ ranges: [call.resource] });
    checkRange(body, call.resource);
    const option = inputOption(call.query.get('valueInputOption'));
    return call.files.change(file, caller, (edit) => {
      const { sheet, bounds } = edit.document.locate(call.resource);
      const rows = valueRows(body.values, body.majorDimension);
      const written = putValues(edit, sheet, writableArea(sheet, bounds, rows), rows, option);
      const response = updateResponse(file.id, written);
      if (!flag(call.query, 'includeValuesInResponse')) return response;
      return {
        ...response,
        updatedData: echo(edit, written, body.majorDimension, responseOptions(call)),
      };
    });
  },
};

const responseOptions = ({ query }: Call): RenderOptions =>
  renderOptions(query.get('responseValueRenderOption'), query.get('responseDateTimeRenderOption'));

const batchUpdate: Method = {
  name: 'spreadsheets.values.batchUpdate',
  kind: 'write',
  body: { schema: 'BatchUpdateValuesRequest' },
  answer: 'BatchUpdateValuesResponse',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, true);
    const body = call.body as sheets_v4.Schema$BatchUpdateValuesRequest;
    const data = body.data ?? [];
    call.note({ ranges: data.map(({ range }) => range ?? '') });
    const option = inputOption(body.valueInputOption);
    const options = renderOptions(
      body.responseValueRenderOption,
      body.responseDateTimeRenderOption,
    );
    return call.files.change(file, caller, (edit) => {
      const all: Written[] = [];
      const responses = data.map((part) => {
        const { sheet, bounds } = edit.document.locate(part.range ?? '');
        const rows = valueRows(part.values, part.majorDimension);
        const written = putValues(edit, sheet, writableArea(sheet, bounds, rows), rows, option);
        all.push(written);
        const response = updateResponse(file.id, written);
        if (body.includeValuesInResponse === true) {
          response.updatedData = echo(edit, written, part.majorDimension, options);
        }
        return response;
      });
      return {
        spreadsheetId: file.id,
        ...updateTotals(all),
        ...(responses.length > 0 && { responses }),
      } satisfies sheets_v4.Schema$BatchUpdateValuesResponse;
    });
  },
};

const batchUpdateByDataFilter: Method = {
  name: 'spreadsheets.values.batchUpdateByDataFilter',
  kind: 'write',
  body: { schema: 'BatchUpdateValuesByDataFilterRequest' },
  answer: 'BatchUpdateValuesByDataFilterResponse',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, true);
    const body = call.body as sheets_v4.Schema$BatchUpdateValuesByDataFilterRequest;
    const option = inputOption(body.valueInputOption);
    return call.files.change(file, caller, (edit) => {
      const all: Written[] = [];
      // One set of values goes to every range that its filter matches; too many for one of them fail the request.
      const responses = (body.data ?? []).flatMap((part) => {
        const filter = part.dataFilter ?? {};
        const rows = valueRows(part.values, part.majorDimension);
        return regionsOf(edit.document, filter, caller.project).map(({ sheet, area }) => {
          const target = writableArea(sheet, gridBounds(area), rows);
          const written = putValues(edit, sheet, target, rows, option);
          all.push(written);
          const { spreadsheetId: _, ...response } = updateResponse(file.id, written);
          return Object.assign(response, { dataFilter: filter });
        });
      });
      return {
        spreadsheetId: file.id,
        ...updateTotals(all),
        ...(responses.length > 0 && { responses }),
      } satisfies sheets_v4.Schema$BatchUpdateValuesByDataFilterResponse;
    });
  },
};

const gridBounds = (area: Area) => ({
  startRowIndex: area.top,
  endRowIndex: area.bottom,
  startColumnIndex: area.left,
  endColumnIndex: area.right,
});

const append: Method = {
  name: 'spreadsheets.values.append',
  kind: 'write',
  body: { schema: 'ValueRange', path: 'data' },
  answer: 'AppendValuesResponse',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, true);
    const body = call.body as ValueRange;
    call.note({ ranges: [call.resource] });
    const option = inputOption(call.query.get('valueInputOption'));
    const inserts = call.query.get('insertDataOption') === 'INSERT_ROWS';
    return call.files.change(file, caller, (edit) => {
      const { sheet, bounds } = edit.document.locate(call.resource);
      readableArea(sheet, bounds);
      const table = findTable(sheet, bounds);
      const rows = valueRows(body.values, body.majorDimension);
      const [below, left] = [
        table?.bottom ?? bounds.startRowIndex ?? 0,
        table?.left ?? bounds.startColumnIndex ?? 0,
      ];
      const top = roomAboveFooter(edit, sheet, { top: below, left }, rows.length);
      if (top === below) makeRoom(edit, sheet, top, rows.length, inserts && table !== undefined);
      const start = {
        startRowIndex: top,
        startColumnIndex: left,
        endRowIndex: top + 1,
        endColumnIndex: left + 1,
      };
      const written = putValues(edit, sheet, writableArea(sheet, start, rows), rows, option);
      growTables(sheet, written.area);
      const updates = updateResponse(file.id, written);
      const updatedData = flag(call.query, 'includeValuesInResponse')
        ? { updatedData: echo(edit, written, body.majorDimension, responseOptions(call)) }
        : {};
      return {
        spreadsheetId: file.id,
        ...(table !== undefined && { tableRange: formatA1(sheet.properties.title, table) }),
        updates: { ...updates, ...updatedData },
      } satisfies sheets_v4.Schema$AppendValuesResponse;
    });
  },
};

/** INSERT_ROWS always inserts; OVERWRITE only adds rows where the grid ends. */
function makeRoom(edit: Edit, sheet: Sheet, top: number, count: number, inserts: boolean): void {
  if (count === 0) return;
  if (inserts)
    insertDimension(edit.document, sheet, 'ROWS', Math.min(top, sheet.rowCount), count, top - 1);
  const missing = top + count - sheet.rowCount;
  if (missing > 0) appendDimension(edit.document, sheet, 'ROWS', missing);
}

function clearAll(
  call: Call,
  regions: (edit: Edit, project: string) => { sheet: Sheet; area: Area }[],
): string[] {
  const { file, caller } = call.files.open(call.spreadsheetId, call.account, true);
  return call.files.change(file, caller, (edit) =>
    regions(edit, caller.project).map(({ sheet, area }) => {
      clearValues(edit, sheet, area);
      return formatA1(sheet.properties.title, area);
    }),
  );
}

function rangesToClear(call: Call, ranges: readonly string[]): string[] {
  call.note({ ranges });
  return clearAll(call, (edit) =>
    ranges.map((range) => {
      const { sheet, bounds } = edit.document.locate(range);
      return { sheet, area: readableArea(sheet, bounds) };
    }),
  );
}

const clear: Method = {
  name: 'spreadsheets.values.clear',
  kind: 'write',
  body: { schema: 'ClearValuesRequest' },
  answer: 'ClearValuesResponse',
  run(call) {
    const [clearedRange] = rangesToClear(call, [call.resource]);
    if (clearedRange === undefined) throw invalid('No range to clear.');
    return { spreadsheetId: call.spreadsheetId, clearedRange };
  },
};

const batchClear: Method = {
  name: 'spreadsheets.values.batchClear',
  kind: 'write',
  body: { schema: 'BatchClearValuesRequest' },
  answer: 'BatchClearValuesResponse',
  run(call) {
    const body = call.body as sheets_v4.Schema$BatchClearValuesRequest;
    const clearedRanges = rangesToClear(call, body.ranges ?? []);
    return {
      spreadsheetId: call.spreadsheetId,
      ...(clearedRanges.length > 0 && { clearedRanges }),
    };
  },
};

const batchClearByDataFilter: Method = {
  name: 'spreadsheets.values.batchClearByDataFilter',
  kind: 'write',
  body: { schema: 'BatchClearValuesByDataFilterRequest' },
  answer: 'BatchClearValuesByDataFilterResponse',
  run(call) {
    const body = call.body as sheets_v4.Schema$BatchClearValuesByDataFilterRequest;
    const clearedRanges = clearAll(call, (edit, project): MatchedRegion[] =>
      filterRegions(edit.document, body.dataFilters ?? [], project),
    );
    return {
      spreadsheetId: call.spreadsheetId,
      ...(clearedRanges.length > 0 && { clearedRanges }),
    };
  },
};

/** The methods below `spreadsheets.values`. */
export const VALUE_METHODS = {
  get,
  batchGet,
  batchGetByDataFilter,
  update,
  batchUpdate,
  batchUpdateByDataFilter,
  append,
  clear,
  batchClear,
  batchClearByDataFilter,
} as const;
