import { describe, expect, it } from 'vitest';
import { textTable } from '../../src/cli/text-table.ts';

describe('a table of text', () => {
  it('aligns its columns, with any letters, and numbers at the right', () => {
    const rows = [
      ['žluťoučký kůň', 1],
      ['申し込み', 1_250],
      ['👩‍👩‍👧 party', null],
    ];
    expect(textTable(['name', 'rows'], rows)).toEqual([
      'name              rows',
      'žluťoučký kůň        1',
      '申し込み         1,250',
      '👩‍👩‍👧 party       unknown',
    ]);
  });

  it('cuts a long cell between two characters', () => {
    const [, line] = textTable(['name'], [['👩‍👩‍👧'.repeat(40)]]);
    expect(line).toBe(`${'👩‍👩‍👧'.repeat(29)}…`);
  });
});
