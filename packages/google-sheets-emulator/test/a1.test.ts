import { describe, expect, it } from 'vitest';
import { formatA1, quoteTitle } from '../src/a1.ts';

describe('A1 notation', () => {
  it.each([
    ['Sheet1', 'Sheet1'],
    ['Kontaktní formulář', "'Kontaktní formulář'"],
    ["It's", "'It''s'"],
    // Unquoted it would be a cell.
    ['AB12', "'AB12'"],
  ])("quotes the title %s as in Google's responses", (title, quoted) => {
    expect(quoteTitle(title)).toBe(quoted);
    const range = formatA1(title, { top: 1, left: 0, bottom: 30, right: 28 });
    expect(range).toBe(`${quoted}!A2:AB30`);
  });
});
