import { describe, expect, it } from 'vitest';
import { merge, parseMask, responseMask, select, touches, updateMask } from '../src/field-mask.ts';
import { hasPath } from '../src/request-shape.ts';

describe('a field mask of an answer', () => {
  const answer = {
    spreadsheetId: 'x',
    sheets: [
      { properties: { sheetId: 0, title: 'A' }, data: [{ rowData: [] }] },
      { properties: { sheetId: 1, title: 'B' } },
    ],
  };

  it.each([
    ['sheets.properties.title'],
    ['sheets(properties(title))'],
    ['sheets/properties/title'],
    ['sheets.properties(title)'],
  ])('%s selects through lists', (fields) => {
    expect(select(answer, parseMask(fields))).toEqual({
      sheets: [{ properties: { title: 'A' } }, { properties: { title: 'B' } }],
    });
  });

  it('takes several paths, wildcards and everything', () => {
    expect(select(answer, parseMask('spreadsheetId,sheets(properties(sheetId),data)'))).toEqual({
      spreadsheetId: 'x',
      sheets: [
        { properties: { sheetId: 0 }, data: [{ rowData: [] }] },
        { properties: { sheetId: 1 } },
      ],
    });
    expect(select(answer, parseMask('*'))).toEqual(answer);
    expect(select(answer, parseMask('sheets.*.title'))).toMatchObject({
      sheets: [{ properties: { title: 'A' } }, { properties: { title: 'B' } }],
    });
  });

  it('with a path that the answer does not have is refused as Google does it', () => {
    const known = (path: string): boolean => hasPath('Spreadsheet', path);
    expect(() => responseMask('sheets.data.rowData.values.userEnteredValue', known)).not.toThrow();
    expect(() => responseMask('sheets(nonsense)', known)).toThrow(
      'Request contains an invalid argument.',
    );
    expect(() => responseMask('sheets(', known)).toThrow('Request contains an invalid argument.');
  });
});

describe('a field mask of an update', () => {
  it('must list something', () => {
    for (const fields of [undefined, null, '', ' ']) {
      expect(() => updateMask(fields)).toThrow(
        "At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)",
      );
    }
    expect(() => updateMask('a(b')).toThrow('Invalid field');
  });

  it('replaces what it lists, clears what the source lacks, and leaves the rest alone', () => {
    const old = { title: 'a', gridProperties: { rowCount: 5, frozenRowCount: 1 }, hidden: true };
    expect(merge(old, { title: 'b' }, updateMask('title'))).toEqual({ ...old, title: 'b' });
    expect(
      merge(
        old,
        { gridProperties: { frozenRowCount: 2 } },
        updateMask('gridProperties.frozenRowCount'),
      ),
    ).toEqual({ ...old, gridProperties: { rowCount: 5, frozenRowCount: 2 } });
    expect(merge(old, {}, updateMask('hidden'))).toEqual({
      title: 'a',
      gridProperties: { rowCount: 5, frozenRowCount: 1 },
    });
    expect(merge(old, { title: 'c' }, updateMask('*'))).toEqual({ title: 'c' });
  });

  it('reads snake case and the parentheses that Google’s samples use', () => {
    const mask = updateMask('user_entered_format(backgroundColor,textFormat.bold)');
    expect(touches(mask, 'userEnteredFormat.backgroundColor')).toBe(true);
    expect(touches(mask, 'userEnteredFormat.textFormat.bold')).toBe(true);
    expect(touches(mask, 'userEnteredFormat.textFormat.italic')).toBe(false);
    expect(touches(mask, 'note')).toBe(false);
  });
});
