import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';
/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID, and spare ones. */
const [AT, NAME, NOTE] = [0, 2, 7];

describe('C7: a header row that was sorted into the rows and cannot be moved', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(4);
    mirror.person.freezeRows(0);
    mirror.person.sortSheet(AT);
    mirror.submit(4);
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const headerRow = (): number =>
    mirror.grid().findIndex((cells) => cells.includes('Submission ID'));
  const writes = (): number => mirror.place.sandbox.requests.counts().writes;

  it.each([
    ['a column of people’s', { left: NOTE, right: NOTE + 1 }],
    ['a column of answers', { left: NAME, right: NAME + 1 }],
    ['the header row', { top: 4, bottom: 5 }],
  ])('protected: %s', async (_, range) => {
    const protection = mirror.person.protect(range);
    mirror.store.relabelField(FORM, 'field_age', 'Years');
    mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
    mirror.store.setAnswers('s0', { field_name: 'Person 0', field_age: 20, field_city: 'Brno' });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(headerRow()).toBeGreaterThan(0);
    await mirror.pass('full');
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(writes()).toBe(0);
    mirror.person.unprotect(protection);
    await mirror.pass('full');
    expect(headerRow()).toBe(0);
    expect(mirror.grid()[0]).toEqual(expect.arrayContaining(['Years', 'City']));
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
  });

  it('merged with a row', async () => {
    const cells = { top: 3, bottom: 5, left: 8, right: 9 };
    mirror.person.merge(cells);
    mirror.store.relabelField(FORM, 'field_age', 'Years');
    mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1 });
    await mirror.pass('full');
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(writes()).toBe(0);
    expect(mirror.grid()[headerRow()]).toEqual(expect.arrayContaining(['Years', 'City']));
    mirror.person.unmerge({ ...cells, right: 10 });
    await mirror.pass('full');
    expect(headerRow()).toBe(0);
    expect(mirror.grid()[0]).toEqual(expect.arrayContaining(['Years', 'City']));
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
  });
});
