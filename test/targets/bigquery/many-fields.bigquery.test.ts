import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PickedField } from '../../../src/mirror/types.ts';
import { AT_ONCE, CHECKPOINT, field, FORM, pass, row } from '../../contract/target-harness.ts';
import {
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

const FIELDS = 1_500;

let standIn: BigQueryStandIn;
beforeAll(async () => {
  standIn = await startBigQuery();
});
afterAll(() => standIn.close());

const labelled = (bytes: number): PickedField[] =>
  Array.from({ length: FIELDS }, (_, at) => field(`f${at}`, `${at} `.padEnd(bytes, 'x')));

it(
  'L17: 1,500 fields are stored with labels of 1,000 bytes, and with 4,000 it is said what to do',
  { timeout: 400_000 },
  async () => {
    const place = await bigQueryPlace(standIn);
    const store = async (fields: readonly PickedField[]): Promise<void> => {
      await using target = await place.open();
      await using writer = await target.openWriter(FORM, AT_ONCE);
      await writer.prepare(fields);
      await writer.apply([row('a', Object.fromEntries(fields.map(({ id }) => [id, id])))], []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    };
    await expect(store(labelled(4_000))).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      retryable: false,
      message: expect.stringMatching(/more than BigQuery takes.*Pick fewer of its fields/),
    });
    await store(labelled(1_000));
    await using target = await place.open();
    const reader = await target.reader(FORM.id);
    const cells = (await reader?.rows(['a']))?.get('a')?.cells;
    expect(cells?.size).toBe(FIELDS);
    expect([...(cells ?? [])].filter(([id, cell]) => id !== cell)).toEqual([]);
  },
);
