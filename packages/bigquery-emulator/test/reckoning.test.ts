import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusalOf, startBed, type Bed } from './support/bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
  await bed.query(
    'CREATE TABLE wide (id STRING, created_at TIMESTAMP, note STRING) PARTITION BY TIMESTAMP_TRUNC(created_at, MONTH) CLUSTER BY id',
  );
  // Twelve months with ten rows each and ten without a date: an ID takes 2 + 3 bytes, a note 2 + 100.
  const note = 'x'.repeat(100);
  const tens = 'UNNEST([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) AS n';
  await bed.query(
    `INSERT INTO wide (id, created_at, note) SELECT CONCAT(m, CAST(n AS STRING)), CAST(CONCAT('2026-', m, '-15') AS TIMESTAMP), '${note}'
     FROM UNNEST(['01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12']) AS m, ${tens}`,
  );
  await bed.query(
    `INSERT INTO wide (id, created_at, note) SELECT CONCAT('no', CAST(n AS STRING)), NULL, '${note}' FROM ${tens}`,
  );
});
afterAll(() => bed.emulator.close());
beforeEach(() => bed.emulator.statements.clear());

const MB = 1_048_576;
const processed = async (sql: string): Promise<number> =>
  Number((await bed.query(sql)).data.totalBytesProcessed);

const IDS = 130 * 5;
const DATES = 120 * 8;
const MONTH = 10 * (5 + 8 + 102);

describe('bytes', () => {
  it('are those of the columns that are read', async () => {
    expect(await processed('SELECT id FROM wide')).toBe(IDS);
    expect(await processed('SELECT COUNT(*) FROM wide')).toBe(0);
    expect(await processed('SELECT id FROM wide ORDER BY created_at')).toBe(IDS + DATES);
  });

  it.each([
    ["created_at >= TIMESTAMP '2026-03-01' AND created_at < TIMESTAMP '2026-04-01'", 1],
    [
      "(created_at >= TIMESTAMP '2026-02-01' AND created_at < TIMESTAMP '2026-03-01') OR (created_at >= TIMESTAMP '2026-12-01')",
      2,
    ],
    ["created_at >= TIMESTAMP '2026-03-01' AND id = 'x'", 10],
  ])('exclude partitions that literals rule out: %s', async (condition, months) => {
    expect(await processed(`SELECT * FROM wide WHERE ${condition}`)).toBe(months * MONTH);
  });

  it('include all partitions if no literal excludes one', async () => {
    const all = 12 * MONTH + 10 * (5 + 102);
    expect(await processed('SELECT * FROM wide')).toBe(all);
    expect(await processed("SELECT * FROM wide WHERE id = '010'")).toBe(all);
    expect(
      await processed("SELECT * FROM wide WHERE created_at >= (SELECT TIMESTAMP '2026-12-01')"),
    ).toBe(all);
    expect(
      await processed("SELECT * FROM wide WHERE created_at < TIMESTAMP '2026-02-01' OR id = 'x'"),
    ).toBe(all);
  });

  it('include rows without a date if the query selects them', async () => {
    expect(await processed('SELECT id FROM wide WHERE created_at IS NULL')).toBe(10 * 5);
    const both =
      "SELECT id, created_at FROM wide WHERE created_at < TIMESTAMP '2026-02-01' OR created_at IS NULL";
    expect(await processed(both)).toBe(10 * 13 + 10 * 5);
  });

  it('of a MERGE that only inserts are those that it reads; of one that updates, those of whole rows', async () => {
    const source = "(SELECT '010' AS id, TIMESTAMP '2026-01-15' AS at_month) s";
    const on =
      "t.id = s.id AND t.created_at >= TIMESTAMP '2026-01-01' AND t.created_at < TIMESTAMP '2026-02-01'";
    const insert = `MERGE wide t USING ${source} ON ${on} WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)`;
    expect(await processed(insert)).toBe(10 * (5 + 8));
    const update = `MERGE wide t USING ${source} ON ${on} WHEN MATCHED THEN UPDATE SET note = note`;
    expect(await processed(update)).toBe(MONTH);
  });

  it('of a view are those of its tables', async () => {
    await bed.query(
      "CREATE OR REPLACE VIEW january AS SELECT id FROM mirror.wide WHERE created_at < TIMESTAMP '2026-02-01'",
    );
    expect(await processed('SELECT * FROM january')).toBe(10 * 13);
  });
});

describe('the bill', () => {
  it('is at least ten megabytes per table and statement, and nothing without tables', async () => {
    const billed = async (sql: string): Promise<number> =>
      Number((await bed.query(sql)).data.totalBytesBilled);
    await bed.query('CREATE OR REPLACE TABLE small (id STRING)');
    expect(await billed('SELECT 1')).toBe(0);
    expect(await billed('SELECT id FROM wide')).toBe(10 * MB);
    expect(await billed('SELECT w.id FROM wide w JOIN small s ON s.id = w.id')).toBe(20 * MB);
    expect(
      await billed("INSERT INTO small VALUES ('x'); SELECT COUNT(*) FROM small; SELECT 1"),
    ).toBe(20 * MB);
    expect(await billed('ALTER TABLE small ADD COLUMN n INT64')).toBe(0);
    expect(bed.emulator.statements.totals()).toMatchObject({
      jobs: 6,
      statements: 8,
      bytesBilled: 50 * MB,
    });
  });

  it('stays within maximumBytesBilled', async () => {
    const refused = bed.query('SELECT id FROM wide', {}, { maximumBytesBilled: String(MB) });
    expect(await refused.catch(refusalOf)).toBe(
      `bytesBilledLimitExceeded: Query exceeded limit for bytes billed: ${MB}. ${10 * MB} or higher required.`,
    );
  });
});
