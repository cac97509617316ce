import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startBed, type Bed } from './support/bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.emulator.close());

const TABLE = `CREATE OR REPLACE TABLE contact (
  id STRING NOT NULL OPTIONS(description='the key'), n NUMERIC, created_at TIMESTAMP, note JSON, tags ARRAY<STRING>
) PARTITION BY TIMESTAMP_TRUNC(created_at, MONTH) CLUSTER BY id OPTIONS(description='people')`;

beforeEach(async () => {
  await bed.query(TABLE);
});

const ROWS = `INSERT INTO contact (id, n, created_at, tags) VALUES
  ('a', 1, TIMESTAMP '2026-01-05 10:00:00+00', ['x', 'y']),
  ('b', 2.5, TIMESTAMP '2026-02-05 10:00:00.123456+00', []),
  ('c', NULL, NULL, NULL)`;

describe('a table that requires a filter', () => {
  const THERE = `TIMESTAMP '2026-01-01 00:00:00+00'`;
  beforeEach(async () => {
    await bed.query(ROWS);
    await bed.query('ALTER TABLE contact SET OPTIONS (require_partition_filter = TRUE)');
  });

  it.each([
    'SELECT id FROM contact',
    `SELECT id FROM contact WHERE id = 'a'`,
    `SELECT id FROM contact WHERE created_at > ${THERE} OR id = 'a'`,
    `UPDATE contact SET n = 1 WHERE id = 'a'`,
    'DELETE FROM contact WHERE TRUE',
  ])('refuses %s', async (sql) => {
    await expect(bed.query(sql)).rejects.toThrow(
      /Cannot query over table '.*contact' without a filter over column\(s\) 'created_at'/,
    );
  });

  it.each([
    `SELECT id FROM contact WHERE created_at >= ${THERE} AND id = 'a'`,
    `SELECT id FROM contact WHERE created_at >= ${THERE} OR created_at IS NULL`,
    `UPDATE contact SET n = 1 WHERE created_at IS NULL`,
    `INSERT INTO contact (id) VALUES ('d')`,
  ])('takes %s', async (sql) => {
    expect((await bed.query(sql)).data.jobComplete).toBe(true);
  });

  it('may stop to', async () => {
    await bed.query('ALTER TABLE contact SET OPTIONS (require_partition_filter = FALSE)');
    expect((await bed.query('SELECT id FROM contact')).rows).toHaveLength(3);
  });
});

describe('statements that change rows', () => {
  it('inserts rows and tells how many', async () => {
    const { data } = await bed.query(ROWS);
    expect(data.numDmlAffectedRows).toBe('3');
    expect(data.dmlStats).toEqual({
      insertedRowCount: '3',
      updatedRowCount: '0',
      deletedRowCount: '0',
    });
    const { rows } = await bed.query('SELECT id, n, created_at, tags FROM contact ORDER BY id');
    expect(rows).toEqual([
      ['a', '1', '1767607200000000', ['x', 'y']],
      ['b', '2.5', '1770285600123456', []],
      ['c', null, null, []],
    ]);
  });

  it('merges: each clause finds its rows as they were before the statement', async () => {
    await bed.query(ROWS);
    const payload = JSON.stringify([
      { id: 'a', n: '7' },
      { id: 'b', gone: true },
      { id: 'd', n: '0.000000001', at: '2026-03-01T00:00:00Z' },
    ]);
    const { data } = await bed.query(
      `MERGE contact t USING (
         SELECT JSON_VALUE(r, '$.id') AS id, SAFE_CAST(JSON_VALUE(r, '$.n') AS NUMERIC) AS n,
           CAST(JSON_VALUE(r, '$.at') AS TIMESTAMP) AS moment, JSON_VALUE(r, '$.gone') = 'true' AS gone
         FROM UNNEST(JSON_QUERY_ARRAY(@payload)) AS r) s
       ON t.id = s.id
       WHEN MATCHED AND s.gone THEN DELETE
       WHEN MATCHED THEN UPDATE SET n = s.n
       WHEN NOT MATCHED THEN INSERT (id, n, created_at) VALUES (s.id, s.n, s.moment)
       WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -1`,
      { payload },
    );
    expect(data.dmlStats).toEqual({
      insertedRowCount: '1',
      updatedRowCount: '2',
      deletedRowCount: '1',
    });
    const { rows } = await bed.query('SELECT id, n, created_at FROM contact ORDER BY id');
    expect(rows).toEqual([
      ['a', '7', '1767607200000000'],
      ['c', '-1', null],
      ['d', '0.000000001', '1772323200000000'],
    ]);
  });

  it('updates from a join, and refuses two source rows for one', async () => {
    await bed.query(ROWS);
    const source = "(SELECT 'a' AS id, NUMERIC '5' AS n UNION ALL SELECT @other, 6)";
    const sql = `UPDATE contact c SET n = s.n + c.n FROM ${source} s WHERE c.id = s.id`;
    expect((await bed.query(sql, { other: 'b' })).data.numDmlAffectedRows).toBe('2');
    expect((await bed.query('SELECT n FROM contact ORDER BY id')).rows).toEqual([
      ['6'],
      ['8.5'],
      [null],
    ]);
    expect(await bed.refusal(sql, { other: 'a' })).toBe(
      'invalidQuery: UPDATE/MERGE must match at most one source row for each target row',
    );
    expect(await bed.refusal('UPDATE contact SET n = 1')).toContain('must have a WHERE clause');
  });

  it('takes no NULL in an array, and changes no view', async () => {
    expect(await bed.refusal("INSERT INTO contact (id, tags) VALUES ('a', ['x', NULL])")).toBe(
      'invalidQuery: Array cannot have a null element; error in writing field tags',
    );
    expect(await bed.refusal('SELECT [1, NULL] AS a')).toContain('error in writing field a');
    await bed.query('CREATE OR REPLACE VIEW `some` AS SELECT id FROM mirror.contact');
    expect(await bed.refusal('DELETE FROM `some` WHERE TRUE')).toContain('currently a VIEW');
    await bed.query('DROP VIEW `some`');
  });

  it('refuses rows for more than 4,000 partitions', async () => {
    await bed.query('CREATE OR REPLACE TABLE days (d DATE) PARTITION BY d');
    const insert = (days: number): string =>
      `INSERT INTO days SELECT DATE_ADD(DATE '2000-01-01', INTERVAL n DAY) FROM UNNEST(GENERATE_ARRAY(1, ${days})) AS n`;
    await bed.query(insert(4_000));
    expect(await bed.refusal(insert(4_001))).toContain('Too many partitions');
    await bed.query('DROP TABLE days');
  });

  it('reads its own table as it was before the statement, in a transaction, too', async () => {
    await bed.query('CREATE OR REPLACE TABLE numbers (n INT64)');
    await bed.query('INSERT INTO numbers SELECT n FROM UNNEST(GENERATE_ARRAY(1, 3000)) AS n');
    await bed.query(
      `BEGIN TRANSACTION;
       INSERT INTO numbers SELECT n FROM numbers; INSERT INTO numbers SELECT n FROM numbers;
       UPDATE numbers SET n = (SELECT MAX(n) FROM numbers) + n WHERE n > (SELECT AVG(n) FROM numbers);
       COMMIT TRANSACTION`,
    );
    const { rows } = await bed.query('SELECT COUNT(*), MAX(n), COUNTIF(n > 3000) FROM numbers');
    expect(rows).toEqual([['12000', '6000', '6000']]);
    await bed.query('DROP TABLE numbers');
  });

  it('deletes and truncates', async () => {
    await bed.query(ROWS);
    const gone = await bed.query('DELETE FROM contact WHERE id IN UNNEST(@ids)', {
      ids: ['a', 'z'],
    });
    expect(gone.data.numDmlAffectedRows).toBe('1');
    expect((await bed.query('TRUNCATE TABLE contact')).data.numDmlAffectedRows).toBe('2');
  });

  it('keeps NOT NULL, and rolls a failed statement back whole', async () => {
    await bed.query(ROWS);
    expect(await bed.refusal("UPDATE contact SET id = NULLIF(id, 'b') WHERE TRUE")).toMatch(
      /^invalidQuery: .*null/i,
    );
    expect(await bed.refusal('UPDATE contact SET n = 1 / (LENGTH(id) - 1) WHERE TRUE')).toMatch(
      /^invalidQuery: /,
    );
    expect((await bed.query('SELECT COUNT(*) FROM contact WHERE n = 1')).rows).toEqual([['1']]);
  });
});

describe('statements that change tables', () => {
  it('creates, and knows IF NOT EXISTS and OR REPLACE', async () => {
    expect(await bed.refusal('CREATE TABLE contact (a INT64)')).toBe(
      'duplicate: Already Exists: Table emulated:mirror.contact',
    );
    await bed.query('CREATE TABLE IF NOT EXISTS contact (a INT64)');
    await bed.query('CREATE OR REPLACE TABLE contact AS SELECT 1 AS a, [STRUCT("x" AS y)] AS b');
    expect((await bed.query('SELECT a, b FROM contact')).rows).toEqual([['1', [['x']]]]);
  });

  it('alters columns, descriptions and labels', async () => {
    await bed.query(ROWS);
    await bed.query(`ALTER TABLE contact ADD COLUMN extra STRING OPTIONS(description='more'),
      ADD COLUMN IF NOT EXISTS n NUMERIC, DROP COLUMN IF EXISTS nope, DROP COLUMN tags`);
    await bed.query('ALTER TABLE contact RENAME COLUMN n TO amount');
    await bed.query("ALTER TABLE contact ALTER COLUMN amount SET OPTIONS(description='how much')");
    await bed.query("ALTER TABLE contact SET OPTIONS(description='all people')");
    const { rows } = await bed.query(
      "SELECT column_name, data_type, description FROM INFORMATION_SCHEMA.COLUMN_FIELD_PATHS WHERE table_name = 'contact'",
    );
    expect(rows).toEqual([
      ['id', 'STRING', 'the key'],
      ['amount', 'NUMERIC', 'how much'],
      ['created_at', 'TIMESTAMP', null],
      ['note', 'JSON', null],
      ['extra', 'STRING', 'more'],
    ]);
    expect(await bed.refusal('ALTER TABLE contact ADD COLUMN amount INT64')).toContain('amount');
    expect(await bed.refusal('ALTER TABLE contact DROP COLUMN created_at')).toContain(
      'partitioned',
    );
  });

  it('makes views whose queries name their datasets', async () => {
    await bed.query(ROWS);
    await bed.query(
      "CREATE OR REPLACE VIEW live (who OPTIONS(description='the key'), month) AS SELECT id, TIMESTAMP_TRUNC(created_at, MONTH) FROM mirror.contact WHERE created_at IS NOT NULL",
    );
    const { rows } = await bed.query('SELECT who, month FROM live ORDER BY who');
    expect(rows).toEqual([
      ['a', '1767225600000000'],
      ['b', '1769904000000000'],
    ]);
    const views = await bed.query(
      'SELECT table_name, table_type FROM mirror.INFORMATION_SCHEMA.TABLES ORDER BY 1',
    );
    expect(views.rows).toEqual([
      ['contact', 'BASE TABLE'],
      ['live', 'VIEW'],
    ]);
    await bed.query('DROP VIEW live');
    expect(await bed.refusal('SELECT * FROM live')).toBe(
      'notFound: Not found: Table emulated:mirror.live was not found in location EU',
    );
  });

  it('drops a table, and tells tables and views apart', async () => {
    expect(await bed.refusal('DROP VIEW contact')).toContain('currently a TABLE');
    await bed.query('DROP TABLE contact');
    await bed.query('DROP TABLE IF EXISTS contact');
    expect(await bed.refusal('DROP TABLE contact')).toContain('Not found');
  });
});

describe('queries', () => {
  const PEOPLE = `WITH people AS (
    SELECT * FROM UNNEST([STRUCT('ann' AS name, 'x' AS team, 3 AS n), ('bob', 'x', 5), ('Cid', 'y', NULL)]))`;

  it('joins, groups, sorts as BigQuery does: NULL first, capitals before small letters', async () => {
    const { rows } = await bed.query(
      `${PEOPLE} SELECT a.name, b.name FROM people a LEFT JOIN people b ON a.team = b.team AND a.name < b.name ORDER BY b.name, a.name`,
    );
    expect(rows).toEqual([
      ['Cid', null],
      ['bob', null],
      ['ann', 'bob'],
    ]);
    const groups = await bed.query(
      `${PEOPLE} SELECT team, COUNT(*), SUM(n), STRING_AGG(name, '+' ORDER BY name DESC), ARRAY_AGG(n IGNORE NULLS ORDER BY n) FROM people GROUP BY team HAVING COUNT(*) > 0 ORDER BY team DESC`,
    );
    expect(groups.rows).toEqual([
      ['y', '1', null, 'Cid', []],
      ['x', '2', '8', 'bob+ann', ['3', '5']],
    ]);
  });

  it('knows windows and QUALIFY', async () => {
    const { rows } = await bed.query(
      `${PEOPLE} SELECT name, SUM(n) OVER (PARTITION BY team ORDER BY name) FROM people WHERE TRUE QUALIFY ROW_NUMBER() OVER (PARTITION BY team ORDER BY n DESC) = 1 ORDER BY name`,
    );
    expect(rows).toEqual([
      ['Cid', null],
      ['bob', '8'],
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
      'SELECT x FROM UNNEST([1, 2, 2, 3]) AS x EXCEPT DISTINCT SELECT 2 ORDER BY 1 DESC LIMIT 2',
    );
    expect(sets.rows).toEqual([['3'], ['1']]);
  });

  it('takes parameters of all types, nested ones too', async () => {
    const { rows } = await bed.query(
      'SELECT @t, @j, @s.a, @l, @n IS NULL',
      {},
      {
        queryParameters: [
          {
            name: 't',
            parameterType: { type: 'TIMESTAMP' },
            parameterValue: { value: '2026-01-01T01:00:00.5+01:00' },
          },
          {
            name: 'j',
            parameterType: { type: 'JSON' },
            parameterValue: { value: '{"b":1,"a":[2]}' },
          },
          {
            name: 's',
            parameterType: {
              type: 'STRUCT',
              structTypes: [{ name: 'a', type: { type: 'NUMERIC' } }],
            },
            parameterValue: { structValues: { a: { value: '1.50' } } },
          },
          {
            name: 'l',
            parameterType: { type: 'ARRAY', arrayType: { type: 'INT64' } },
            parameterValue: { arrayValues: [{ value: '2' }, { value: '1' }] },
          },
          { name: 'n', parameterType: { type: 'STRING' }, parameterValue: { value: null } },
        ],
      },
    );
    expect(rows).toEqual([['1767225600500000', '{"a":[2],"b":1}', '1.5', ['2', '1'], 'true']]);
  });

  it('takes parameters by position', async () => {
    const { rows } = await bed.query(
      'SELECT ?, ? + 1',
      {},
      {
        parameterMode: 'POSITIONAL',
        queryParameters: [
          { parameterType: { type: 'STRING' }, parameterValue: { value: 'x' } },
          { parameterType: { type: 'INT64' }, parameterValue: { value: '41' } },
        ],
      },
    );
    expect(rows).toEqual([['x', '42']]);
  });
});

describe('what Google refuses', () => {
  it.each([
    ['SELECT nope FROM contact', 'Unrecognized name: nope; Did you mean note? at [1:8]'],
    ['SELECT\n  id + 1 FROM contact', 'at [2:3]'],
    ['SELECT 1::INT64', 'Syntax error'],
    ["INSERT INTO contact (id) VALUES ('x') ON CONFLICT DO NOTHING", 'Syntax error'],
    [
      'INSERT INTO contact (id) VALUES (1)',
      'has type INT64 which cannot be inserted into column id',
    ],
    ['INSERT INTO contact (id) VALUES (@p)', "Query parameter 'p' not found"],
    ['SELECT * FROM Contact', 'Not found: Table emulated:mirror.Contact'],
    ['SELECT * FROM nowhere.contact', 'Not found: Dataset emulated:nowhere'],
    ["SELECT CAST('abc' AS INT64)", 'Bad int64 value: abc'],
    ["SELECT CAST('1e40' AS NUMERIC)", 'Invalid NUMERIC value'],
    ['SELECT 1 / 0', 'division by zero'],
    ['BEGIN TRANSACTION', 'only in scripts or sessions'],
  ])('%s', async (sql, message) => {
    expect(await bed.refusal(sql)).toContain(message);
  });
});
