import { describe, expect, it } from 'vitest';
import type { WindowRecord } from '../../src/mirror/window.ts';
import { FORM } from '../support/sync-place.ts';
import { DAY_MS, HOUR_MS, openSynced, windowsOf } from './large-form.ts';

describe('a comparison of some windows', () => {
  it('finds what counts do not show, in those windows alone', async () => {
    const place = await openSynced();
    const windows = await windowsOf(place);
    const [one, other] = [windows[1]!, windows[3]!];
    const inWindow = (window: WindowRecord): string[] =>
      [...place.store.all(FORM)]
        .filter(({ createdAt }) => createdAt >= window.from! && createdAt < window.to!)
        .map(({ id }) => id);
    const [changed] = inWindow(one);
    const [unseen] = inWindow(other);
    for (const id of [changed!, unseen!]) place.store.setAnswers(id, { field_1_name: 'New' });
    await place.clock.sleep(HOUR_MS);
    const report = await place.pass('compare', { windows: [one] });
    expect(report).toMatchObject({ kind: 'compare', outcome: 'ok', updated: 1, inserted: 0 });
    expect(report.requests).toBeLessThan(8);
    const after = await windowsOf(place);
    expect(after.map(({ provenAt }) => provenAt! > one.provenAt!)).toEqual(
      windows.map(({ from }) => from === one.from),
    );
    expect(await place.pass('compare', { windows: [other] })).toMatchObject({ updated: 1 });
  });

  it('L8, L17: keeps the count of what is accounted for, so that the next tick needs nothing', async () => {
    const place = await openSynced();
    const [one] = await windowsOf(place);
    const [gone] = place.store.ids(FORM);
    place.store.delete(gone!);
    place.submit({ createdAt: Date.parse(one!.to!) - DAY_MS });
    place.submit({ createdAt: Date.parse(one!.to!) - 2 * DAY_MS });
    const report = await place.pass('compare', { windows: [one!] });
    expect(report).toMatchObject({ outcome: 'ok', inserted: 2, deleted: 1 });
    const tick = await place.pass('incremental');
    expect(tick).toMatchObject({ kind: 'incremental', outcome: 'ok', inserted: 0, absent: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L8: trips the brake with what the other windows have lost', async () => {
    const place = await openSynced();
    for (const id of place.store.ids(FORM)) if (id < 'zz') place.store.delete(id);
    let deleted = 0;
    for (const window of (await windowsOf(place)).slice(0, -1)) {
      deleted += (await place.pass('compare', { windows: [window] })).deleted;
    }
    expect(deleted).toBeLessThanOrEqual(40);
    expect((await place.pass('incremental')).outcome).toBe('withheld');
  });

  it('leaves out what the form is not cut into, and reads everything where rows are lost', async () => {
    const place = await openSynced();
    const none = { from: null, to: '2020-01-01T00:00:00.000Z' };
    expect(await place.pass('compare', { windows: [none] })).toMatchObject({
      kind: 'compare',
      outcome: 'ok',
      distinct: 0,
    });
    place.view().harm(FORM, 'some');
    expect(await place.pass('compare', { windows: [none] })).toMatchObject({
      kind: 'full',
      outcome: 'ok',
    });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });
});
