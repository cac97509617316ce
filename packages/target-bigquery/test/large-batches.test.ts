import { afterAll, expect, it } from 'vitest';
import type { Cell } from '../../../src/mirror/types.ts';
import { AGE, clock, formOf, NAME, row } from '../../../test/core/store-fixtures.ts';
import { ask, clientOf, lentEmulator, newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);

const form = formOf('large', [NAME]);
const LENGTH = 2_100_000;
const big = (id: string): ReturnType<typeof row> =>
  row(id, { f_name: `"é\n${'x'.repeat(LENGTH)}` });

it('stores rows that are too large for one request, and leaves no table behind', async () => {
  const { url, dataset } = await newPlace();
  await using store = await storeAt(url, clock);
  await using open = await store.open(form);
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

it('L6: lists a row that is too large for any request, and stores the others', async () => {
  const { url } = await newPlace();
  await using store = await storeAt(url, clock);
  await using open = await store.open(form);
  await open.prepare(form, [NAME]);
  const tooLarge = row('b', { f_name: 'x'.repeat(4_000_000) });
  const rows = [row('a', { f_name: 'x' }), tooLarge, row('c', { f_name: 'y' })];
  expect(await open.commit({ rows })).toMatchObject({ inserted: 2, rejected: 1 });
});

it('L4: sends no change if nothing changed, and reads only the months of the rows', async () => {
  const { url } = await newPlace();
  const emulator = await lentEmulator();
  let billed = 0;
  await using store = await storeAt(url, clock, 'status', (bytes) => (billed += bytes));
  await using open = await store.open(form);
  await open.prepare(form, [NAME]);
  const rows = [row('a', { f_name: 'x' })];
  await open.commit({ rows });
  await open.finish();
  emulator.statements.clear();
  expect(await open.commit({ rows })).toMatchObject({ unchanged: 1 });
  await open.finish();
  const sent = emulator.statements.all();
  expect(sent.map(({ statementType }) => statementType)).toEqual(sent.map(() => 'SELECT'));
  expect(sent.at(-1)?.sql).toContain(
    "t.created_at >= TIMESTAMP '2026-01-01' AND t.created_at < TIMESTAMP '2026-02-01'",
  );
  // The first access of a process also reads which build wrote the tables.
  await store.states();
  emulator.statements.clear();
  billed = 0;
  await store.states();
  expect(emulator.statements.totals()).toMatchObject({ statements: 1, bytesBilled: 10_485_760 });
  expect(billed).toBe(10_485_760);
});

it('L18: forgets many submissions with as many statements as one', async () => {
  const { url } = await newPlace();
  const { statements } = await lentEmulator();
  await using store = await storeAt(url, clock);
  await using open = await store.open(form);
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

it('L11: hashes more rows than a request has parameters for', async () => {
  const { url, dataset } = await newPlace();
  await using store = await storeAt(url, clock, 'full');
  const two = formOf('large', [NAME, AGE]);
  await using open = await store.open(two);
  await open.prepare(two, [NAME, AGE]);
  const rows = (answer: string, many: number) =>
    Array.from({ length: many }, (_, at) => row(`id${at}`, { f_name: answer, f_age: at }));
  await open.commit({ rows: rows('plain', 5_001) });
  await open.commit({ rows: rows('other', 3) });
  const hash = (cell: Cell): Cell => `#${JSON.stringify(cell)}`;
  expect(await open.erase({ kind: 'rehash', fieldIds: ['f_name', 'f_age'], hash })).toBe(5_001);
  expect(
    await ask(
      dataset,
      'SELECT full_name, COUNT(*) AS n, COUNT(age) AS plain, COUNT(age_text) AS hashed FROM large GROUP BY 1 ORDER BY 1',
    ),
  ).toEqual([
    { full_name: '#"other"', n: '3', plain: '0', hashed: '3' },
    { full_name: '#"plain"', n: '4998', plain: '0', hashed: '4998' },
  ]);
  const versions = await ask(
    dataset,
    'SELECT answers FROM _mirror_versions ORDER BY until, submission_id',
  );
  expect(versions.slice(0, 3)).toEqual(
    [0, 1, 2].map((at) => ({
      answers: `{"full_name":"#\\"plain\\"","age":null,"age_text":"#${at}"}`,
    })),
  );
  // The erasure ends the version of each row.
  expect(versions).toHaveLength(5_004);
  expect(versions.every(({ answers }) => String(answers).includes('"age":null'))).toBe(true);
});
