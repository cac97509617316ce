import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { badRequest } from './api-error.ts';
import { Calculator } from './calculator.ts';
import { type Call, type Method } from './call.ts';
import { filterRegions } from './regions.ts';
import { readableArea, readValues, renderOptions, type RenderOptions } from './values-read.ts';
import { inputOption, putValues, updateResponse, valueRows, writableArea } from './values-write.ts';

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
      return updateResponse(file.id, written);
    });
  },
};

/** The methods below `spreadsheets.values`. */
export const VALUE_METHODS = { get, batchGetByDataFilter, update } as const;
