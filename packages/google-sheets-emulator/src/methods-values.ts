import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { Calculator } from './calculator.ts';
import { type Call, type Method } from './call.ts';
import { filterRegions } from './regions.ts';
import { readableArea, readValues, renderOptions, type RenderOptions } from './values-read.ts';

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
  body: 'BatchGetValuesByDataFilterRequest',
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

/** The methods below `spreadsheets.values`. */
export const VALUE_METHODS = { get, batchGetByDataFilter } as const;
