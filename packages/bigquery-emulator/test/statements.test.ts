import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DATASET, PROJECT, startBed, type Bed } from './support/bed.ts';

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
  it('merges: each clause finds its rows as they were before the statement', async () => {
    await bed.query(ROWS);
    const payload = JSON.stringify([
      { id: 'a', n: '7' },
      { id: 'd', n: '9', at: '2026-03-01T00:00:00Z' },
    ]);
    const merge = (on: string): string => `MERGE contact t USING (
         SELECT JSON_VALUE(r, '$.id') AS id, CAST(JSON_VALUE(r, '$.n') AS INT64) AS n,
           CAST(JSON_VALUE(r, '$.at') AS TIMESTAMP) AS moment
         FROM UNNEST(JSON_QUERY_ARRAY(@payload)) AS r) s
       ON ${on}
       WHEN MATCHED AND t.n <> s.n THEN UPDATE SET n = s.n + t.n
       WHEN NOT MATCHED THEN INSERT (id, n, created_at) VALUES (s.id, s.n, s.moment)`;
    const { data } = await bed.query(merge('t.id = s.id'), { payload });
    expect(data.numDmlAffectedRows).toBe('2');
    const { rows } = await bed.query('SELECT id, n, created_at FROM contact ORDER BY id');
    expect(rows).toEqual([
      ['a', '8', '1767607200000000'],
      ['b', '25', '1770285600123456'],
      ['c', null, null],
      ['d', '9', '1772323200000000'],
    ]);
    expect(await bed.refusal(merge("t.id = 'a'"), { payload })).toBe(
      'invalidQuery: UPDATE/MERGE must match at most one source row for each target row',
    );
  });

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

describe('statements that change tables', () => {
  const columns = async (tableId: string): Promise<unknown> => {
    const { data } = await bed.api.tables.get({ projectId: PROJECT, datasetId: DATASET, tableId });
    return data.schema?.fields?.map(({ name, type }) => `${name} ${type}`);
  };

  it('creates tables, and supports IF NOT EXISTS and OR REPLACE', async () => {
    expect(await bed.refusal('CREATE TABLE contact (a INT64)')).toBe(
      'duplicate: Already Exists: Table emulated:mirror.contact',
    );
    await bed.query('CREATE TABLE IF NOT EXISTS contact (a INT64)');
    expect(await columns('contact')).toHaveLength(4);
    await bed.query('CREATE OR REPLACE TABLE contact (a INT64)');
    expect(await columns('contact')).toEqual(['a INTEGER']);
    expect(await bed.refusal('CREATE TABLE b (a FLOAT64) CLUSTER BY a')).toContain(
      'may not be a floating point type',
    );
  });

  it('makes views whose queries name their datasets', async () => {
    await bed.query(ROWS);
    await bed.query(
      "CREATE OR REPLACE VIEW live AS SELECT id AS who, FORMAT_TIMESTAMP('%Y-%m', created_at) AS month FROM mirror.contact WHERE created_at IS NOT NULL",
    );
    const { rows } = await bed.query('SELECT who, month FROM live ORDER BY who');
    expect(rows).toEqual([
      ['a', '2026-01'],
      ['b', '2026-02'],
    ]);
    expect(await bed.refusal('CREATE VIEW other AS SELECT id FROM contact')).toContain(
      'must be qualified with a dataset',
    );
    await bed.query('DROP VIEW live');
    expect(await bed.refusal('SELECT * FROM live')).toBe(
      'notFound: Not found: Table emulated:mirror.live was not found in location US',
    );
  });

  it('drops a table, and distinguishes tables and views', async () => {
    expect(await bed.refusal('DROP VIEW contact')).toContain('currently a TABLE');
    await bed.query('DROP TABLE contact');
    await bed.query('DROP TABLE IF EXISTS contact');
    expect(await bed.refusal('DROP TABLE contact')).toContain('Not found');
  });
});

describe('queries', () => {
  const PEOPLE = `(SELECT JSON_VALUE(p, '$[0]') AS name, JSON_VALUE(p, '$[1]') AS team, CAST(JSON_VALUE(p, '$[2]') AS INT64) AS n
    FROM UNNEST(JSON_QUERY_ARRAY('[["ann", "x", 3], ["bob", "x", 5], ["Cid", "y", null]]')) AS p)`;

  it('joins, groups and sorts as BigQuery does: NULL first, upper case before lower case', async () => {
    const { rows } = await bed.query(
      `SELECT a.name, b.name FROM ${PEOPLE} a LEFT JOIN ${PEOPLE} b ON a.team = b.team AND a.name < b.name ORDER BY b.name, a.name`,
    );
    expect(rows).toEqual([
      ['Cid', null],
      ['bob', null],
      ['ann', 'bob'],
    ]);
    const groups = await bed.query(
      `SELECT team, COUNT(*), SUM(n) FROM ${PEOPLE} GROUP BY team ORDER BY team DESC`,
    );
    expect(groups.rows).toEqual([
      ['y', '1', null],
      ['x', '2', '8'],
    ]);
  });

  it('supports windows', async () => {
    const { rows } = await bed.query(
      `SELECT name, LAG(n) OVER (PARTITION BY team ORDER BY name) FROM ${PEOPLE} ORDER BY name`,
    );
    expect(rows).toEqual([
      ['Cid', null],
      ['ann', null],
      ['bob', '3'],
    ]);
  });

  it('unnests arrays with their offsets, correlated subqueries and sets', async () => {
    const { rows } = await bed.query(
      `SELECT e, o, (SELECT COUNT(*) FROM UNNEST(arr) AS x WHERE x > e) FROM (SELECT ['a', 'b'] AS arr), UNNEST(arr) AS e WITH OFFSET AS o ORDER BY o`,
    );
    expect(rows).toEqual([
      ['a', '0', '1'],
      ['b', '1', '0'],
    ]);
    const sets = await bed.query(
      'SELECT x FROM UNNEST([1, 2, 3]) AS x UNION ALL SELECT 2 ORDER BY 1 DESC LIMIT 2 OFFSET 1',
    );
    expect(sets.rows).toEqual([['2'], ['2']]);
  });

  it('are paged', async () => {
    const { data } = await bed.query(
      'SELECT x FROM UNNEST([1, 2, 3]) AS x ORDER BY x',
      {},
      {
        maxResults: 2,
      },
    );
    expect([data.rows?.length, data.totalRows]).toEqual([2, '3']);
    const next = await bed.api.jobs.getQueryResults({
      projectId: PROJECT,
      jobId: data.jobReference?.jobId ?? '',
      pageToken: data.pageToken ?? '',
    });
    expect(next.data.rows).toEqual([{ f: [{ v: '3' }] }]);
    expect(next.data.pageToken).toBeUndefined();
  });

  it('use parameters', async () => {
    const { rows } = await bed.query(
      'SELECT @s, @t IS NULL, @i + 1, (SELECT MAX(x) FROM UNNEST(@l) AS x)',
      { s: 'é', t: null, i: 41, l: ['a', 'b'] },
    );
    expect(rows).toEqual([['é', 'true', '42', 'b']]);
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
