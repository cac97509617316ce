import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

/** A rectangle of the first tab, as Google keeps it. */
export const range = (
  startRowIndex: number,
  endRowIndex: number,
  startColumnIndex: number,
  endColumnIndex: number,
): sheets_v4.Schema$GridRange => ({
  startRowIndex,
  endRowIndex,
  startColumnIndex,
  endColumnIndex,
});
