import { expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

it('a pass is recorded where people protect the Mirror tab', async () => {
  await using mirror = await SheetMirror.begin(8);
  await mirror.pass('full');
  const { sandbox, spreadsheetId } = mirror.place;
  sandbox.people.at(spreadsheetId, 'Mirror').protect({ top: 0, bottom: 2 });
  mirror.submit(8);
  expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
  mirror.target = await mirror.place.openElsewhere();
  const before = await mirror.overview();
  expect(before?.lastPass).toMatchObject({ inserted: 1 });
  expect(before?.checkpoint?.total).toBe(9);
  sandbox.requests.clear();
  expect(await mirror.pass()).toMatchObject({ outcome: 'ok' });
  const { reads, writes } = sandbox.requests.counts();
  expect([reads <= 2, writes]).toEqual([true, 0]);
  for (let minute = 0; minute < 12; minute++) await mirror.pass();
  mirror.target = await mirror.place.openElsewhere();
  const after = await mirror.overview();
  expect(Date.parse(after?.lastPass?.endedAt ?? '')).toBeGreaterThan(
    Date.parse(before?.lastPass?.endedAt ?? ''),
  );
});
