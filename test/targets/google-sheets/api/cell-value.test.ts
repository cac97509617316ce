import { describe, expect, it } from 'vitest';
import { ExactNumber } from '../../../../src/mirror/types.ts';
import { fitText, toSheetValue } from '../../../../src/targets/google-sheets/api/cell-value.ts';

describe('L10: what a cell holds', () => {
  it('contains digits if a double would round, or a cell would show it as 1.7E+15', () => {
    expect(toSheetValue(999_999_999_999_999).value).toBe(999_999_999_999_999);
    expect(toSheetValue(1_705_971_932_369_780).value).toBe('1705971932369780');
    expect(toSheetValue(new ExactNumber('9007199254740993')).value).toBe('9007199254740993');
    expect(toSheetValue(1e21).value).toBe('1000000000000000000000');
  });

  it('shows where a text was cut, and reports it', () => {
    const { text, defects } = fitText('x'.repeat(60_000));
    expect(text).toHaveLength(50_000);
    expect(text).toMatch(/x… \[cut: 60,000 characters\]$/);
    expect(defects).toEqual([expect.stringContaining('50,000 characters')]);
    expect(fitText('x'.repeat(50_000))).toEqual({ text: 'x'.repeat(50_000), defects: [] });
  });

  it('is not cut in the middle of a character', () => {
    for (let shift = 0; shift < 2; shift++) {
      const { text } = fitText(`${'x'.repeat(shift)}${'😀'.repeat(30_000)}`);
      expect(text.isWellFormed()).toBe(true);
      expect(text.length).toBeLessThanOrEqual(50_000);
    }
  });
});
