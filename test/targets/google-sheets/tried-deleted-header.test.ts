import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';
/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID, and spare ones. */
const [NAME, REMOVED, NOTE] = [2, 4, 7];
const HEADER = ['Submitted at', 'Status', 'Name', 'Age', 'Removed', 'Submission ID'];

describe('a header row that was deleted where columns are protected', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(12);
    await mirror.pass('full');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const header = (): unknown[] => mirror.grid()[0] ?? [];
  const notices = async (): Promise<string[]> =>
    ((await mirror.overview())?.notices ?? []).map(({ message }) => message);
  const writes = (): number => mirror.place.sandbox.requests.counts().writes;

  it.each([
    ['a column of answers', NAME, 'Name'],
    ['a column of the mirror’s own', REMOVED, 'Removed'],
  ])('%s: its header waits, and all else is written', async (_, column, label) => {
    const range = mirror.person.protect({ left: column, right: column + 1 });
    mirror.person.deleteRows(0);
    mirror.submit(12);
    mirror.store.relabelField(FORM, 'field_age', 'Years');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    const [shown] = [HEADER.map((text) => (text === 'Age' ? 'Years' : text))];
    expect(header()).toEqual(shown.map((text) => (text === label ? null : text)));
    expect((await notices()).join()).toContain('1 header');
    await mirror.pass('full');
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(writes()).toBe(0);
    mirror.person.unprotect(range);
    await mirror.pass();
    expect(header()).toEqual(shown);
    await mirror.pass('full');
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
  });

  it('when only rows are written, after a restart', async () => {
    const range = mirror.person.protect({ left: NAME, right: NAME + 1 });
    mirror.person.deleteRows(0);
    mirror.submit(12);
    mirror.target = await mirror.place.openElsewhere();
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(header()).toEqual(HEADER.map((text) => (text === 'Name' ? null : text)));
    mirror.target = await mirror.place.openElsewhere();
    mirror.person.unprotect(range);
    await mirror.pass();
    expect(header()).toEqual(HEADER);
  });

  it('a column of people’s: the header comes back whole', async () => {
    mirror.person.protect({ left: NOTE, right: NOTE + 1 });
    mirror.person.deleteRows(0);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok' });
    expect(header()).toEqual(HEADER);
  });
});
