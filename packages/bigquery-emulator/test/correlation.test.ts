import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBed, type Bed } from './support/bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
  await bed.query('CREATE TABLE t (id STRING, d DATE, n INT64, tags ARRAY<STRING>)');
  await bed.query('CREATE TABLE u (id STRING, d DATE, n INT64)');
});
afterAll(() => bed.emulator.close());

const LIMITED =
  'invalidQuery: Correlated subqueries that reference other tables are not supported unless they can be de-correlated, such as by transforming them into an efficient JOIN.';
const unequal = (join: string): string =>
  `invalidQuery: LEFT ${join} JOIN cannot be used without a condition that is an equality of fields from both sides of the join.`;

describe('correlated subqueries over tables', () => {
  it.each([
    ['SELECT (SELECT n FROM u WHERE u.id = t.id LIMIT 1) FROM t', LIMITED],
    ['SELECT (SELECT n FROM u WHERE u.id = t.id ORDER BY d DESC LIMIT 1) FROM t', LIMITED],
    ['SELECT ARRAY(SELECT n FROM u WHERE u.id = t.id ORDER BY d LIMIT 3) FROM t', LIMITED],
    [
      'SELECT (SELECT MAX(n) FROM (SELECT n FROM u WHERE u.id = t.id ORDER BY d LIMIT 2)) FROM t',
      LIMITED,
    ],
    ['SELECT (SELECT MAX(n) FROM u WHERE u.d <= t.d) FROM t', unequal('OUTER')],
    ['SELECT id FROM t WHERE n > (SELECT COUNT(*) FROM u WHERE u.n > t.n)', unequal('OUTER')],
    ['SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.d < t.d)', unequal('SEMI')],
    ['SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.d < t.d)', unequal('ANTISEMI')],
    [
      'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE STARTS_WITH(u.id, t.id) AND u.n = 1)',
      unequal('SEMI'),
    ],
    ['UPDATE t SET n = (SELECT MAX(n) FROM u WHERE u.d <= t.d) WHERE TRUE', unequal('OUTER')],
    [
      'CREATE VIEW v AS SELECT (SELECT n FROM mirror.u WHERE u.id = t.id LIMIT 1) AS n FROM mirror.t t',
      LIMITED,
    ],
  ])('refused: %s', async (sql, answer) => {
    expect(await bed.refusal(sql)).toBe(answer);
  });

  it.each([
    'SELECT (SELECT MAX(n) FROM u WHERE u.id = t.id) FROM t',
    'SELECT (SELECT MAX(n) FROM u WHERE u.id = t.id AND u.d <= t.d) FROM t',
    'SELECT (SELECT COUNT(*) FROM u WHERE u.id = t.id LIMIT 1) FROM t',
    'SELECT (SELECT n FROM u ORDER BY d LIMIT 1) FROM t',
    'SELECT (SELECT tag FROM UNNEST(t.tags) AS tag LIMIT 1) FROM t',
    'SELECT ARRAY(SELECT tag FROM UNNEST(t.tags) AS tag WHERE tag > t.id ORDER BY tag) FROM t',
    'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id LIMIT 1)',
    'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE UPPER(u.id) = UPPER(t.id))',
    'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id OR (u.id IS NULL AND t.id IS NULL))',
    'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id IN UNNEST(t.tags))',
    'SELECT id FROM t WHERE n IN (SELECT n FROM u WHERE u.d < t.d)',
    'SELECT (SELECT MAX(u.n + t.n) FROM u) FROM t',
  ])('taken: %s', async (sql) => {
    expect(await bed.refusal(sql)).toBe('nothing: it was taken');
  });
});
