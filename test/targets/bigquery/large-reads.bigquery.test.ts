import { afterAll, beforeAll, expect, it } from 'vitest';
import { AT_ONCE, CHECKPOINT, field, FORM, pass, row } from '../../contract/target-harness.ts';
import {
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

/** More than one page of IDs, and many of rows. */
const ROWS = 60_000;

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

it('L14: IDs and an export of a large form are one query each, whose pages come as they are asked for', async () => {
  const place = await bigQueryPlace(standIn);
  await using target = await place.open();
  {
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([field('f1', 'Text')]);
    await writer.apply([row('a', { f1: 'x' })], []);
    await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
  }
  await place.query(
    `INSERT INTO ${place.relation('contact_form')} (id, status, created_at, text)
     SELECT CONCAT('b', LPAD(CAST(n AS STRING), 6, '0')), 'NEW', TIMESTAMP '2026-03-01 00:00:00+00', 'y' FROM UNNEST(GENERATE_ARRAY(2, ${ROWS})) AS n`,
  );
  const pages = () => standIn.requests.counts()['jobs.getQueryResults'] ?? 0;
  const asked = () =>
    standIn.statements.all().filter(({ sql }) => /\.contact_form`/.test(sql)).length;

  const reader = await target.reader(FORM.id);
  standIn.statements.clear();
  let ids = 0;
  let largest = 0;
  for await (const chunk of reader?.liveIds() ?? []) {
    ids += new Set(chunk).size;
    largest = Math.max(largest, chunk.length);
  }
  expect([ids, asked()]).toEqual([ROWS, 1]);
  expect(largest).toBeLessThanOrEqual(5_000);

  standIn.statements.clear();
  await using snapshot = await target.snapshot(FORM.id);
  const before = pages();
  let rows = 0;
  for await (const piece of snapshot?.rows({ withDeleted: true }) ?? []) {
    // Of 2,000 rows a page, none is fetched before its rows are asked for.
    expect(pages() - before).toBeLessThanOrEqual(rows / 2_000);
    rows += piece.length;
  }
  expect([rows, asked(), pages() - before]).toEqual([ROWS, 1, ROWS / 2_000 - 1]);
});
