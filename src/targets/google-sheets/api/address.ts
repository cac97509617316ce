import { AddressError } from '../../../base/transport.ts';

/**
 * The ID in the address of a spreadsheet, as copied from the browser (with `/u/1/`, a domain, `?usp=…`, `#gid=…`), or
 * `sheets:<id>`. Throws {@link AddressError}, which says what to copy, for any other address, and for that of a published copy
 * (`/d/e/…`), which cannot be written to.
 */
export function parseSheetAddress(address: string): string {
  const text = address.trim();
  const url = URL.parse(text);
  const isGoogle = /^(docs|drive|sheets)\.google\.com$/i.test(url?.hostname ?? '');
  const path = isGoogle ? url?.pathname : undefined;
  const id =
    /^sheets:(?:\/\/)?([\w-]+)$/i.exec(text)?.[1] ??
    /\/spreadsheets\/(?:u\/\d+\/)?d\/(?!e\/)([\w-]+)/.exec(path ?? '')?.[1];
  if (id !== undefined) return id;
  throw new AddressError(
    'is not the address of a Google Sheet that can be edited. Open the spreadsheet in the browser and copy the address from there (https://docs.google.com/spreadsheets/d/…/edit), or write sheets:<id>',
  );
}

/** The address that opens a spreadsheet, and a tab of it, in the browser. */
export function browserAddress(spreadsheetId: string, sheetId?: number): string {
  const gid = sheetId === undefined ? '' : `#gid=${sheetId}`;
  return `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit${gid}`;
}
