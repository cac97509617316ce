import type { BigQueryCalls } from '../../src/targets/sql/bigquery/bigquery-calls.ts';
import { BigQueryError } from '../../src/targets/sql/bigquery/bigquery-errors.ts';
import type { BigQueryJobs } from '../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { LEAST_BILLED_BYTES } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import { fingerprintPoint } from './bigquery-row-points.ts';
import { rightPoints } from './bigquery-right-points.ts';
import { MONTHS, mergeInto, ROWS_A_MONTH, rowsOf, within } from './bigquery-sample.ts';
import { type Point, see } from './points.ts';

/** A dataset in which tables are made for the points. */
export interface TriedDataset {
  readonly jobs: BigQueryJobs;
  /** The same, with each mutating request under this one request ID. */
  readonly withId: (id: string) => BigQueryJobs;
  /** For single calls that the program itself does not make. */
  readonly calls: BigQueryCalls;
  /** What the names of all tables begin with. */
  readonly prefix: string;
}

/** Points in the order in which they are tried: later ones use what earlier ones made. */
export function bigQueryPoints(tried: TriedDataset): Point[] {
  return [
    ...queryPoints(tried),
    ...tablePoints(tried),
    ...transactionPoints(tried),
    ...costPoints(tried),
    ...rightPoints(tried),
  ];
}

const MAX_LABEL = 1_024;

function queryPoints({ jobs }: TriedDataset): Point[] {
  return [
    {
      says: 'A query takes texts, lists, times, JSON and NULL as named parameters, and gives them back unchanged.',
      look: async () => {
        const text = 'Ærø "quoted" \'single\' \\ back\nline 👩‍👩‍👧';
        const { rows } = await jobs.run(
          `SELECT @text AS text, @none AS none, ARRAY_LENGTH(@list) AS n, @sent AS sent, JSON_VALUE(@json, '$.a') AS a`,
          {
            text: { type: 'STRING', value: text },
            none: { type: 'STRING', value: null },
            list: { type: 'STRING', value: ['x', 'y'] },
            sent: { type: 'TIMESTAMP', value: '2026-01-02T03:04:05.678901Z' },
            json: { type: 'JSON', value: '{"a":"b"}' },
          },
        );
        const [row] = rows;
        see(row?.['text'] === text, 'The text came back changed.');
        see(
          row?.['none'] === null && row['n'] === '2' && row['a'] === 'b',
          'Others came back changed.',
        );
        see(row?.['sent'] === '2026-01-02T03:04:05.678901Z', 'The time came back otherwise.');
        return undefined;
      },
    },
    {
      says: 'NUMERIC holds 29 digits before and 9 after the point exactly, and SAFE_CAST makes NULL of more.',
      look: async () => {
        const exact = '99999999999999999999999999999.999999999';
        const { rows } = await jobs.run(
          `SELECT CAST(SAFE_CAST(@exact AS NUMERIC) AS STRING) AS exact, CAST(SAFE_CAST(@beyond AS NUMERIC) AS STRING) AS beyond`,
          {
            exact: { type: 'STRING', value: exact },
            beyond: { type: 'STRING', value: '123456789012345678901234567890' },
          },
        );
        see(rows[0]?.['exact'] === exact, 'It is rounded.');
        see(rows[0]?.['beyond'] === null, 'More than that is no NULL.');
        return undefined;
      },
    },
    {
      says: 'PARSE_JSON that rounds takes a fraction that it writes with other digits, as the same number.',
      look: async () => {
        const value = '[0.55587577846274]';
        const { rows } = await jobs.run(
          `SELECT TO_JSON_STRING(PARSE_JSON(@json, wide_number_mode => 'round')) AS json`,
          { json: { type: 'STRING', value } },
        );
        const text = rows[0]?.['json'] ?? 'null';
        see(JSON.stringify(JSON.parse(text)) === value, `It is ${text}.`);
        return undefined;
      },
    },
  ];
}

function tablePoints({ jobs, prefix }: TriedDataset): Point[] {
  const table = `${prefix}rows`;
  const view = `${prefix}view`;
  const text = { type: 'STRING', description: '' } as const;
  return [
    {
      says: 'A table that REST has just made can be written at once, rows in one JSON parameter, and tells how many were inserted.',
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
        const { changedRows } = await jobs.run(mergeInto(table), rowsOf(), { mutates: [table] });
        const wanted = (MONTHS.length + 1) * ROWS_A_MONTH;
        see(changedRows === wanted, `It says ${changedRows} of ${wanted} rows.`);
        return undefined;
      },
    },
    {
      says: 'The same again inserts nothing.',
      look: async () => {
        const { changedRows } = await jobs.run(mergeInto(table), rowsOf(), { mutates: [table] });
        see(changedRows === 0, `It says ${changedRows} rows.`);
        return undefined;
      },
    },
    {
      says: 'What REST says of the number of rows is right just after they came, and free.',
      look: async () => {
        const rows = (await jobs.table(table))?.rows;
        see(rows === (MONTHS.length + 1) * ROWS_A_MONTH, `It says ${rows ?? 'nothing'}.`);
        return undefined;
      },
    },
    {
      says: 'Columns that two processes add at the same time are both there, and the next statement knows them.',
      look: async () => {
        await Promise.all(
          ['one', 'two'].map((name) => jobs.addColumns(table, [{ name, ...text }])),
        );
        const sql = `UPDATE \`${table}\` SET one = 'x', two = 'y' WHERE id = '2026-01 1' AND ${within('2026-01')}`;
        const { changedRows } = await jobs.run(sql, {}, { mutates: [table] });
        see(changedRows === 1, `The update says ${changedRows} rows.`);
        return undefined;
      },
    },
    {
      says: 'What REST says of the last change of a table is another time after an UPDATE that leaves the number of rows.',
      look: async () => {
        const before = (await jobs.table(table))?.changedAt;
        const sql = `UPDATE \`${table}\` SET one = 'z' WHERE id = '2026-01 1' AND ${within('2026-01')}`;
        await jobs.run(sql, {}, { mutates: [table] });
        const after = (await jobs.table(table))?.changedAt;
        see(before !== '' && before !== after, `It says ${after ?? 'nothing'}, as before.`);
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
        return undefined;
      },
    },
    {
      says: 'A script that fails half-way is found with what its first half was billed.',
      look: async () => {
        let billed = -1;
        const sql = `SELECT COUNT(*) FROM \`${table}\`; ASSERT FALSE AS 'half-way';`;
        const onBilled = ({ bytesBilled }: { bytesBilled: number }): number =>
          (billed = bytesBilled);
        const isRefused = await jobs.run(sql, {}, { mutates: [table], onBilled }).then(
          () => false,
          () => true,
        );
        see(isRefused, 'It did not fail.');
        // Where the account may not list jobs, two statements are counted.
        see(billed === LEAST_BILLED_BYTES, `It is ${billed} bytes.`);
        return undefined;
      },
    },
    {
      says: 'A column takes a description of 1,024 characters.',
      look: async () => {
        const label = 'ž'.repeat(MAX_LABEL);
        await jobs.describe(table, 'Described', { answer: label });
        const columns = (await jobs.table(table))?.columns ?? [];
        see(
          columns.some(({ description }) => description === label),
          'It is cut or missing.',
        );
        return undefined;
      },
    },
    {
      says: 'A view that REST makes over JSON can be read, its columns can be described, and it can be rewritten.',
      look: async () => {
        const over = (name: string): string =>
          `SELECT JSON_VALUE('{"a":"b"}', '$.a') AS ${name} FROM \`${jobs.project}.${jobs.dataset}.${table}\` WHERE FALSE`;
        await jobs.saveView(view, over('first'), 'A view', { first: 'Described' });
        await jobs.saveView(view, over('second'), 'A view', { second: 'Anew' });
        const [column] = (await jobs.table(view))?.columns ?? [];
        see(column?.name === 'second', 'It is as it was before.');
        see(column?.description === 'Anew', 'The description is missing.');
        await jobs.run(`SELECT second FROM \`${view}\``);
        return undefined;
      },
    },
    fingerprintPoint({ jobs, prefix }),
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

function transactionPoints({ jobs, withId, prefix }: TriedDataset): Point[] {
  const table = `${prefix}state`;
  const mutates = [table];
  const count = async (): Promise<number> =>
    Number((await jobs.run(`SELECT n FROM \`${table}\``)).rows[0]?.['n']);
  /** How many times what is counted took effect in `work`. */
  const effects = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await count();
    await work();
    return (await count()) - before;
  };
  const add = `UPDATE \`${table}\` SET n = n + 1 WHERE TRUE`;
  return [
    {
      says: 'A script tells what its last SELECT, behind COMMIT, selects, and how many statements it had.',
      look: async () => {
        await jobs.createTable({
          name: table,
          kind: 'table',
          description: '',
          columns: [{ name: 'n', type: 'INT64' }],
        });
        const sql = `BEGIN TRANSACTION; INSERT INTO \`${table}\` (n) VALUES (0); COMMIT TRANSACTION; SELECT 'seen' AS said;`;
        const result = await jobs.run(sql, {}, { mutates });
        see(result.rows[0]?.['said'] === 'seen', 'It tells no such row.');
        see(result.statements >= 2, `It says ${result.statements} statements.`);
        return `It says ${result.statements} statements, ${result.bytesBilled} bytes billed.`;
      },
    },
    {
      says: 'A mutating request that is sent twice with one request ID takes effect once.',
      look: async () => {
        const times = await effects(() => twice(withId('statement'), add, mutates));
        see(times === 1, `It took effect ${times} times.`);
        return undefined;
      },
    },
    {
      says: 'A script with one request ID that is sent twice takes effect once.',
      look: async () => {
        const script = `BEGIN TRANSACTION; ${add}; COMMIT TRANSACTION;`;
        const times = await effects(() => twice(withId('script'), script, mutates));
        see(times === 1, `It took effect ${times} times.`);
        return undefined;
      },
    },
    {
      says: 'An ASSERT that fails takes back what its transaction did before, and its words reach the program.',
      look: async () => {
        const script = `BEGIN TRANSACTION; ${add}; ASSERT @@row_count = 7 AS 'forms_mirror_asserts'; COMMIT TRANSACTION;`;
        const before = await count();
        const error = await failureOf(jobs.run(script, {}, { mutates }));
        see(
          error?.fault === 'refused',
          `It ends otherwise: ${error?.message ?? 'without an error'}`,
        );
        see(error?.says(/forms_mirror_asserts/) === true, 'Its words are not in the message.');
        see((await count()) === before, 'What it did before stays.');
        return undefined;
      },
    },
    {
      says: 'Transactions that change one row at the same time all take effect, once each: who is overtaken is refused as a conflict, and tries again.',
      look: async () => {
        const script = `BEGIN TRANSACTION; ${add}; COMMIT TRANSACTION;`;
        const names = ['a', 'b', 'c', 'd'];
        const all = () => Promise.all(names.map(() => jobs.run(script, {}, { mutates })));
        const times = await effects(all);
        see(times === names.length, `Of ${names.length}, ${times} took effect.`);
        return undefined;
      },
    },
  ];
}

function costPoints({ jobs, calls, prefix }: TriedDataset): Point[] {
  const table = `${prefix}rows`;
  return [
    {
      says: 'A query of a small table is billed 10 MB.',
      look: async () => {
        const sql = `SELECT COUNT(answer) AS n FROM \`${table}\` WHERE CURRENT_TIMESTAMP() > TIMESTAMP '2000-01-01 00:00:00+00'`;
        const { bytesBilled } = await jobs.run(sql);
        see(bytesBilled === LEAST_BILLED_BYTES, `It is billed ${bytesBilled} bytes.`);
        return undefined;
      },
    },
    {
      says: 'A MERGE that names one month in ON reads that month, not the table; so does one that names the rows without a date.',
      look: async () => {
        const bytes = (where: string): Promise<number> =>
          jobs.dryRun(
            `MERGE \`${table}\` AS t USING (SELECT '2026-01 1' AS id) AS s ON t.id = s.id AND ${where}
             WHEN MATCHED THEN UPDATE SET answer = 'y'`,
          );
        const [all, month, dateless] = [
          await bytes('TRUE'),
          await bytes(within('2026-01', 't.')),
          await bytes('t.created_at IS NULL'),
        ];
        see(month < all / 2, `Of ${all} bytes it reads ${month} for one month.`);
        see(
          dateless < all / 2,
          `Of ${all} bytes it reads ${dateless} for the rows without a date.`,
        );
        return `Of ${all} bytes it reads ${month} and ${dateless}.`;
      },
    },
    {
      says: 'A job that would be billed more than it may is refused with bytesBilledLimitExceeded, and not begun.',
      look: async () => {
        const { project, dataset } = jobs;
        const location = (await jobs.heldDataset())?.location ?? undefined;
        const error = await failureOf(
          calls.once((client, options) =>
            client.jobs.query(
              {
                projectId: project,
                requestBody: {
                  query: `SELECT answer FROM \`${project}.${dataset}.${table}\``,
                  useLegacySql: false,
                  useQueryCache: false,
                  maximumBytesBilled: '1',
                  ...(location !== undefined && { location }),
                },
              },
              options,
            ),
          ),
        );
        see(
          error?.fault === 'budget',
          `It ends otherwise: ${error?.message ?? 'without an error'}`,
        );
        see(error?.reason === 'bytesBilledLimitExceeded', `Its reason is ${error?.reason ?? ''}.`);
        return undefined;
      },
    },
  ];
}

async function twice(jobs: BigQueryJobs, sql: string, mutates: readonly string[]): Promise<void> {
  await jobs.run(sql, {}, { mutates });
  await jobs.run(sql, {}, { mutates });
}

/** What BigQuery refused; undefined when it did not. Rejects when it could not be asked. */
async function failureOf(work: Promise<unknown>): Promise<BigQueryError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof BigQueryError && error.code !== 'TARGET_UNREACHABLE') return error;
    throw error;
  }
}
