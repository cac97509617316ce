import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { LEDGER_COLUMNS, LEDGER_ROWS, ledgerHeader } from './ledger.ts';
import { HEADER_LOOK, look, warnBeforeEdits } from './sheet-looks.ts';
import { createMetadata, METADATA_KEYS } from './sheet-metadata.ts';
import { roleMark, type Structure, type Tab } from './structure.ts';
import { freeTabTitle } from './tab-title.ts';

/** Requests that make the hidden tab of the {@link Ledger}. */
export function newLedgerTab(
  structure: Structure,
  spreadsheetId: string,
  sheetId: number,
): { requests: sheets_v4.Schema$Request[]; tab: Tab } {
  const title = freeTabTitle(
    'Mirror state',
    structure.tabs.map((tab) => tab.title),
  );
  const tab: Tab = { sheetId, title, rowCount: LEDGER_ROWS, columnCount: LEDGER_COLUMNS };
  const gridProperties = {
    rowCount: tab.rowCount,
    columnCount: tab.columnCount,
    frozenRowCount: 1,
  };
  return {
    tab,
    requests: [
      { addSheet: { properties: { sheetId, title, hidden: true, gridProperties } } },
      createMetadata({ sheetId }, METADATA_KEYS.role, roleMark('ledger', spreadsheetId, sheetId)),
      ledgerHeader(sheetId),
      look({ sheetId, startRow: 0, endRow: 1 }, HEADER_LOOK),
      warnBeforeEdits(
        { sheetId },
        'The memory of forms-mirror. Without it the next pass reads everything anew.',
      ),
    ],
  };
}
