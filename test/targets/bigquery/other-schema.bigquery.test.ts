import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CATALOGUE_VERSION } from '../../../src/targets/sql/bigquery/catalogue-shapes.ts';
import { AT_ONCE, CHECKPOINT, FORM, NAME, pass, row } from '../../contract/target-harness.ts';
import {
  type BigQueryPlace,
  bigQueryPlace,
  type BigQueryStandIn,
  startBigQuery,
} from '../../support/bigquery-place.ts';

describe('a dataset of another schema', () => {
  let standIn: BigQueryStandIn;
  let place: BigQueryPlace;
  beforeAll(async () => {
    standIn = await startBigQuery();
  });
  afterAll(() => standIn.close());
  beforeEach(async () => {
    place = await bigQueryPlace(standIn);
    await using target = await place.open();
    await using writer = await target.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a', { field_1_a: 'Ada' })], []);
    await writer.finish(pass(), { checkpoint: CHECKPOINT });
  });
  afterEach(() => place.dispose());

  const everything = async (): Promise<unknown> => [
    await place.query(`SELECT * FROM ${place.relation('mirror_state')} ORDER BY form_id`),
    await place.query(`SELECT * FROM ${place.relation('contact_form')}`),
    await place.query(`SELECT * FROM ${place.relation('mirror_passes')}`),
  ];

  it.each([CATALOGUE_VERSION + 1, CATALOGUE_VERSION - 1])(
    '%d is refused with what to do, and all is left as it is',
    async (schema) => {
      await place.query(
        `UPDATE ${place.relation('mirror_state')} SET state = '${schema}' WHERE form_id = '#catalogue'`,
      );
      const before = await everything();
      await using target = await place.open('elsewhere');
      const message = expect.stringMatching(
        `the mirror in the dataset .* was written by another build of forms-mirror \\(schema ${schema}, this one needs ${CATALOGUE_VERSION}\\)\\. Nothing in it was changed\\. Delete it, or choose another dataset in the target URL, and run again\\.`,
      ) as string;
      const refusal = { code: 'OTHER_SCHEMA', retryable: false, message };
      for (const id of [FORM.id, 'frm_new'])
        await expect(target.openWriter({ ...FORM, id }, AT_ONCE)).rejects.toMatchObject(refusal);
      await expect(target.overview()).rejects.toMatchObject(refusal);
      await expect(target.heldForms()).rejects.toMatchObject(refusal);
      await expect(target.reader(FORM.id)).rejects.toMatchObject(refusal);
      await expect(target.pauses()).rejects.toMatchObject(refusal);
      const pause = { formId: null, since: '2026-03-02T08:00:00.000Z', by: 'me', reason: null };
      await expect(target.pause(pause)).rejects.toMatchObject(refusal);
      await expect(target.lockMarking(FORM.id)).rejects.toMatchObject(refusal);
      expect(await everything()).toEqual(before);
    },
  );
});
