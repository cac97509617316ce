import { LEAST_BILLED_BYTES } from '../../src/targets/sql/bigquery/bigquery-spending.ts';
import { counting, within } from './bigquery-sample.ts';
import { type Point, see } from './points.ts';
import { failureOf, type TriedDataset } from './tried-dataset.ts';

/** What is billed, and what is not begun. */
export function costPoints({ jobs, calls, prefix }: TriedDataset): Point[] {
  const table = `${prefix}rows`;
  const state = `${prefix}state`;
  return [
    {
      says: 'A query of two small tables is billed 10 MB for each.',
      look: async () => {
        // Of two, as one is what the program counts where the service does not tell.
        const sql = `SELECT (${counting(table)}), (${counting(`${prefix}answers`, 'a_text')})`;
        const { bytesBilled } = await jobs.run(sql);
        see(bytesBilled === 2 * LEAST_BILLED_BYTES, `It is billed ${bytesBilled} bytes.`);
        return undefined;
      },
    },
    {
      says: 'What a script was billed is what its statements are billed at least: 10 MB for each table that one reads.',
      look: async () => {
        const sql = `${counting(table)}; ${counting(table)};`;
        const { bytesBilled } = await jobs.run(sql);
        const least = 2 * LEAST_BILLED_BYTES;
        see(bytesBilled >= least, `It says ${bytesBilled} bytes of ${least}.`);
        return `It says ${bytesBilled} bytes.`;
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
        see(month > 0 && dateless > 0, `It says ${month} and ${dateless} bytes.`);
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
                  query: `UPDATE \`${project}.${dataset}.${state}\` SET n = -1 WHERE TRUE`,
                  useLegacySql: false,
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
        const { rows } = await jobs.run(`SELECT COUNTIF(n >= 0) AS n FROM \`${state}\``);
        see(rows[0]?.['n'] === '1', 'It took effect all the same.');
        return undefined;
      },
    },
  ];
}
