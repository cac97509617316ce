import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startBed, type Bed } from './support/bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.emulator.close());

const TABLE = `CREATE OR REPLACE TABLE contact (
  id STRING NOT NULL, n INT64, created_at TIMESTAMP, note STRING
) PARTITION BY TIMESTAMP_TRUNC(created_at, MONTH) CLUSTER BY id`;

beforeEach(async () => {
  await bed.query(TABLE);
});

const ROWS = `INSERT INTO contact (id, n, created_at, note) VALUES
  ('a', 1, TIMESTAMP '2026-01-05 10:00:00+00', 'x'),
  ('b', 25, TIMESTAMP '2026-02-05 10:00:00.123456+00', ''),
  ('c', NULL, NULL, NULL)`;

describe('statements that change rows', () => {
  it('refuses an UPDATE without WHERE, and changes no view', async () => {
    expect(await bed.refusal('UPDATE contact SET n = 1')).toContain('must have a WHERE clause');
    await bed.query('CREATE OR REPLACE VIEW `some` AS SELECT id FROM mirror.contact');
    expect(await bed.refusal('DELETE FROM `some` WHERE TRUE')).toContain('currently a VIEW');
    await bed.query('DROP VIEW `some`');
  });

  it('refuses rows for more than 4,000 partitions', async () => {
    const insert = (months: number): string =>
      `INSERT INTO contact (id, created_at) SELECT 'x', TIMESTAMP_MILLIS(CAST(m AS INT64)) FROM UNNEST(JSON_QUERY_ARRAY('${JSON.stringify(Array.from({ length: months }, (_, n) => n * 2_678_400_000))}')) AS m`;
    await bed.query(insert(4_000));
    expect(await bed.refusal(insert(4_100))).toContain('Too many partitions');
  });

  it('reads its own table as it was before the statement, also in a transaction', async () => {
    await bed.query('CREATE OR REPLACE TABLE numbers (n INT64)');
    await bed.query(
      `INSERT INTO numbers (n) SELECT n + 1 FROM UNNEST(JSON_QUERY_ARRAY('[${Array(3_000).fill(0).join(',')}]')) AS x WITH OFFSET AS n`,
    );
    await bed.query(
      `BEGIN TRANSACTION;
       INSERT INTO numbers (n) SELECT n FROM numbers; INSERT INTO numbers (n) SELECT n FROM numbers;
       UPDATE numbers SET n = (SELECT MAX(n) FROM numbers) + n WHERE n > 1500;
       COMMIT TRANSACTION`,
    );
    const { rows } = await bed.query('SELECT COUNT(*), MAX(n), MIN(n) FROM numbers');
    expect(rows).toEqual([['12000', '6000', '1']]);
    expect((await bed.query('SELECT COUNT(*) FROM numbers WHERE n > 3000')).rows).toEqual([
      ['6000'],
    ]);
    await bed.query('DROP TABLE numbers');
  });

  it('keeps NOT NULL, and rolls back a failed statement completely', async () => {
    await bed.query(ROWS);
    expect(await bed.refusal("UPDATE contact SET id = IF(id = 'b', NULL, id) WHERE TRUE")).toMatch(
      /^invalidQuery: .*null/i,
    );
    expect(await bed.refusal('UPDATE contact SET n = CAST(note AS INT64) WHERE TRUE')).toMatch(
      /^invalidQuery: /,
    );
    expect((await bed.query('SELECT COUNT(*) FROM contact WHERE n = 1')).rows).toEqual([['1']]);
  });
});

describe('statements that Google refuses', () => {
  it.each([
    ['SELECT nope FROM contact', 'Unrecognized name: nope; Did you mean note? at [1:8]'],
    ['SELECT\n  id + 1 FROM contact', 'at [2:3]'],
    ['SELECT 1::INT64', 'Syntax error'],
    ["INSERT INTO contact (id) VALUES ('x') ON CONFLICT DO NOTHING", 'Syntax error'],
    ['ALTER TABLE contact ADD COLUMN Note INT64', 'Column already exists: Note'],
    [
      'INSERT INTO contact (id) VALUES (1)',
      'has type INT64 which cannot be inserted into column id',
    ],
    ['INSERT INTO contact (id) VALUES (@p)', "Query parameter 'p' not found"],
    ['SELECT * FROM Contact', 'Not found: Table emulated:mirror.Contact'],
    ['SELECT * FROM nowhere.contact', 'Not found: Dataset emulated:nowhere'],
    ["SELECT CAST('abc' AS INT64)", 'Bad int64 value: abc'],
    ['BEGIN TRANSACTION', 'only in scripts or sessions'],
    ['CREATE TABLE contact (a INT64)', 'duplicate: Already Exists: Table emulated:mirror.contact'],
    ['CREATE TABLE other (a FLOAT64) CLUSTER BY a', 'may not be a floating point type'],
    ['CREATE VIEW other AS SELECT id FROM contact', 'must be qualified with a dataset'],
    ['DROP VIEW contact', 'currently a TABLE'],
    ['DROP TABLE other', 'Not found'],
  ])('%s', async (sql, message) => {
    expect(await bed.refusal(sql)).toContain(message);
  });
});

describe('the emulator refuses what it does not support', () => {
  it.each([
    'SELECT * FROM INFORMATION_SCHEMA.TABLES',
    'SELECT 1 EXCEPT DISTINCT SELECT 2',
    'WITH a AS (SELECT 1 AS x) SELECT x FROM a',
    'MERGE contact t USING contact s ON t.id = s.id WHEN MATCHED THEN DELETE',
    'MERGE contact t USING contact s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 1',
    'CREATE TABLE other (a ARRAY<STRING>)',
    "CREATE TABLE other (a STRING) OPTIONS (description = 'x')",
    "CREATE TABLE other (a STRING OPTIONS (description = 'x'))",
    'CREATE TABLE other (a TIMESTAMP) PARTITION BY TIMESTAMP_TRUNC(a, DAY)',
    'ALTER TABLE contact DROP COLUMN n',
    'ALTER TABLE contact ADD COLUMN IF NOT EXISTS extra STRING',
  ])('%s', async (sql) => {
    expect(await bed.refusal(sql)).toMatch(/^notImplemented: bigquery-emulator does not do /);
  });
});
