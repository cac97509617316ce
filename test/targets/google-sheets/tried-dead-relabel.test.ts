import { expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';

it('L5, L9: a label that changes again after the process died between a header and its record', async () => {
  await using mirror = await SheetMirror.begin(3);
  const header = (): unknown => mirror.grid()[0]?.[2];
  mirror.store.relabelField(FORM, 'field_name', 'Full name');
  const path = /:batchUpdate$/;
  mirror.place.sandbox.faults.add({ path, after: 1, times: Infinity, dropConnection: true });
  await mirror.pass('full').catch(() => undefined);
  expect(header()).toBe('Full name');
  mirror.place.sandbox.faults.clear();
  mirror.store.relabelField(FORM, 'field_name', 'First and last name');
  mirror.target = await mirror.place.openElsewhere();
  mirror.clock.advance(300_000);
  expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok' });
  expect(header()).toBe('First and last name');
});
