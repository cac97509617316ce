import { afterAll, expect, it } from 'vitest';
import { type Bed, describeSqlStore } from '../../../test/core/sql-store-cases.ts';
import { AGE, NAME, row } from '../../../test/core/store-fixtures.ts';
import { ask, newPlace, stopEmulator } from './place.ts';

afterAll(stopEmulator);

describeSqlStore(
  { name: 'BigQuery', kind: 'service' },
  async () => {
    const { url, dataset } = await newPlace();
    return {
      url,
      query: (sql) => ask(dataset, sql),
      labelOf: (label) => label.replace('ä', 'a'),
      [Symbol.asyncDispose]: async () => {},
    };
  },
  special,
);

function special({ query, write }: Bed): void {
  it('gives columns of views names that BigQuery accepts', async () => {
    const rows = [row('a', { f_name: 'x', f_age: 'old' })];
    const { notes } = await write('named', (form) => form.commit({ rows }), [
      { ...NAME, label: 'Näme (of all)?' },
      { ...AGE, label: 'Näme: of all' },
    ]);
    expect(notes).toEqual([]);
    expect(await query('SELECT Name_of_all, Name_of_all_2 FROM named_labelled')).toEqual([
      { Name_of_all: 'x', Name_of_all_2: 'old' },
    ]);
  });

  it('counts the rows of statuses with any name', async () => {
    const rows = ['NEW', 'a":5,"b', 'c\\'].map((status, at) => row(`r${at}`, {}, status));
    await write('counted', (form) => form.commit({ rows }));
    expect(await query("SELECT `rows` FROM freshness WHERE form = 'counted'")).toEqual([
      { rows: '3' },
    ]);
  });
}
