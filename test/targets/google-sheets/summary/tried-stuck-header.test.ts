import { expect, it } from 'vitest';
import { SUBMISSIONS, SummaryPlace } from './summary-place.ts';
import { FORM } from '../../../contract/target-harness.ts';

it('a header row that cannot be moved back costs no write, in several batches either', async () => {
  await using sheet = await SummaryPlace.begin();
  await sheet.pass(SUBMISSIONS);
  sheet.person(FORM.name).protect({ left: 9, right: 10 });
  sheet.person(FORM.name).freezeRows(0);
  sheet.person(FORM.name).sortSheet(0);
  for (let count = 0; count < 2; count++) await sheet.pass(SUBMISSIONS);
  sheet.place.sandbox.requests.clear();
  await sheet.pass(SUBMISSIONS);
  expect(sheet.place.sandbox.requests.counts()).toEqual({ reads: 4, writes: 0 });
});
