import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { presentTables } from '../../../src/targets/sql/bigquery/present-tables.ts';
import { Store } from '../../../src/targets/sql/bigquery/store.ts';
import { type BigQueryStandIn, standInJobs, startBigQuery } from '../../support/bigquery-place.ts';

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

it('tables that are there are told of by REST, and very many of them by one statement', async () => {
  const jobs = await standInJobs(standIn.url, 'present');
  const store = new Store(jobs, systemClock, 'Target default');
  await jobs.ensureDataset();
  for (const name of ['one', 'two']) {
    await jobs.createTable({
      name,
      kind: 'table',
      description: '',
      columns: [
        { name: 'id', type: 'STRING' },
        { name: 'n', type: 'INT64' },
      ],
    });
  }
  const names = ['one', 'gone', 'two', 'one'];
  standIn.statements.clear();
  const asked = await presentTables(store, names);
  expect(standIn.statements.totals().statements).toBe(0);
  expect([...asked.keys()].toSorted()).toEqual(['one', 'two']);
  expect(asked.get('one')).toMatchObject({ columns: ['id', 'n'], mark: expect.any(String) });
  const listed = await presentTables(store, names, 2);
  expect(standIn.statements.totals().statements).toBe(1);
  expect([...listed.keys()].toSorted()).toEqual(['one', 'two']);
  expect(listed.get('one')).toEqual({ columns: ['id', 'n'], mark: undefined });
  await jobs.run('UPDATE one SET n = 1 WHERE TRUE', {}, { mutates: ['one'] });
  const after = await presentTables(store, names);
  expect(after.get('one')?.mark).not.toBe(asked.get('one')?.mark);
  expect(after.get('two')).toEqual(asked.get('two'));
});
