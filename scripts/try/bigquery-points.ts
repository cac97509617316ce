import { randomUUID } from 'node:crypto';
import type { BigQueryApi } from '../../packages/target-bigquery/src/api.ts';
import { BigQueryError } from '../../packages/target-bigquery/src/errors.ts';
import { Leases } from '../../packages/target-bigquery/src/lease.ts';
import type { Change, Store } from '../../src/mirror/port.ts';
import type { Cell, Row } from '../../src/mirror/types.ts';
import { type Point, see } from './points.ts';

const FORM = { id: 'form_try', slug: 'try', name: 'Try', fields: [{ id: 'f', label: 'Answer' }] };
const FIELDS = [{ id: 'f', label: 'Answer', position: 0, inSchema: true, hashed: false }];

const rowOf = (id: string, answer: Cell, month: number): Row => ({
  id,
  status: 'NEW',
  createdAt: new Date(Date.UTC(2026, month, 5)).toISOString(),
  cells: new Map([['f', answer]]),
});
const ROWS = [
  rowOf('a', 'Zoë 😀 007', 0),
  rowOf('b', '=1+1\nline', 1),
  rowOf('c', 'x'.repeat(100_000), 2),
];

/** The assumptions of the target, in the order in which they are checked. The first point creates the dataset. */
export function bigQueryPoints(api: BigQueryApi, open: () => Promise<Store>): Point[] {
  const ask = async (sql: string): Promise<Readonly<Record<string, unknown>>[]> => {
    const found: Readonly<Record<string, unknown>>[] = [];
    for await (const { rows } of api.pages(sql, [])) found.push(...rows);
    return found;
  };
  const count = async (table: string): Promise<number> =>
    Number((await ask(`SELECT count(*) AS n FROM ${table}`))[0]?.['n']);
  const commit = async (change: Change) => {
    await using store = await open();
    await using form = await store.open(FORM);
    await form.prepare(FORM, FIELDS);
    const done = await form.commit(change);
    await form.finish();
    return done;
  };
  const bytesOf = async (sql: string): Promise<number> => {
    const path = `/bigquery/v2/projects/${api.options.project}/queries`;
    const { totalBytesProcessed } = await api.call<{ totalBytesProcessed?: string }>('POST', path, {
      body: { ...api.queryBody(sql), dryRun: true },
    });
    return Number(totalBytesProcessed);
  };
  return [
    {
      says: 'The account may make a dataset, tables and views, and store rows with their answers unchanged.',
      async look() {
        const { inserted } = await commit({ rows: ROWS });
        see(inserted === ROWS.length, `${inserted} rows were inserted`);
        await using store = await open();
        await using form = await store.read(FORM.id);
        let same = 0;
        for await (const rows of form?.rows({}, true) ?? [])
          for (const { id, cells } of rows)
            if (cells.get('f') === ROWS.find((row) => row.id === id)?.cells.get('f')) same++;
        see(same === ROWS.length, `${same} of ${ROWS.length} came back as they were`);
        return undefined;
      },
    },
    {
      says: 'Equal rows are not touched, and a changed row is updated by a MERGE with months as literals.',
      async look() {
        const { unchanged } = await commit({ rows: ROWS });
        see(unchanged === ROWS.length, `${unchanged} were unchanged`);
        const { updated } = await commit({ rows: [rowOf('a', 'changed', 0)] });
        see(updated === 1, `${updated} were updated`);
        return undefined;
      },
    },
    {
      says: 'check finds what it needs.',
      async look() {
        await using store = await open();
        return (await store.check()).map(({ what }) => what).join('; ');
      },
    },
    {
      says: 'A script that ends with a query in an open transaction returns its rows, and changes nothing.',
      async look() {
        const before = await count('_mirror_records');
        const [row] = await ask(
          `BEGIN TRANSACTION; INSERT INTO _mirror_records (name, revision, value) VALUES ('try', 1, '1'); SELECT count(*) AS n FROM _mirror_records;`,
        );
        see(
          Number(row?.['n']) === before + 1,
          `the query returned ${String(row?.['n'])} after ${before}`,
        );
        const after = await count('_mirror_records');
        see(after === before, `${after} rows afterwards, ${before} before`);
        return undefined;
      },
    },
    {
      says: 'ASSERT @@row_count ends a script, undoes its transaction, and its text is in the error.',
      async look() {
        const script = `BEGIN TRANSACTION; INSERT INTO _mirror_records (name, revision, value) VALUES ('try', 1, '1');
UPDATE _mirror_records SET revision = 2 WHERE name = 'nobody'; ASSERT @@row_count = 1 AS 'statement 7'; COMMIT TRANSACTION;`;
        const before = await count('_mirror_records');
        const error = await ask(script).then(
          () => undefined,
          (failure: unknown) => failure,
        );
        const isRead = error instanceof BigQueryError && error.found(/\bstatement (\d+)\b/) === '7';
        see(isRead, 'the error does not name the statement');
        see((await count('_mirror_records')) === before, 'the transaction was not undone');
        return undefined;
      },
    },
    {
      says: 'A label is changed only if nobody else changed the table since it was read.',
      async look() {
        const [first, second] = [new Leases(api), new Leases(api)];
        const both = await Promise.all([first.take('try'), second.take('try')]);
        const held = both.filter((give) => give !== null);
        see(held.length === 1, `${held.length} of two took a lease at once`);
        await held[0]?.();
        const again = await second.take('try');
        see(again !== null, 'a lease that was given back cannot be taken');
        await again?.();
        return undefined;
      },
    },
    {
      says: 'A query with months as literals reads only these months.',
      async look() {
        const [all, one] = [
          await bytesOf('SELECT * FROM try'),
          await bytesOf(
            `SELECT * FROM try AS t WHERE (t.created_at >= TIMESTAMP '2026-01-01' AND t.created_at < TIMESTAMP '2026-02-01')`,
          ),
        ];
        see(one < all, `${one} bytes instead of ${all}`);
        return `${one} bytes instead of ${all}`;
      },
    },
    {
      says: 'A request that is sent twice under one ID runs once.',
      async look() {
        const before = await count('_mirror_records');
        const body = {
          ...api.queryBody(
            `INSERT INTO _mirror_records (name, revision, value) VALUES ('twice', 1, '1')`,
          ),
          requestId: randomUUID(),
        };
        for (let sent = 0; sent < 2; sent++)
          await api.call('POST', `/bigquery/v2/projects/${api.options.project}/queries`, { body });
        const after = await count('_mirror_records');
        see(after === before + 1, `${after - before} rows were inserted`);
        return undefined;
      },
    },
    {
      says: 'An export sees one instant.',
      async look() {
        await using store = await open();
        const snapshot = await store.snapshot(FORM.id);
        await commit({ rows: [rowOf('d', 'later', 3)] });
        let rows = 0;
        for await (const page of snapshot?.rows({ withDeleted: false }) ?? []) rows += page.length;
        await snapshot?.[Symbol.asyncDispose]();
        see(rows === ROWS.length, `${rows} rows instead of ${ROWS.length}`);
        return undefined;
      },
    },
    {
      says: 'All views can be read.',
      async look() {
        for (const view of [
          'try_live',
          'try_labelled',
          'try_history',
          'submissions',
          'answers',
          'freshness',
        ])
          await ask(`SELECT * FROM ${view}`);
        for (const view of [
          'forms',
          'fields',
          'label_history',
          'status_history',
          'runs',
          'rejected',
        ])
          await ask(`SELECT * FROM mirror_${view}`);
        return undefined;
      },
    },
  ];
}
