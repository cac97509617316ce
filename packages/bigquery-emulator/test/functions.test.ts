import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf, startBed, type Bed } from './support/bed.ts';
import { referenceValue } from './support/reference.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.emulator.close());

const LIST = readFileSync(resolve(import.meta.dirname, 'support/expressions.txt'), 'utf8');
const EXPRESSIONS = LIST.split('\n').filter((line) => line !== '');

/** Numbers as they are worth, arrays that are NULL as the empty ones that leave a query. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  return typeof value === 'string' ? value.replace(/^(-?\d+)\.0$/, '$1') : value;
}

describe("functions, casts and literals give what Google's own evaluator gives", () => {
  it.each(EXPRESSIONS)('%s', async (expression) => {
    const theirs = await referenceValue(expression);
    const ours = await bed.query(`SELECT ${expression} AS x`).then(
      ({ rows }) => rows[0]?.[0],
      (error: unknown) =>
        refusalOf(error).startsWith('invalidQuery: ') ? 'an error' : refusalOf(error),
    );
    const isEmpty = theirs === null && Array.isArray(ours) && ours.length === 0;
    expect(isEmpty ? null : comparable(ours)).toEqual(comparable(theirs));
  });

  it.each([
    ['FARM_FINGERPRINT("a")', 'the function FARM_FINGERPRINT'],
    ['JSON_SET(JSON "{}", "$.a", 1)', 'the function JSON_SET'],
    ["REGEXP_EXTRACT('abc', '(x)?abc')", 'a pattern that has optional parts'],
    ["FORMAT_TIMESTAMP('%c', CURRENT_TIMESTAMP())", 'the element %c of a time format'],
    ["TIMESTAMP('2026-01-01', 'Europe/Prague')", 'the time zone Europe/Prague'],
    ["PARSE_BIGNUMERIC('1')", 'the type BIGNUMERIC'],
  ])('what is not done is refused by name: %s', async (expression, what) => {
    expect(await bed.refusal(`SELECT ${expression}`)).toBe(
      `notImplemented: bigquery-emulator does not do ${what.startsWith('a pattern') ? `REGEXP_EXTRACT with ${what}` : what}`,
    );
  });
});
