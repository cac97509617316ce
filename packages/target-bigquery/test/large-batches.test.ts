import { afterAll, expect, it } from 'vitest';
import { clock, formOf, NAME, row } from '../../../test/core/store-fixtures.ts';
import { ask, clientOf, lentEmulator, newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);

const form = formOf('large', [NAME]);
const LENGTH = 2_100_000;
const big = (id: string): ReturnType<typeof row> =>
  row(id, { f_name: `"é\n${'x'.repeat(LENGTH)}` });

it('stores rows that one request has no room for, and leaves no table behind', async () => {
  const { url, dataset } = await newPlace();
  await using store = await storeAt(url, clock);
  await using open = await store.open(form, 'write');
  await open.prepare(form, [NAME]);
  expect(await open.commit({ rows: [big('a'), big('b')] })).toMatchObject({ inserted: 2 });
  expect(await ask(dataset, 'SELECT id, LENGTH(full_name) AS n FROM large ORDER BY id')).toEqual([
    { id: 'a', n: String(LENGTH + 3) },
    { id: 'b', n: String(LENGTH + 3) },
  ]);
  const api = await clientOf(dataset);
  const { tables } = await api.call<{ tables: { tableReference: { tableId: string } }[] }>(
    'GET',
    api.datasetPath('/tables'),
  );
  const names = tables.map(({ tableReference }) => tableReference.tableId);
  expect(names.filter((name) => name.startsWith('_mirror_stage'))).toEqual([]);
});

it('L6: lists a row that no request has room for, and stores the others', async () => {
  const { url } = await newPlace();
  await using store = await storeAt(url, clock);
  await using open = await store.open(form, 'write');
  await open.prepare(form, [NAME]);
  const tooLarge = row('b', { f_name: 'x'.repeat(4_000_000) });
  const rows = [row('a', { f_name: 'x' }), tooLarge, row('c', { f_name: 'y' })];
  expect(await open.commit({ rows })).toMatchObject({ inserted: 2, rejected: 1 });
});

it('L4: sends no change where nothing changed, and reads only the months of the rows', async () => {
  const { url } = await newPlace();
  const emulator = await lentEmulator();
  let billed = 0;
  await using store = await storeAt(url, clock, 'status', (bytes) => (billed += bytes));
  await using open = await store.open(form, 'write');
  await open.prepare(form, [NAME]);
  const rows = [row('a', { f_name: 'x' })];
  await open.commit({ rows });
  await open.finish();
  emulator.statements.clear();
  expect(await open.commit({ rows })).toMatchObject({ unchanged: 1 });
  await open.finish();
  const sent = emulator.statements.all();
  expect(sent.map(({ statementType }) => statementType)).toEqual(sent.map(() => 'SELECT'));
  expect(sent[1]?.sql).toContain(
    "t.created_at >= TIMESTAMP '2026-01-01' AND t.created_at < TIMESTAMP '2026-02-01'",
  );
  // The first look of a process also reads which build wrote the tables.
  await store.states();
  emulator.statements.clear();
  billed = 0;
  await store.states();
  expect(emulator.statements.totals()).toMatchObject({ statements: 1, bytesBilled: 10_485_760 });
  expect(billed).toBe(10_485_760);
});

it('L18: forgets many submissions by as many statements as one', async () => {
  const { url } = await newPlace();
  const { statements } = await lentEmulator();
  await using store = await storeAt(url, clock);
  await using open = await store.open(form, 'write');
  await open.prepare(form, [NAME]);
  const ids = Array.from({ length: 40 }, (_, at) => `id${at}`);
  await open.commit({ rows: ids.map((id) => row(id, { f_name: 'x' })) });
  const sentFor = async (some: string[]): Promise<number> => {
    statements.clear();
    expect(await open.erase({ kind: 'forget', ids: some })).toBe(some.length);
    return statements.totals().statements;
  };
  expect(await sentFor(ids.slice(1))).toBe(await sentFor(ids.slice(0, 1)));
});
