import { describe, expect, it } from 'vitest';
import {
  browserAddress,
  parseSheetAddress,
} from '../../../../src/targets/google-sheets/api/address.ts';

const ID = '1AbC-dEf_GhIjKlMnOpQrStUvWxYz0123456789abcd';

describe('the address of a spreadsheet', () => {
  it.each([
    `https://docs.google.com/spreadsheets/d/${ID}/edit#gid=0`,
    `https://docs.google.com/spreadsheets/d/${ID}/edit?usp=sharing`,
    `https://docs.google.com/spreadsheets/d/${ID}/edit?gid=123#gid=123`,
    `https://docs.google.com/spreadsheets/u/1/d/${ID}/edit`,
    `https://docs.google.com/a/example.com/spreadsheets/d/${ID}/`,
    `https://docs.google.com/spreadsheets/d/${ID}`,
    ` https://docs.google.com/spreadsheets/d/${ID}/edit `,
    `sheets:${ID}`,
    `sheets://${ID}`,
  ])('is accepted as copied: %s', (address) => {
    expect(parseSheetAddress(address)).toBe(ID);
  });

  it.each([
    'https://docs.google.com/document/d/abc/edit',
    'https://docs.google.com/spreadsheets/d/e/2PACX-1v/pubhtml',
    'https://drive.google.com/drive/folders/abc',
    'https://example.com/spreadsheets/d/abc/edit',
    'sheets:',
    'sheets:a b',
    'sheets:../x',
    'not an address',
  ])('is refused with what to copy instead: %s', (address) => {
    expect(() => parseSheetAddress(address)).toThrow(
      expect.objectContaining({
        code: 'SETTINGS',
        message: expect.stringContaining('copy the address'),
      }),
    );
  });

  it('opens a tab in the browser', () => {
    expect(browserAddress(ID, 42)).toBe(`https://docs.google.com/spreadsheets/d/${ID}/edit#gid=42`);
  });
});
