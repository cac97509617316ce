import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Calculator } from './calculator.ts';
import { CellError, type Value } from './formula-values.ts';
import { Formula, type Cell, type Content } from './cell.ts';
import { touches, type Mask } from './field-mask.ts';
import { isDateFormat, patternOf } from './number-format.ts';
import type { Sheet } from './sheet.ts';

type CellData = sheets_v4.Schema$CellData;

/** Which parts of CellData an answer needs: worked out once, so that wide reads stay cheap. */
export interface CellParts {
  readonly entered: boolean;
  readonly effective: boolean;
  readonly formatted: boolean;
  readonly formats: boolean;
  readonly effectiveFormats: boolean;
  readonly notes: boolean;
  readonly validation: boolean;
}

/** The parts that a mask below `sheets.data.rowData.values` selects. */
export const cellParts = (mask: Mask): CellParts => ({
  entered: touches(mask, 'userEnteredValue'),
  effective: touches(mask, 'effectiveValue'),
  formatted: touches(mask, 'formattedValue'),
  formats: touches(mask, 'userEnteredFormat'),
  effectiveFormats: touches(mask, 'effectiveFormat'),
  notes: touches(mask, 'note'),
  validation: touches(mask, 'dataValidation'),
});

function enteredValue(content: Content): sheets_v4.Schema$ExtendedValue | undefined {
  if (content === null) return undefined;
  if (content instanceof Formula) return { formulaValue: content.text };
  if (typeof content === 'string') return { stringValue: content };
  return typeof content === 'number' ? { numberValue: content } : { boolValue: content };
}

function effectiveValue(value: Value): sheets_v4.Schema$ExtendedValue | undefined {
  if (value instanceof CellError) {
    return { errorValue: { type: value.type, message: value.message } };
  }
  return value === null ? undefined : enteredValue(value);
}

/** The format of a cell without one of its own. */
export const DEFAULT_FORMAT: sheets_v4.Schema$CellFormat = {
  backgroundColor: { red: 1, green: 1, blue: 1 },
  padding: { top: 2, right: 3, bottom: 2, left: 3 },
  verticalAlignment: 'BOTTOM',
  wrapStrategy: 'OVERFLOW_CELL',
  textFormat: {
    foregroundColor: {},
    fontFamily: 'arial,sans,sans-serif',
    fontSize: 10,
    bold: false,
    italic: false,
    strikethrough: false,
    underline: false,
    foregroundColorStyle: { rgbColor: {} },
  },
  backgroundColorStyle: { rgbColor: { red: 1, green: 1, blue: 1 } },
};

function effectiveFormat(cell: Cell, calculator: Calculator): sheets_v4.Schema$CellFormat {
  const format = cell.cellStyle?.format ?? {};
  const number = format.numberFormat;
  return {
    ...DEFAULT_FORMAT,
    ...format,
    ...(number && {
      numberFormat: {
        ...number,
        ...(isDateFormat(number) && { pattern: patternOf(number, calculator.locale) }),
      },
    }),
    textFormat: { ...DEFAULT_FORMAT.textFormat, ...format.textFormat },
  };
}

/** One cell as CellData; undefined when there is nothing to say. */
export function cellResource(
  calculator: Calculator,
  sheet: Sheet,
  row: number,
  column: number,
  parts: CellParts,
): CellData | undefined {
  const cell = sheet.cell(row, column);
  const { content, cellStyle, note } = cell;
  const spilled = content === null ? calculator.value(sheet, row, column) : null;
  const isBare = content === null && spilled === null;
  if (isBare && cellStyle === undefined && note === undefined) return undefined;
  const data: CellData = {};
  if (!isBare) {
    const entered = enteredValue(content);
    if (parts.entered && entered) data.userEnteredValue = entered;
    if (parts.effective || parts.formatted) {
      const value = spilled ?? calculator.value(sheet, row, column);
      const effective = effectiveValue(value);
      if (parts.effective && effective) data.effectiveValue = effective;
      if (parts.formatted) data.formattedValue = calculator.show(value, sheet, row, column);
    }
  }
  if (parts.formats && cellStyle?.format) data.userEnteredFormat = cellStyle.format;
  if (parts.effectiveFormats) data.effectiveFormat = effectiveFormat(cell, calculator);
  if (parts.validation && cellStyle?.validation) data.dataValidation = cellStyle.validation;
  if (cellStyle?.runs) data.textFormatRuns = cellStyle.runs;
  if (parts.notes && note !== undefined) data.note = note;
  return data;
}
