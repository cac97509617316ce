import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID, and spare ones. Row 2 shows s0. */
const [STATUS, NAME, REMOVED, NOTE] = [1, 2, 4, 6];
const FORM_ID = 'frm_contact';

describe('a column that has to be made beside what people protect', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(12);
    await mirror.pass('full');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const header = (): unknown[] => mirror.grid()[0] ?? [];
  const answer = (index: number): void => {
    const data = {
      field_name: `Person ${index}`,
      field_age: 20 + index,
      field_new: `new ${index}`,
    };
    mirror.store.setAnswers(`s${index}`, data);
  };

  it('a protected row: the column is added at the end, and filled but for that row until it may be', async () => {
    const at = mirror.placeOf('s3');
    const range = mirror.person.protect({ top: at, bottom: at + 1 });
    mirror.person.type(0, NOTE, 'Our notes');
    mirror.store.addField(FORM_ID, { id: 'field_new', label: 'New' });
    for (const index of [3, 5]) answer(index);
    mirror.submit(12);
    expect(await mirror.pass('full')).toMatchObject({
      outcome: 'ok',
      inserted: 1,
      updated: 1,
      rejected: 1,
    });
    const column = header().indexOf('New');
    expect(column).toBeGreaterThan(NOTE);
    expect(header()[NOTE]).toBe('Our notes');
    const shown = (id: string): unknown => mirror.grid()[mirror.placeOf(id)]?.[column] ?? null;
    expect([shown('s3'), shown('s5')]).toEqual([null, 'new 5']);
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(mirror.place.sandbox.requests.counts().writes).toBe(0);
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ kind: 'full', updated: 1, rejected: 0 });
    expect(shown('s3')).toBe('new 3');
    expect(header().filter((text) => text === 'New')).toHaveLength(1);
    expect((await mirror.verify()).outcome).toBe('same');
  });

  it.each([
    [
      'rows',
      [
        { top: 4, bottom: 5 },
        { top: 9, bottom: 13 },
      ],
    ],
    ['a column of people in its place', [{ left: REMOVED, right: REMOVED + 1 }]],
  ])('the column of removals beside %s: dates are shown as dates in it', async (_, areas) => {
    mirror.person.deleteColumns(REMOVED);
    await mirror.pass('full');
    for (const area of areas) mirror.person.protect(area);
    // Met before the column is made.
    mirror.person.protect({ top: 4, bottom: 5, left: STATUS, right: STATUS + 1 });
    mirror.store.setStatus('s3', 'PAID');
    mirror.store.delete('s5');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1 });
    const texts = mirror.place.sandbox.inspect.shown(mirror.place.spreadsheetId, 'Contact');
    const column = texts[0]?.indexOf('Removed') ?? -1;
    expect(texts[mirror.placeOf('s5')]?.[column]).toMatch(/^3\/2\/2026 \d+:\d\d:\d\d$/);
  });

  it('a protected column: the new one stands where it belongs', async () => {
    mirror.person.protect({ left: NAME, right: NAME + 1 });
    mirror.store.addField(FORM_ID, { id: 'field_new', label: 'New' });
    answer(5);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 1, rejected: 0 });
    expect(header().slice(NAME)).toEqual(['Name', 'Age', 'New', 'Removed', 'Submission ID']);
  });
});
