import { describe, expect, it, vi } from 'vitest';
import { FormsStore } from '../../src/sandbox/forms-api/store.ts';
import { ChildPlace, runsOf } from '../support/child-place.ts';
import { filesWith } from '../support/leaks.ts';
import { MirrorView } from '../support/mirror-view.ts';

const SOON = { timeout: 60_000, interval: 1 };
const FORM = 'form-1';
const FIELD = 'field_1_name';
const MOMENTS = ['before it began', 'when it had counted', 'when the row was gone'] as const;
const HELD = '1 row held';
const nameOf = (moment: string): string => `PLANTED of the one that dies ${moment}`;

describe('L5, L18: forget dies by kill -9', { timeout: 240_000 }, () => {
  it('leaves the row or the note that keeps it away; done again, it leaves nothing', async ({
    onTestFinished,
  }) => {
    const store = new FormsStore({ seed: 'erasure' });
    const fields = [{ id: FIELD, label: 'Name' }];
    store.addForm({ id: FORM, slug: 'visit', name: 'Visit', fields });
    for (let n = 0; n < 300; n++) {
      store.insert({ formId: FORM, data: { [FIELD]: `Somebody ${n}` } });
    }
    const ids = new Map(
      MOMENTS.map((moment) => {
        const { id } = store.insert({ formId: FORM, data: { [FIELD]: nameOf(moment) } });
        return [moment, id];
      }),
    );
    const place = await ChildPlace.open(onTestFinished, { store });
    expect((await place.run(['sync', '--full'])).code).toBe(0);
    const view = new MirrorView(place.targetUrl);
    const isHeld = async (id: string): Promise<boolean> =>
      (await view.ask(`SELECT id FROM visit WHERE id = '${id}'`)).length > 0;
    for (const moment of MOMENTS) {
      const id = ids.get(moment) ?? '';
      const child = place.start(['forget', id, '--yes']);
      await vi.waitFor(async () => {
        const reached = [
          true,
          child.stdout.includes(HELD),
          child.stdout.includes(HELD) && !(await isHeld(id)),
        ];
        expect(reached[MOMENTS.indexOf(moment)]).toBe(true);
      }, SOON);
      await child.end('SIGKILL');
      const wasHeld = await isHeld(id);
      const runs = runsOf(await place.run(['sync', '--full', '--json']));
      expect(runs).toMatchObject([{ outcome: 'ok', inserted: 0 }]);
      expect([moment, await isHeld(id)]).toEqual([moment, wasHeld]);
      expect((await place.run(['forget', id, '--yes'])).code).toBe(0);
      expect([moment, filesWith(place.folder, [nameOf(moment), id])]).toEqual([moment, []]);
    }
    expect((await place.run(['verify', '--wait', '0'])).code).toBe(0);
  });
});
