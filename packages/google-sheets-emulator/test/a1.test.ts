import { describe, expect, it } from 'vitest';
import { formatA1, parseA1, quoteTitle } from '../src/a1.ts';

describe('A1 notation', () => {
  it.each([
    ['Sheet1!A1:B2', { startRowIndex: 0, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 2 }],
    ['Sheet1!A:C', { startColumnIndex: 0, endColumnIndex: 3 }],
    ['Sheet1!A2:C', { startRowIndex: 1, startColumnIndex: 0, endColumnIndex: 3 }],
  ])('reads %s', (text, bounds) => {
    expect(parseA1(text)).toEqual({ title: 'Sheet1', bounds });
  });

  it.each(['', 'A1:B2', 'Sheet1!A', 'Sheet1!A0:A1', 'Sheet1!A1:B2:C3', 'Nope!'])(
    'does not read %j',
    (text) => {
      expect(() => parseA1(text)).toThrow(`Unable to parse range: ${text}`);
    },
  );

  it.each([
    ['Sheet1', 'Sheet1'],
    ['Kontaktní formulář', "'Kontaktní formulář'"],
    ["It's", "'It''s'"],
    // Unquoted it would be a cell.
    ['AB12', "'AB12'"],
  ])('quotes the title %s as Google answers it, and reads it back', (title, quoted) => {
    expect(quoteTitle(title)).toBe(quoted);
    const range = formatA1(title, { top: 1, left: 0, bottom: 30, right: 28 });
    expect(range).toBe(`${quoted}!A2:AB30`);
    expect(parseA1(range).title).toBe(title);
  });
});
