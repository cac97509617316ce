import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson, parseJson } from '../../src/mirror/json.ts';
import { ExactNumber, type Json } from '../../src/mirror/types.ts';
import { propertyRuns } from '../support/property.ts';

const exact = (digits: string): ExactNumber => new ExactNumber(digits);

describe('parseExactJson', () => {
  it.each<[string, Json]>([
    ['[9007199254740993]', [exact('9007199254740993')]],
    ['[1e400000000,-1e400000000]', ['1e400000000', '-1e400000000']],
    ['[1e309]', [exact(`1${'0'.repeat(309)}`)]],
    [
      '["12345678901234567890", ",12345678901234567890"]',
      ['12345678901234567890', ',12345678901234567890'],
    ],
  ])('L10: reads %s', (text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  it.each(['{"__proto__":1}', '{"__proto__":12345678901234567890}'])(
    'keeps __proto__ as an own key: %s',
    (text) => {
      const parsed = parseExactJson(text) as object;
      expect(Object.keys(parsed)).toEqual(['__proto__']);
      expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    },
  );

  it.each([
    '{"a":12345678901234567890',
    '{12345678901234567890:1}',
    '[012345678901234567890]',
    '["1e400]',
    '[1e400"]',
  ])('throws SyntaxError for %j', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it('L10: finds every number that a double does not hold, in any place', () => {
    const literal = fc
      .oneof(
        fc.stringMatching(/^-?(?:0|[1-9]\d{0,18})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?$/),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      )
      .map((text) => (Number(text) === 0 ? '0' : text));
    const filler = fc
      .stringMatching(/^[a-zE0-9 :,+.[-]{0,12}$/)
      .map((text) => JSON.stringify(text));
    const blank = fc.constantFrom('', '', ' ', '\n\t  ');
    const value = fc.tuple(blank, fc.oneof(literal, filler), blank).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), (values) => {
        const text = `{"x":[${values.join(',')}],"y":${values[0]}}`;
        expect(parseExactJson(text)).toEqual(parseJson(text));
      }),
      propertyRuns(3_000),
    );
  });

  it('L14: is not slowed down by endless runs of the characters of numbers', () => {
    for (const run of ['9', 'e', '-', '1e-', '0.']) {
      const text = `"${run.repeat(1_000_000)} ${`${run},`.repeat(100_000)}"`;
      expect(parseExactJson(text)).toBe(JSON.parse(text));
    }
  });

  it('L10: an absurdly nested answer does not cost a number beside it any digit', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const parsed = parseExactJson(
      `{"deep":${deep},"n":12345678901234567890,"m":[1.5,-1e3],"s":"\\"9e9","o":{"p":[0.10000000000000000001]}}`,
    );
    expect(parsed).toMatchObject({
      n: '12345678901234567890',
      m: [1.5, -1000],
      s: '"9e9',
      o: { p: ['0.10000000000000000001'] },
    });
  });
});
