import { AddressError } from '../../../base/transport.ts';

const ID = /^[\w-]+$/;

/**
 * The ID in the address of a spreadsheet, as copied from the browser (with `/u/1/`, a domain, `?usp=…`, `#gid=…`), or
 * `sheets:<id>`. If the address does not name a spreadsheet that can be written to, throws {@link AddressError}, which says what to
 * copy instead.
 */
export function parseSheetAddress(address: string): string {
  const text = address.trim();
  const short = /^sheets:(?:\/\/)?(.*)$/i.exec(text)?.[1];
  if (short !== undefined) return checkedId(short);
  const url = URL.parse(text);
  if (url === null || !/^(docs|drive|sheets)\.google\.com$/i.test(url.hostname)) {
    throw wrong('is not the address of a Google Sheet');
  }
  if (/\/spreadsheets\/(?:u\/\d+\/)?d\/e\//.test(url.pathname)) {
    throw wrong('is the address of a published copy, which cannot be written to');
  }
  const id = /\/spreadsheets\/(?:u\/\d+\/)?d\/([\w-]+)/.exec(url.pathname)?.[1];
  if (id === undefined) throw wrong('names no spreadsheet');
  return checkedId(id);
}

/** The address that opens a spreadsheet, and a tab of it, in the browser. */
export function browserAddress(spreadsheetId: string, sheetId?: number): string {
  const gid = sheetId === undefined ? '' : `#gid=${sheetId}`;
  return `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit${gid}`;
}

function checkedId(id: string): string {
  if (ID.test(id)) return id;
  throw wrong('holds no spreadsheet ID');
}

function wrong(what: string): AddressError {
  return new AddressError(
    `${what}. Open the spreadsheet in the browser and copy the address from there (https://docs.google.com/spreadsheets/d/…/edit), or write sheets:<id>`,
  );
}
