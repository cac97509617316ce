import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { keepsFromHeader } from '../../../targets/google-sheets/api/obstacles.ts';
import { formatHeader } from '../../../targets/google-sheets/columns/new-columns.ts';
import { headersOf, type SheetField } from './fields.ts';
import type { OddRows } from './odd-rows.ts';
import type { FormTab } from './structure.ts';

type Request = sheets_v4.Schema$Request;

/** Requests that put the header back above the rows, after people sorted it into them or deleted it. */
export function headerBack(
  { sheetId, columns, obstacles }: FormTab,
  fields: readonly SheetField[],
  { from, to }: NonNullable<OddRows['header']>,
): Request[] {
  const dimension = 'ROWS';
  // Google refuses to move or insert rows of a protected range.
  if (obstacles.some(({ kind }) => kind === 'protection')) return [];
  if (from !== null)
    return [
      {
        moveDimension: {
          source: { sheetId, dimension, startIndex: from, endIndex: from + 1 },
          destinationIndex: to,
        },
      },
    ];
  const headers = headersOf(fields);
  return [
    {
      insertDimension: {
        range: { sheetId, dimension, startIndex: to, endIndex: to + 1 },
        inheritFromBefore: false,
      },
    },
    ...[...columns].flatMap(([key, column]) =>
      obstacles.some((one) => keepsFromHeader(one, to, column))
        ? []
        : formatHeader(sheetId, to, column, headers.get(key) ?? ''),
    ),
  ];
}
