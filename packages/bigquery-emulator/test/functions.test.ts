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

/** Numbers by their value. */
const comparable = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/^(-?\d+)\.0$/, '$1') : value;

describe("functions, casts and literals give the results of Google's own evaluator", () => {
  it.each(EXPRESSIONS)('%s', async (expression) => {
    const theirs = await referenceValue(expression);
    const ours = await bed.query(`SELECT ${expression} AS x`).then(
      ({ rows }) => rows[0]?.[0],
      (error: unknown) =>
        refusalOf(error).startsWith('invalidQuery: ') ? 'an error' : refusalOf(error),
    );
    expect(comparable(ours)).toEqual(comparable(theirs));
  });

  it.each([
    ['FARM_FINGERPRINT("a")', 'the function FARM_FINGERPRINT'],
    ['(SELECT AVG(x) FROM UNNEST([1]) AS x)', 'the aggregate AVG'],
    ['(SELECT RANK() OVER (ORDER BY x) FROM UNNEST([1]) AS x)', 'the window function RANK'],
    ['[1, 2]', 'results of the type ARRAY'],
    [
      "TO_JSON_STRING(REGEXP_EXTRACT_ALL('abc', '(x)?abc'))",
      'REGEXP_EXTRACT_ALL with a pattern that has optional parts',
    ],
    ["FORMAT_TIMESTAMP('%c', TIMESTAMP '2026-01-01')", 'the element %c of a time format'],
    ['CURRENT_TIMESTAMP()', 'the function CURRENT_TIMESTAMP'],
  ])('an unsupported statement is refused by name: %s', async (expression, what) => {
    expect(await bed.refusal(`SELECT ${expression}`)).toBe(
      `notImplemented: bigquery-emulator does not do ${what}`,
    );
  });
});
