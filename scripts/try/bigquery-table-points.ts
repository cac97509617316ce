import { BigQueryError } from '../../src/targets/sql/bigquery/bigquery-errors.ts';
import { LEAST_BILLED_BYTES } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import { restField } from '../../src/targets/sql/bigquery/rest-table.ts';
import { counting, MONTHS, mergeInto, ROWS_A_MONTH, rowsOf, within } from './bigquery-sample.ts';
import { type Point, Refuted, see } from './points.ts';
import { failureOf, type TriedDataset } from './tried-dataset.ts';

/** The longest one. */
const LABEL = 'ž'.repeat(1_024);

/** Tables and views: by REST, and as statements find them. */
export function tablePoints({ jobs, calls, prefix, waitedOut }: TriedDataset): Point[] {
  const table = `${prefix}rows`;
  const view = `${prefix}view`;
  const text = { type: 'STRING', description: '' } as const;
  return [
    {
      says: 'A table that REST has just made can be written within two minutes, rows in one JSON parameter, and a MERGE tells how many were inserted.',
      look: async () => {
        await jobs.createTable({
          name: table,
          kind: 'table',
          description: 'For trying things out; to be removed.',
          columns: [
            { name: 'id', ...text },
            { name: 'created_at', type: 'TIMESTAMP' },
            { name: 'answer', ...text },
          ],
          partitionedBy: 'created_at',
          clusteredBy: ['id'],
        });
        const merging = jobs.run(mergeInto(table), rowsOf(), { mutates: [table] });
        const { changedRows } = await merging.catch((error: unknown) => {
          const isAbsent = error instanceof BigQueryError && error.fault === 'absent';
          throw isAbsent ? new Refuted(`It is still not there: ${error.message}`) : error;
        });
        const wanted = (MONTHS.length + 1) * ROWS_A_MONTH;
        see(changedRows === wanted, `It says ${changedRows} of ${wanted} rows.`);
        return undefined;
      },
    },
    {
      says: 'What REST says of the number of rows is right just after they came.',
      look: async () => {
        const rows = (await jobs.table(table))?.rows;
        see(rows === (MONTHS.length + 1) * ROWS_A_MONTH, `It says ${rows ?? 'nothing'}.`);
        return undefined;
      },
    },
    {
      says: 'The same again inserts nothing.',
      look: async () => {
        const { changedRows } = await jobs.run(mergeInto(table), rowsOf(), { mutates: [table] });
        see(changedRows === 0, `It says ${changedRows} rows.`);
        const { rows } = await jobs.run(counting(table));
        const wanted = String((MONTHS.length + 1) * ROWS_A_MONTH);
        see(rows[0]?.['n'] === wanted, `There are ${rows[0]?.['n'] ?? 'no'} rows of ${wanted}.`);
        return undefined;
      },
    },
    {
      says: 'Columns that two processes add at the same time are both there, and the next statement knows them.',
      look: async () => {
        const ids = { projectId: jobs.project, datasetId: jobs.dataset, tableId: table };
        const { etag, schema } = await calls.repeated((client, options) =>
          client.tables.get(ids, options),
        );
        see(typeof etag === 'string' && etag !== '', 'The service tells no etag.');
        await jobs.addColumns(table, [{ name: 'one', ...text }]);
        // As who has read the table before the other one changed it.
        const fields = [...(schema?.fields ?? []), restField({ name: 'two', ...text })];
        const headers = { 'If-Match': etag ?? '' };
        const overtaken = await failureOf(
          calls.once((client, options) =>
            client.tables.patch(
              { ...ids, requestBody: { schema: { fields } } },
              { ...options, headers },
            ),
          ),
        );
        see(
          overtaken?.fault === 'changed',
          `Who was overtaken is not told so (If-Match): ${overtaken?.message ?? 'the change is taken'}`,
        );
        await Promise.all(
          ['two', 'three'].map((name) => jobs.addColumns(table, [{ name, ...text }])),
        );
        const names = (await jobs.table(table))?.columns.map(({ name }) => name) ?? [];
        see(
          ['one', 'two', 'three'].every((name) => names.includes(name)),
          `It has the columns ${names.join(', ')}.`,
        );
        const sql = `UPDATE \`${table}\` SET one = 'x', two = 'y', three = 'z' WHERE id = '2026-01 1' AND ${within('2026-01')}`;
        const { changedRows } = await jobs.run(sql, {}, { mutates: [table] });
        see(changedRows === 1, `The update says ${changedRows} rows.`);
        return undefined;
      },
    },
    {
      says: 'What REST says of the last change of a table is another time after an UPDATE that leaves the number of rows.',
      look: async () => {
        const before = (await jobs.table(table))?.changedAt;
        const sql = `UPDATE \`${table}\` SET answer = 'z' WHERE id = '2026-01 1' AND ${within('2026-01')}`;
        const { changedRows } = await jobs.run(sql, {}, { mutates: [table] });
        see(changedRows === 1, `The update says ${changedRows} rows.`);
        const after = (await jobs.table(table))?.changedAt;
        see(Boolean(before) && Boolean(after), 'It says nothing.');
        see(before !== after, `It says ${after}, as before.`);
        return undefined;
      },
    },
    {
      says: 'The text of a view that REST changes is at once what REST tells.',
      look: async () => {
        const view = `${prefix}record`;
        for (const text of ['SELECT "one" AS record', 'SELECT "two" AS record']) {
          await jobs.changeView(view, 'Changes often', () => text);
          const told = (await jobs.table(view))?.sql;
          see(told === text, `It says ${told ?? 'nothing'}.`);
        }
        see(!waitedOut.some(({ fault }) => fault === 'absent'), 'It was not there at once.');
        return undefined;
      },
    },
    {
      says: 'A script that fails half-way is found with what its first half was billed.',
      look: async () => {
        let billed = -1;
        const sql = `${counting(table)}; ASSERT FALSE AS 'half-way';`;
        const onBilled = ({ bytesBilled }: { bytesBilled: number }): number =>
          (billed = bytesBilled);
        const error = await failureOf(jobs.run(sql, {}, { mutates: [table], onBilled }));
        see(
          error?.says(/half-way/) === true,
          `It ends otherwise: ${error?.message ?? 'without an error'}`,
        );
        // Where the account may not list jobs, two statements are counted.
        see(billed === LEAST_BILLED_BYTES, `It is ${billed} bytes.`);
        return undefined;
      },
    },
    {
      says: 'A column takes a description of 1,024 characters.',
      look: async () => {
        await jobs.describe(table, 'Described', { answer: LABEL });
        const columns = (await jobs.table(table))?.columns ?? [];
        see(
          columns.some(({ description }) => description === LABEL),
          'It is cut or missing.',
        );
        return undefined;
      },
    },
    {
      says: 'A view that REST makes over JSON can be read, its columns can be described, and it can be rewritten.',
      look: async () => {
        const over = (name: string): string =>
          `SELECT JSON_VALUE('{"a":"b"}', '$.a') AS ${name} FROM \`${jobs.project}.${jobs.dataset}.${table}\` LIMIT 1`;
        await jobs.saveView(view, over('first'), 'A view', { first: 'Described' });
        await jobs.saveView(view, over('second'), 'A view', { second: LABEL });
        const [column] = (await jobs.table(view))?.columns ?? [];
        see(column?.name === 'second', 'It is as it was before.');
        see(column?.description === LABEL, 'The description is cut or missing.');
        const { rows } = await jobs.run(`SELECT second FROM \`${view}\``);
        see(rows[0]?.['second'] === 'b', 'It tells something else.');
        return undefined;
      },
    },
    {
      says: 'A parameter of 4 MB is taken.',
      look: async () => {
        const value = JSON.stringify(['x'.repeat(4 * 1_048_576)]);
        const { rows } = await jobs.run(
          `SELECT LENGTH(JSON_VALUE(one)) AS n FROM UNNEST(JSON_QUERY_ARRAY(@rows)) AS one`,
          { rows: { type: 'STRING', value } },
        );
        see(rows[0]?.['n'] === String(4 * 1_048_576), 'It came shortened.');
        return undefined;
      },
    },
  ];
}
