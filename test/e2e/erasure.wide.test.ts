import { describe, expect, it, vi } from 'vitest';
import { FormsStore } from '../../src/sandbox/store.ts';
import { ChildPlace } from '../support/child-place.ts';
import { filesBelow, filesWith, leaksIn } from '../support/leaks.ts';
import { MirrorView } from '../support/mirror-view.ts';

const SOON = { timeout: 120_000, interval: 200 };
const FORM = 'form-1';
const FIELD = 'field_1_name';
const FORGOTTEN = 'PLANTED Žofie who asks to be forgotten';
const DELETED = 'PLANTED Karel who was deleted long ago';

function createStore(): { store: FormsStore; forgotten: string; deleted: string } {
  const store = new FormsStore({ seed: 'erasure' });
  store.addForm({ id: FORM, slug: 'visit', name: 'Visit', fields: [{ id: FIELD, label: 'Name' }] });
  const submit = (name: string): string =>
    store.insert({ formId: FORM, data: { [FIELD]: name } }).id;
  for (let n = 0; n < 40; n++) submit(`Somebody ${n}`);
  const [forgotten, deleted] = [submit(FORGOTTEN), submit(DELETED)];
  for (let n = 40; n < 80; n++) submit(`Somebody ${n}`);
  return { store, forgotten, deleted };
}

describe('L18: erasure beside a running start', { timeout: 240_000 }, () => {
  it('leaves no answer in any file, the queue included, and brings none back', async ({
    onTestFinished,
  }) => {
    const { store, forgotten, deleted } = createStore();
    const place = await ChildPlace.open(onTestFinished, { store });
    place.env = {
      ...place.env,
      MARK_STATUS: 'DONE',
      SYNC_EVERY: '1s',
      RECONCILE_EVERY: '2s',
      PURGE_DELETED_AFTER: '1s',
      LOG_LEVEL: 'trace',
    };
    const view = new MirrorView(place.targetUrl);
    const start = place.start(['start']);
    const rows = async (id: string): Promise<number> =>
      (await view.ask(`SELECT id FROM visit WHERE id = '${id}'`).catch(() => [])).length;
    const runs = async (): Promise<number> =>
      (await view.ask(`SELECT * FROM mirror_runs WHERE outcome = 'ok'`)).length;
    await vi.waitFor(async () => expect(await rows(forgotten)).toBe(1), SOON);
    expect(filesWith(place.folder, [FORGOTTEN])).not.toEqual([]);

    store.delete(deleted);
    const forgot = await place.run(['forget', forgotten, '--yes', '--json']);
    expect([forgot.code, JSON.parse(forgot.stdout)]).toMatchObject([0, { targets: [{ rows: 1 }] }]);
    const before = await runs();
    await vi.waitFor(async () => {
      expect(await runs()).toBeGreaterThan(before + 2);
      expect(await rows(deleted)).toBe(0);
    }, SOON);
    expect(await rows(forgotten)).toBe(0);
    // The last removed answers leave the files with the next scrubbing.
    await vi.waitFor(() => expect(filesWith(place.folder, [FORGOTTEN, DELETED])).toEqual([]), SOON);
    const secrets = { forgotten: FORGOTTEN, deleted: DELETED };
    expect(await start.end('SIGTERM')).toEqual({ code: 0, signal: null });

    const places = filesBelow(place.folder);
    for (const { pid, stdout, stderr } of place.children) {
      places.set(`output of process ${pid}`, stdout + stderr);
    }
    expect(leaksIn(places, secrets)).toEqual([]);
    // It would be found: the others are there.
    expect(leaksIn(places, { other: 'Somebody 17' })).not.toEqual([]);
  });
});
