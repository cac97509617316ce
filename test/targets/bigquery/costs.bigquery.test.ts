import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormWriter, Target } from '../../../src/mirror/target.ts';
import type { Row } from '../../../src/mirror/types.ts';
import {
  AT_ONCE,
  CHECKPOINT,
  field,
  fieldList,
  FORM,
  pass,
  row,
} from '../../contract/target-harness.ts';
import {
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

/*
 * What passes cost, by the reckoning of the stand-in: statements, and bytes billed (at least 10 MB for each table that a statement
 * reads or changes). The bounds are what docs/bigquery.md says.
 */

const MB = 1_048_576;
const LONG = { timeout: 600_000 };
const MONTHS = 24;
const QUESTIONS = Array.from({ length: 20 }, (_, at) => field(`f${at}`, `Question ${at}`));
const FIELDS = fieldList(...QUESTIONS);

/** The date of a row: `of` rows are spread evenly over the months, the oldest first. */
function dateOf(nth: number, of: number): string {
  const month = Math.floor((nth * MONTHS) / of);
  return new Date(Date.UTC(2024, month, 1) + (nth % 2_000_000) * 1_000).toISOString();
}

const answered = (nth: number, of: number, change = ''): Row =>
  row(
    `sub_${String(nth).padStart(8, '0')}`,
    Object.fromEntries(
      QUESTIONS.map(({ id }, at) => [
        id,
        at % 5 === 0 ? nth + at : `answer ${at} of ${nth}${change}`,
      ]),
    ),
    { createdAt: dateOf(nth, of) },
  );

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

describe('the costs of a form in BigQuery', () => {
  let place: BigQueryPlace;
  let target: Target;
  beforeEach(async () => {
    place = await bigQueryPlace(standIn);
    target = await place.open();
    return () => target[Symbol.asyncDispose]();
  });

  /** A pass of one form, and what it cost. */
  const costOf = async (
    work: (writer: FormWriter) => Promise<unknown>,
  ): Promise<{ statements: number; megabytes: number; mutating: number }> => {
    standIn.statements.clear();
    {
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare(FIELDS);
      await writer.losses();
      await work(writer);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    }
    const { statements, bytesBilled } = standIn.statements.totals();
    const changes = standIn.statements
      .all()
      .filter(({ statementType }) => /INSERT|UPDATE|DELETE|MERGE/.test(statementType));
    const cost = { statements, megabytes: Math.round(bytesBilled / MB), mutating: changes.length };
    if (process.env['SHOW_COSTS'] !== undefined) process.stderr.write(`${JSON.stringify(cost)}\n`);
    return cost;
  };

  it(
    '100,000 new rows, and a pass that reads them all again and finds nothing changed',
    LONG,
    async () => {
      const rows = 100_000;
      const store = async (writer: FormWriter): Promise<Set<string>> => {
        const outcomes = new Set<string>();
        for (let start = 0; start < rows; start += target.batchRows) {
          const batch = Array.from({ length: Math.min(target.batchRows, rows - start) }, (_, at) =>
            answered(start + at, rows),
          );
          for (const outcome of (await writer.apply(batch, [])).outcomes) outcomes.add(outcome);
        }
        return outcomes;
      };
      const first = await costOf(store);
      expect(first.statements).toBeLessThanOrEqual(142);
      expect(first.megabytes).toBeLessThanOrEqual(1_200);
      let outcomes = new Set<string>();
      const again = await costOf(async (writer) => {
        outcomes = await store(writer);
      });
      expect(outcomes).toEqual(new Set(['unchanged']));
      expect(again.statements).toBeLessThanOrEqual(28);
      expect(again.megabytes).toBeLessThanOrEqual(270);
      // What a pass that compares rows reads besides: each column of answers once.
      let hasEdited: boolean | undefined;
      const looked = await costOf(async (writer) => {
        hasEdited = await writer.distrustEdited?.('all');
      });
      const without = await costOf(async () => {});
      expect(hasEdited).toBe(false);
      expect(looked.statements - without.statements).toBe(1);
      expect(looked.megabytes - without.megabytes).toBeLessThanOrEqual(45);
    },
  );

  it('10 changed rows among 1,000,000 over 24 months', LONG, async () => {
    const rows = 1_000_000;
    await costOf((writer) =>
      writer.apply(
        Array.from({ length: MONTHS }, (_, month) =>
          answered(Math.ceil((month * rows) / MONTHS), rows),
        ),
        [],
      ),
    );
    const columns = (await place.columnsOf?.('contact_form'))?.filter((name) =>
      name.startsWith('question'),
    );
    const values = columns?.map((_, at) =>
      at % 5 === 0 ? `CAST(n + ${at} AS NUMERIC)` : `CONCAT('answer ${at} of ', CAST(n AS STRING))`,
    );
    const table = place.relation('contact_form');
    for (let from = 0; from < rows; from += 100_000) {
      await place.query(
        `INSERT INTO ${table} (id, status, created_at, _first_seen_at, _changed_at, _hash, ${columns?.join(', ')})
         SELECT CONCAT('old_', LPAD(CAST(n AS STRING), 8, '0')), 'NEW',
           TIMESTAMP_ADD(TIMESTAMP '2024-01-01 00:00:00+00', INTERVAL DIV(n * 730 * 86400, ${rows}) SECOND),
           TIMESTAMP '2026-01-01 00:00:00+00', TIMESTAMP '2026-01-01 00:00:00+00', CONCAT('1.', CAST(n AS STRING)), ${values?.join(', ')}
         FROM UNNEST(GENERATE_ARRAY(${from}, ${from + 99_999})) AS n`,
      );
    }
    const changed = Array.from({ length: 10 }, (_, at) =>
      answered(Math.ceil((at * 2 * rows) / MONTHS), rows, ' changed'),
    );
    const cost = await costOf(async (writer) => {
      const { outcomes } = await writer.apply(changed, []);
      expect(outcomes).toEqual(changed.map(() => 'updated'));
    });
    expect(cost.statements).toBeLessThanOrEqual(14);
    expect(cost.megabytes).toBeLessThanOrEqual(290);
  });
});
