import { expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

it('L16: an old status and a deletion are found by counts, from the key columns alone', async () => {
  await using mirror = await SheetMirror.begin(1_400);
  mirror.store.setStatus('s41', 'PAID');
  mirror.store.delete('s777');
  mirror.place.sandbox.requests.clear();
  const report = await mirror.pass();
  expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', updated: 1, deleted: 1 });
  expect(report.requests).toBeLessThan(25);
  const { reads } = mirror.place.sandbox.requests.counts();
  expect(reads).toBeLessThan(15);
  expect((await mirror.verify()).outcome).toBe('same');
  const { checkpoint } = (await mirror.overview()) ?? {};
  expect([...(checkpoint?.statuses ?? [])].map(([status, count]) => `${status} ${count}`)).toEqual(
    expect.arrayContaining(['NEW 700', 'DONE 698', 'PAID 1']),
  );
});
