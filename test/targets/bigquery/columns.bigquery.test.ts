import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestClock } from '../../support/test-clock.ts';
import type { Row } from '../../../src/mirror/types.ts';
import { AT_ONCE, CHECKPOINT, field, FORM, pass, row } from '../../contract/target-harness.ts';
import {
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

const FIELDS = [field('f1', 'Text'), field('f2', 'Number')];
const [FIRST, SECOND, THIRD] = [
  '2026-03-05T10:00:00.000Z',
  '2026-03-06T10:00:00.000Z',
  '2026-03-07T10:00:00.000Z',
];

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

describe('columns that people changed in BigQuery', () => {
  let place: BigQueryPlace;
  let table: string;
  beforeEach(async () => {
    place = await bigQueryPlace(standIn);
    table = place.relation('contact_form');
    await store(FIRST, [row('a', { f1: 'x', f2: 1 }), row('b', { f1: 'y', f2: 2 })]);
    await store(SECOND, [row('b', { f1: 'z', f2: 2 })]);
  });

  /** A full pass at this time. */
  async function store(at: string, rows: readonly Row[]): Promise<void> {
    await using target = await place.open('default', new TestClock(Date.parse(at)));
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare(FIELDS);
    await writer.losses();
    await writer.apply(rows, []);
    await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
  }

  const both = [row('a', { f1: 'x', f2: 1 }), row('b', { f1: 'z', f2: 2 })];
  const times = () =>
    place.query(`SELECT id, _first_seen_at, _changed_at FROM ${table} ORDER BY id`);
  const drop = (column: string) => place.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);

  it.each([
    ['_first_seen_at', [FIRST, SECOND], [FIRST, SECOND]],
    ['_changed_at', [FIRST, FIRST], [THIRD, THIRD]],
  ])(
    '%s, dropped: has the earliest time that is still known to be true',
    async (column, first, changed) => {
      await drop(column);
      await store(THIRD, both);
      expect(await times()).toEqual(
        ['a', 'b'].map((id, at) => ({ id, _first_seen_at: first[at], _changed_at: changed[at] })),
      );
    },
  );

  it('L5: has it though the pass that made it again died on the way', async () => {
    await drop('_first_seen_at');
    standIn.faults.add({ query: /SET _first_seen_at/, times: 1, status: 400, body: '{}' });
    await expect(store(THIRD, both)).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    standIn.faults.clear();
    await store(THIRD, both);
    expect(await times()).toMatchObject([{ _first_seen_at: FIRST }, { _first_seen_at: SECOND }]);
  });

  it('L17: a table that asks for months: what to do is said, and done it goes on', async () => {
    const askForMonths = (what: string) =>
      place.query(`ALTER TABLE ${table} SET OPTIONS (require_partition_filter = ${what})`);
    await askForMonths('TRUE');
    await expect(store(THIRD, both)).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringMatching(/SET OPTIONS \(require_partition_filter = FALSE\)/),
    });
    await askForMonths('FALSE');
    await store(THIRD, both);
  });

  it('L17: of another type: nothing is stored, and it is said what to do', async () => {
    await drop('number');
    await place.query(`ALTER TABLE ${table} ADD COLUMN number STRING`);
    const before = await place.query(`SELECT * FROM ${table} ORDER BY id`);
    await expect(store(THIRD, both)).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      retryable: false,
      message: expect.stringMatching(
        /the type of a mirrored column in \w+\.contact_form was changed \(number is STRING and has to be NUMERIC\).* give the column another name/,
      ),
    });
    expect(await place.query(`SELECT * FROM ${table} ORDER BY id`)).toEqual(before);
    await place.query(`ALTER TABLE ${table} RENAME COLUMN number TO theirs`);
    await store(THIRD, both);
    const numbers = await place.query(`SELECT number FROM ${table} ORDER BY id`);
    expect(numbers).toEqual([{ number: '1' }, { number: '2' }]);
  });
});
