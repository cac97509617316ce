import { expect, it } from 'vitest';
import { FORM } from '../../../contract/target-harness.ts';
import { SUBMISSIONS, SummaryPlace } from './summary-place.ts';

it('a question whose header is merged with another one is not called 0', async () => {
  await using sheet = await SummaryPlace.begin();
  await sheet.pass(SUBMISSIONS);
  const left = sheet.column('Colour');
  sheet.person(FORM.name).merge({ top: 0, bottom: 1, left: left - 1, right: left + 1 });
  const labels = sheet.form().counts.map(([label]) => label);
  expect(labels).not.toContain('0');
  expect(labels).toContain('(no header)');
  expect(sheet.count('red')).toBe('10');
});
