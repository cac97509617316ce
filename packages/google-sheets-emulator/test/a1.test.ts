import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatA1, parseA1, parseBounds, quoteTitle } from '../src/a1.ts';
import { seed } from './support/client.ts';

describe('A1 notation', () => {
  it.each([
    ['B2', { startRowIndex: 1, endRowIndex: 2, startColumnIndex: 1, endColumnIndex: 2 }],
    ['A1:B2', { startRowIndex: 0, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 2 }],
    ['B2:A1', { startRowIndex: 0, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 2 }],
    ['$A$1:$B$2', { startRowIndex: 0, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 2 }],
    ['A:C', { startColumnIndex: 0, endColumnIndex: 3 }],
    ['2:5', { startRowIndex: 1, endRowIndex: 5 }],
    ['A2:C', { startRowIndex: 1, startColumnIndex: 0, endColumnIndex: 3 }],
    ['R2C3', { startRowIndex: 1, endRowIndex: 2, startColumnIndex: 2, endColumnIndex: 3 }],
    ['R1C1:R2C2', { startRowIndex: 0, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 2 }],
  ])('reads %s', (text, bounds) => {
    expect(parseBounds(text)).toEqual(bounds);
  });

  it.each(['', 'A', '5', 'AAAA1', 'A0', 'A1:B2:C3', 'Total 5', '-1'])(
    'does not read %j',
    (text) => {
      expect(parseBounds(text)).toBeUndefined();
    },
  );

  it('takes a text for a tab before it takes it for a range', () => {
    const titles = (title: string): boolean => ['Q1', "It's"].includes(title);
    expect(parseA1('Q1', titles)).toEqual({ title: 'Q1', bounds: {} });
    expect(parseA1("'It''s'!A1", titles)).toMatchObject({ title: "It's" });
    expect(parseA1('B2', titles).title).toBeUndefined();
    expect(() => parseA1('Nope!', titles)).toThrow('Unable to parse range: Nope!');
    expect(() => parseA1('Gone', titles)).toThrow('Unable to parse range: Gone');
  });

  it('quotes titles as Google answers them', () => {
    expect(quoteTitle('Sheet1')).toBe('Sheet1');
    expect(quoteTitle('Kontaktní formulář')).toBe("'Kontaktní formulář'");
    expect(quoteTitle("It's")).toBe("'It''s'");
    // Unquoted it would be a cell.
    expect(quoteTitle('AB12')).toBe("'AB12'");
  });

  it('reads back whatever it writes', () => {
    const edge = fc.nat(400);
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'grapheme' }).filter((title) => title.trim() !== ''),
        fc.tuple(edge, edge, edge, edge),
        (title, [top, left, height, width]) => {
          const area = { top, left, bottom: top + height + 1, right: left + width + 1 };
          const read = parseA1(formatA1(title, area), () => false);
          expect(read).toEqual({
            title,
            bounds: {
              startRowIndex: area.top,
              endRowIndex: area.bottom,
              startColumnIndex: area.left,
              endColumnIndex: area.right,
            },
          });
        },
      ),
      seed(),
    );
  });
});
