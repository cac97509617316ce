import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText, parseNumber } from '../../src/mirror/json.ts';
import { ExactNumber, type Json } from '../../src/mirror/types.ts';
import { propertyRuns } from '../support/property.ts';

/** Independent of the code under test: the value as an integer times a power of ten, with big integers. */
function rational(literal: string): { mantissa: bigint; exponent: number } {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const mantissa = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  return { mantissa, exponent: Number(exponent) - fraction.length };
}

function sameValue(a: string, b: string): boolean {
  const [x, y] = [rational(a), rational(b)];
  const low = Math.min(x.exponent, y.exponent);
  const scaled = ({ mantissa, exponent }: typeof x): bigint =>
    mantissa * 10n ** BigInt(exponent - low);
  return scaled(x) === scaled(y);
}

const digits = (max: number): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`));
const literal = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: digits(30).map((text) => text.replace(/^0+(?=\d)/, '')),
    fraction: fc.option(digits(30), { nil: undefined }),
    exponent: fc.option(fc.integer({ min: -330, max: 310 }), { nil: undefined }),
    e: fc.constantFrom('e', 'E', 'e+'),
  })
  .map(({ sign, whole, fraction, exponent, e }) => {
    const mark = exponent !== undefined && exponent < 0 ? e.charAt(0) : e;
    return `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent === undefined ? '' : `${mark}${exponent}`}`;
  });

describe('L10: numbers are not rounded', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['0.1', 0.1],
    ['1e21', 1e21],
    ['1E+2', 100],
    ['9007199254740992', 2 ** 53],
    ['1.50', 1.5],
    ['0e400000000', 0],
    ['5e-324', 5e-324],
    ['1.7976931348623157e308', Number.MAX_VALUE],
  ])('a double holds %s', (source, value) => {
    expect(parseNumber(source)).toBe(value);
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-12345678901234567890', '-12345678901234567890'],
    ['0.10000000000000000001', '0.10000000000000000001'],
    ['123456789012345678e3', '123456789012345678000'],
    ['1.00000000000000000010', '1.0000000000000000001'],
    ['1e309', `1${'0'.repeat(309)}`],
    ['1e-330', `0.${'0'.repeat(329)}1`],
  ])('a double does not hold %s', (source, exact) => {
    expect(parseNumber(source)).toEqual(new ExactNumber(exact));
  });

  it.each(['1e400000000', '-1e-400000000', '1e99999999999999999999', '1'.repeat(1_001)])(
    'absurd literals stay text, at no cost (%#)',
    (source) => {
      expect(parseNumber(source)).toBeNull();
    },
  );

  it.each(['', 'abc', '1.', '.5', '+1', '0x10', '1e', 'NaN', '-', '007', '1 ', 'Infinity'])(
    'a text that is not a JSON number is rejected: %j',
    (source) => {
      expect(parseNumber(source)).toBeNull();
    },
  );

  it('costs linear time on long runs of zeros', () => {
    expect(parseNumber(`1${'0'.repeat(2_000_000)}1`)).toBeNull();
    expect(parseNumber(`0.${'0'.repeat(2_000_000)}1`)).toBeNull();
    expect(parseNumber(`1.${'0'.repeat(2_000_000)}`)).toBe(1);
  });

  it('keeps the value of any literal, and one text for one value', () => {
    fc.assert(
      fc.property(literal, (source) => {
        const parsed = parseNumber(source);
        if (parsed === null) return;
        const text = decimalText(parsed);
        expect(text).toMatch(/^(0|-?(?!0(\.0*)?$)(0|[1-9]\d*)(\.\d*[1-9])?)$/);
        expect(sameValue(text, source)).toBe(true);
        expect(parseNumber(text)).toEqual(parsed);
      }),
      propertyRuns(3_000),
    );
  });
});

describe('JSON text', () => {
  it('L10: keeps every digit inside arrays and objects', () => {
    const value: Json = [
      new ExactNumber('12345678901234567890'),
      { a: new ExactNumber('0.1') },
      'x',
    ];
    expect(JSON.stringify(value)).toBe('[12345678901234567890,{"a":0.1},"x"]');
  });
});
