import type { BigQueryJobs } from '../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { NotSeen, type Point, see } from './points.ts';
import { failureOf, type TriedDataset } from './tried-dataset.ts';

/** How often transactions are sent that are to meet. */
const ROUNDS = 3;

/** What takes effect, and how often. */
export function transactionPoints({ jobs, withId, prefix, waitedOut }: TriedDataset): Point[] {
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
        for (let round = 0; round < ROUNDS; round++) {
          const times = await effects(all);
          see(times === names.length, `Of ${names.length}, ${times} took effect.`);
          if (waitedOut.some(({ fault }) => fault === 'conflict')) return undefined;
        }
        throw new NotSeen(`All took effect, and none was refused: none met in ${ROUNDS} rounds.`);
      },
    },
  ];
}

async function twice(jobs: BigQueryJobs, sql: string, mutates: readonly string[]): Promise<void> {
  await jobs.run(sql, {}, { mutates });
  await jobs.run(sql, {}, { mutates });
}
