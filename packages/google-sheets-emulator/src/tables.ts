import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Table } from './sheet.ts';

/*
 * Tables that people make of a range: a header row and rows below it, without types and footers.
 */

/** A table as in API responses, without its columns. */
export const tableResource = ({ id, name, range }: Table): sheets_v4.Schema$Table => ({
  tableId: id,
  name,
  range,
});

/** The alternating colors of a table, as a banded range. */
export const tableBanding = ({ id, range }: Table): sheets_v4.Schema$BandedRange => ({
  bandedRangeReference: id,
  range,
});
