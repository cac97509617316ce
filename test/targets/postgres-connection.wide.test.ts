import { beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import {
  DEFAULT_TIMEOUTS,
  PostgresConnection,
} from '../../src/targets/sql/postgres/postgres-connection.ts';
import { postgresDriver } from '../../src/targets/sql/postgres/postgres-driver.ts';
import { run } from '../../src/targets/sql/sql-session.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresMissing } from '../support/servers.ts';

describe.skipIf(postgresMissing())('statements sent to PostgreSQL without waiting', () => {
  let server: { url: string };
  let connection: PostgresConnection;
  beforeAll(async () => {
    server = await lentPostgres();
  });
  beforeEach(async () => {
    connection = await PostgresConnection.open(
      postgresDriver(server.url).client(),
      DEFAULT_TIMEOUTS,
    );
    await connection.exec('CREATE TEMPORARY TABLE sent (n int PRIMARY KEY)');
  });
  afterEach(() => connection.close());
  const held = async () =>
    (await connection.query('SELECT n FROM sent ORDER BY n')).map(({ n }) => Number(n));
  const insert = (n: number): [string, number[]] => ['INSERT INTO sent VALUES ($1)', [n]];
  const TAKEN = { code: '23505' };

  it('are done for those behind them, and committed with them', async () => {
    await connection.transaction(async (tx) => {
      await run(tx, ...insert(1));
      await run(tx, ...insert(2));
      expect(await tx.query('SELECT count(*) AS n FROM sent')).toEqual([{ n: '2' }]);
      await run(tx, ...insert(3));
    });
    expect(await held()).toEqual([1, 2, 3]);
  });

  it('fail what is waited for behind them with their own error, and nothing of the transaction stays', async () => {
    await connection.query(...insert(1));
    const failing = connection.transaction(async (tx) => {
      await run(tx, ...insert(2));
      await run(tx, ...insert(1));
      await run(tx, ...insert(3));
      await expect(tx.query('SELECT n FROM sent')).rejects.toMatchObject(TAKEN);
      await expect(tx.exec('SELECT 1')).rejects.toMatchObject(TAKEN);
      await tx.copy?.('COPY sent FROM STDIN', ['4\n']);
    });
    await expect(failing).rejects.toMatchObject(TAKEN);
    expect(await held()).toEqual([1]);
  });

  it('fail the commit where nothing behind them is waited for', async () => {
    await connection.query(...insert(1));
    const failing = connection.transaction(async (tx) => {
      await run(tx, ...insert(2));
      await run(tx, ...insert(1));
    });
    await expect(failing).rejects.toMatchObject(TAKEN);
    expect(await held()).toEqual([1]);
    await connection.transaction((tx) => run(tx, ...insert(2)));
    expect(await held()).toEqual([1, 2]);
  });

  it('are not missing from what is committed, though a savepoint made the transaction whole again', async () => {
    await connection.query(...insert(1));
    const failing = connection.transaction(async (tx) => {
      await run(tx, ...insert(2));
      await run(tx, 'SAVEPOINT one');
      await run(tx, ...insert(1));
      await tx.exec('ROLLBACK TO SAVEPOINT one').catch(() => {});
    });
    await expect(failing).rejects.toMatchObject(TAKEN);
    expect(await held()).toEqual([1]);
  });

  it('have their time each, and the commit its own', async () => {
    const timeouts = { ...DEFAULT_TIMEOUTS, answerMs: 1_000 };
    const hasty = await PostgresConnection.open(postgresDriver(server.url).client(), timeouts);
    await hasty.transaction(async (tx) => {
      for (let n = 0; n < 3; n++) await run(tx, 'SELECT pg_sleep(0.6)');
    });
    await expect(hasty.query('SELECT pg_sleep(30)')).rejects.toThrow('Query read timeout');
    await hasty.close();
  });

  it('take no part in a COPY that is under way, nor does what is asked beside it', async () => {
    await connection.transaction(async (tx) => {
      await run(tx, ...insert(1));
      const copied = tx.copy!('COPY sent FROM STDIN', ['2\n', '3\n']);
      await run(tx, ...insert(4));
      const seen = tx.query('SELECT count(*) AS n FROM sent');
      expect([await copied, await seen]).toEqual([2, [{ n: '4' }]]);
    });
    expect(await held()).toEqual([1, 2, 3, 4]);
  });

  it('go on behind a COPY that the server refuses', async () => {
    await connection.transaction(async (tx) => {
      await run(tx, 'SAVEPOINT one');
      const copied = tx.copy!('COPY sent FROM STDIN', ['1\n', 'x\n']);
      const back = copied.catch(() => tx.exec('ROLLBACK TO SAVEPOINT one'));
      await expect(copied).rejects.toMatchObject({ code: '22P02' });
      await back;
      await run(tx, ...insert(5));
    });
    expect(await held()).toEqual([5]);
  });
});
