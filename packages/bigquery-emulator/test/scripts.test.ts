import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusalOf, startBed, type Bed } from './support/bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.emulator.close());
beforeEach(async () => {
  await bed.query('CREATE OR REPLACE TABLE state (form STRING, epoch INT64)');
  await bed.query('CREATE OR REPLACE TABLE notes (text STRING)');
  await bed.query("INSERT INTO state VALUES ('contact', 1)");
});

const epoch = async (): Promise<unknown> =>
  (await bed.query('SELECT epoch FROM state')).rows[0]?.[0];

describe('scripts', () => {
  it('that commit while another begins leave that one no older snapshot for a write', async () => {
    await bed.query('CREATE OR REPLACE TABLE numbers (who INT64, n INT64)');
    await bed.query('INSERT INTO numbers (who, n) SELECT who, 0 FROM UNNEST([0, 1, 2, 3]) AS who');
    const next = async (who: number): Promise<boolean> => {
      const said = await bed.refusal(
        `BEGIN TRANSACTION;
         UPDATE numbers SET n = (SELECT MAX(n) FROM numbers) + 1 WHERE who = ${who};
         COMMIT TRANSACTION;`,
      );
      return said === 'nothing: it was taken';
    };
    const counts = async (who: number): Promise<number> => {
      let taken = 0;
      for (let tries = 0; tries < 25; tries++) if (await next(who)) taken += 1;
      return taken;
    };
    const taken = await Promise.all([0, 1, 2, 3].map(counts));
    const [row] = (await bed.query('SELECT MAX(n) FROM numbers')).rows;
    expect(row?.[0]).toBe(String(taken.reduce((sum, one) => sum + one, 0)));
  });

  it.each(['DECLARE x INT64', 'SET x = 1', 'BEGIN SELECT 1; END', 'IF TRUE THEN SELECT 1; END IF'])(
    'with more than statements are refused: %s',
    async (sql) => {
      expect(await bed.refusal(`${sql}; SELECT 1`)).toContain(
        'bigquery-emulator does not do the script statement',
      );
    },
  );
});

describe('transactions', () => {
  it('roll back completely if a statement fails, or if the script ends without a COMMIT', async () => {
    const assertion =
      "BEGIN TRANSACTION; UPDATE state SET epoch = 9 WHERE TRUE; ASSERT @@row_count = 2 AS 'lost the lock'; COMMIT TRANSACTION";
    expect(await bed.refusal(assertion)).toBe(
      'invalidQuery: Query error: Assertion failed: lost the lock',
    );
    await bed.query('BEGIN TRANSACTION; UPDATE state SET epoch = 9 WHERE TRUE;');
    await bed.query(
      'BEGIN TRANSACTION; UPDATE state SET epoch = 9 WHERE TRUE; ROLLBACK TRANSACTION',
    );
    expect(
      await bed.refusal(
        "BEGIN TRANSACTION; UPDATE state SET epoch = CAST('x' AS INT64) WHERE TRUE; COMMIT TRANSACTION",
      ),
    ).toContain('Bad int64 value: x');
    expect(await epoch()).toBe('1');
  });

  it('change no permanent tables, and are not nested', async () => {
    expect(
      await bed.refusal('BEGIN TRANSACTION; CREATE TABLE more (a INT64); COMMIT TRANSACTION'),
    ).toContain('not supported within a transaction');
    expect(await bed.refusal('BEGIN TRANSACTION; BEGIN TRANSACTION')).toContain('nested');
    expect(await bed.refusal('SELECT 1; COMMIT TRANSACTION')).toContain('no transaction');
  });

  it('of a session see their own snapshot; of two that change a table the later one is aborted', async () => {
    const [one, two] = [await openSession(), await openSession()];
    await one('BEGIN TRANSACTION');
    await two('BEGIN TRANSACTION');
    await one("UPDATE state SET epoch = 5 WHERE form = 'contact'");
    expect((await two('SELECT epoch FROM state')).rows).toEqual([['1']]);
    const said = await two('UPDATE state SET epoch = 6 WHERE FALSE').catch(refusalOf);
    expect(said).toMatch(
      /^invalidQuery: Transaction is aborted due to concurrent update against table emulated:mirror\.state\. Transaction ID: [\w-]+$/,
    );
    await two('ROLLBACK TRANSACTION');
    await one('COMMIT TRANSACTION');
    expect(await epoch()).toBe('5');
  });

  it('that began before another committed to the same table are aborted, too', async () => {
    const one = await openSession();
    await one('BEGIN TRANSACTION');
    await bed.query('UPDATE state SET epoch = 3 WHERE TRUE');
    const said = await one('DELETE FROM state WHERE TRUE').catch(refusalOf);
    expect(said).toContain('Transaction is aborted due to concurrent update');
    await one('ROLLBACK TRANSACTION');
    expect(await epoch()).toBe('3');
  });

  it('do not affect inserts of others', async () => {
    const one = await openSession();
    await one('BEGIN TRANSACTION');
    await one("INSERT INTO notes VALUES ('mine')");
    await bed.query("INSERT INTO notes VALUES ('theirs')");
    await one('COMMIT TRANSACTION');
    expect((await bed.query('SELECT text FROM notes ORDER BY 1')).rows).toEqual([
      ['mine'],
      ['theirs'],
    ]);
  });

  it('delay statements of others until they end', async () => {
    const one = await openSession();
    await one('BEGIN TRANSACTION');
    await one('UPDATE state SET epoch = 7 WHERE TRUE');
    const waiting = bed.query('UPDATE state SET epoch = epoch + 10 WHERE TRUE');
    await one('ROLLBACK TRANSACTION');
    await waiting;
    expect(await epoch()).toBe('11');
  });
});

async function openSession(): Promise<(sql: string) => ReturnType<Bed['query']>> {
  const { data } = await bed.query('SELECT 1', {}, { createSession: true });
  const value = data.sessionInfo?.sessionId ?? '';
  return (sql) => bed.query(sql, {}, { connectionProperties: [{ key: 'session_id', value }] });
}
