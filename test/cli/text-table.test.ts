import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { shorten, textTable } from '../../src/cli/text-table.ts';
import { propertyRuns } from '../support/property.ts';

const columns = [{ title: 'name' }, { title: 'rows', align: 'right' }] as const;

describe('a table of text', () => {
  it('aligns its columns, with any letters', () => {
    const rows = [
      ['žluťoučký kůň', '1'],
      ['申し込み', '1,250'],
      ['👩‍👩‍👧 party', '7'],
    ];
    expect(textTable(columns, rows)).toEqual([
      'name            rows',
      'žluťoučký kůň      1',
      '申し込み       1,250',
      '👩‍👩‍👧 party           7',
    ]);
  });

  it('omits columns that do not fit, and says how many', () => {
    expect(textTable(columns, [['a long name', '1']], { maxWidth: 14 })).toEqual([
      'name',
      'a long name',
      '… and 1 more column',
    ]);
  });

  it('shows a cell on one line, without characters that control the terminal', () => {
    const [, line] = textTable([{ title: 'name' }], [['a\r\nb\tc\u001B[31md\u202Ee\u2028f']]);
    expect(line).toBe('a b c␛[31md\uFFFDe f');
  });

  it('never exceeds the maximum width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const short = shorten(text, max);
        expect(stringWidth(short)).toBeLessThanOrEqual(max);
        expect(short === text || (short.endsWith('…') && stringWidth(text) > max)).toBe(true);
      }),
      propertyRuns(100),
    );
  });
});
