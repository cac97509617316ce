import { expect, it } from 'vitest';
import type { Checkpoint } from '../../src/mirror/types.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FIELD, FORM, SyncPlace } from '../support/sync-place.ts';

// What comes while a pass runs, behind what it has read, is not in the copy: no time that it claims may be later.

const MINUTE_MS = 60_000;

async function checkpointOf(place: SyncPlace): Promise<Checkpoint | undefined> {
  await using target = openSqlite('a', place.file());
  return await (await target.reader(FORM))?.checkpoint();
}

/** While the next pass runs, some minutes pass, and then `change` is made, once; returns when that was. */
function changeMeanwhile(place: SyncPlace, change: () => void): () => string {
  let [changedAt, asked] = ['', 0];
  place.onRequest = ({ path }) => {
    if (path !== '/submissions' || ++asked !== 3) return;
    void place.clock.sleep(5 * MINUTE_MS);
    change();
    changedAt = new Date(place.clock.now()).toISOString();
    void place.clock.sleep(5 * MINUTE_MS);
  };
  return () => changedAt;
}

const newestOf = (place: SyncPlace): string => place.store.ids(FORM).at(-1)!;

it.each(['edit', 'status', 'deletion'] as const)(
  'L17: a full pass claims nothing as of after an unseen %s came while it ran',
  async (kind) => {
    const place = await SyncPlace.open({ behaviour: { maxLimit: 10 }, submissions: 45 });
    const id = newestOf(place);
    const began = new Date(place.clock.now()).toISOString();
    const changedAt = changeMeanwhile(place, () => {
      if (kind === 'status') place.store.setStatus(id, 'PAID');
      else if (kind === 'edit') place.store.setAnswers(id, { [FIELD]: 'edited' });
      else place.store.delete(id);
    });
    const report = await place.pass('full');
    expect(report.outcome).toBe('ok');
    expect(report.endedAt > changedAt()).toBe(true);
    const { provenAt, fullProvenAt, countsAt } = (await checkpointOf(place))!;
    expect([provenAt, fullProvenAt, countsAt]).toEqual([began, began, began]);
    expect(changedAt() > began).toBe(true);
  },
);

it('L17: an incremental pass claims which submissions there are as of when it began', async () => {
  const place = await SyncPlace.open({ behaviour: { maxLimit: 10 }, submissions: 60 });
  await place.pass('full');
  const before = (await checkpointOf(place))!;
  void place.clock.sleep(MINUTE_MS);
  place.submitMany(35);
  const began = new Date(place.clock.now()).toISOString();
  const changedAt = changeMeanwhile(place, () => place.submit());
  expect((await place.pass('incremental')).outcome).toBe('ok');
  expect(changedAt() > began).toBe(true);
  const { provenAt, fullProvenAt } = (await checkpointOf(place))!;
  expect([provenAt, fullProvenAt]).toEqual([began, before.fullProvenAt]);
});
