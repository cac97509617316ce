import { describe, expect, it } from 'vitest';
import { FORM, type SyncPlace } from '../support/sync-place.ts';
import { openLarge } from './large-form.ts';

/**
 * A large form after a full pass that met a submission which was deleted before its window was proven: known as absent,
 * with which status is not. Then a pass fails as soon as it has stored what is new.
 */
async function openDied(submit: (place: SyncPlace) => unknown): Promise<SyncPlace> {
  const place = await openLarge();
  let first: string | null = null;
  let isDeleted = false;
  place.onRequest = ({ path, query }) => {
    const to = query.get('dateTo');
    if (path !== '/submissions' || to === null || query.get('limit') !== '100' || isDeleted) return;
    if (query.get('page') === '1') return void (first ??= to);
    if (to !== first) return;
    isDeleted = true;
    const inWindow = [...place.store.all(FORM)].filter(({ createdAt }) => createdAt <= to);
    place.store.delete(inWindow.at(-1)!.id);
  };
  expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 200, absent: 1 });
  place.onRequest = () => {};
  submit(place);
  const rule = { path: '/submissions', status: 401, after: 1, times: Infinity };
  const mend = place.sandbox.faults.add(rule);
  expect(await place.pass('incremental')).toMatchObject({ outcome: 'failed' });
  mend();
  return place;
}

/** What the copy shows live, and what the source has: IDs with their statuses. */
function both(place: SyncPlace): [string[], string[]] {
  const rows = [...place.view().rows(FORM).values()].filter((row) => row._deleted_at === null);
  const copy = rows.map(({ id, status }) => `${id} ${status}`).toSorted();
  const source = [...place.store.all(FORM)].filter(
    ({ id }) => place.store.distortionOf(id) === undefined,
  );
  return [copy, source.map(({ id, status }) => `${id} ${status}`).toSorted()];
}

const tick = (place: SyncPlace) => place.pass('incremental', { compareCounts: true });

describe('a pass that died after it had stored newcomers', () => {
  it('L16, L17: does not end comparisons by count, where the last full pass knew of an absent row', async () => {
    const place = await openDied((source) => source.submit());
    const ids = place.store.ids(FORM);
    place.store.delete(ids[100]!);
    for (const id of ids.slice(20, 25)) place.store.setStatus(id, 'PAID');
    const first = await tick(place);
    expect(first).toMatchObject({ kind: 'incremental', outcome: 'ok', deleted: 2, updated: 5 });
    expect(first.absent).toBe(0);
    const [copy, source] = both(place);
    expect(copy).toEqual(source);
    // A quiet one costs what counts take.
    expect((await tick(place)).requests).toBeLessThanOrEqual(8);
  });

  it('L16, L17: nor where it stored several, and nothing else went', async () => {
    const place = await openDied((source) => source.submitMany(3));
    place.store.setStatus(place.store.ids(FORM)[20]!, 'PAID');
    expect(await tick(place)).toMatchObject({ outcome: 'ok', updated: 1, deleted: 1, absent: 0 });
    const [copy, source] = both(place);
    expect(copy).toEqual(source);
  });

  it('L16, L17: nor where it met one that can not be stored', async () => {
    const place = await openDied((source) => {
      source.store.distort(source.submit(), { id: undefined });
    });
    const ids = place.store.ids(FORM);
    place.store.delete(ids[100]!);
    for (const id of ids.slice(20, 25)) place.store.setStatus(id, 'PAID');
    for (let n = 0; n < 2; n++) expect((await tick(place)).outcome).toBe('ok');
    const [copy, source] = both(place);
    expect(copy).toEqual(source);
    expect(await tick(place)).toMatchObject({ absent: 0, updated: 0, deleted: 0 });
  });
});
