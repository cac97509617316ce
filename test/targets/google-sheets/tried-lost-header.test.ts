import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM = 'frm_contact';
const HEADER = ['Submitted at', 'Status', 'Name', 'Years', 'Removed', 'Submission ID'];

describe('header rows that are not where their mark is', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(5);
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const header = (): unknown[] | undefined =>
    mirror.grid().find((cells) => cells.includes('Submission ID'));
  const headerRow = (): number =>
    mirror.grid().findIndex((cells) => cells.includes('Submission ID'));
  const settles = async (): Promise<void> => {
    await mirror.pass('full');
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    const { reads, writes } = mirror.place.sandbox.requests.counts();
    expect([reads <= 2, writes]).toEqual([true, 0]);
    expect(await mirror.verify()).toMatchObject({ outcome: 'same', notices: [] });
  };

  it.each(['full', 'incremental'] as const)(
    'sorted into the rows and deleted there: made again by a pass: %s',
    async (kind) => {
      mirror.person.freezeRows(0);
      mirror.person.sortSheet(0);
      mirror.person.deleteRows(headerRow());
      mirror.store.relabelField(FORM, 'field_age', 'Years');
      mirror.submit(5);
      expect(await mirror.pass(kind)).toMatchObject({ outcome: 'ok', inserted: 1 });
      expect(headerRow()).toBe(0);
      expect(mirror.grid()).toHaveLength(7);
      await settles();
      expect(mirror.grid()[0]).toEqual(HEADER);
    },
  );

  it('above a title that it stood below: takes new names', async () => {
    mirror.person.insertTitleRow(0, 'Customers');
    mirror.person.freezeRows(0);
    mirror.person.sortSheet(0, 'DESCENDING');
    expect([headerRow(), mirror.grid()[1]?.[0]]).toEqual([0, 'Customers']);
    mirror.store.relabelField(FORM, 'field_age', 'Years');
    mirror.store.addField(FORM, { id: 'field_city', label: 'City' });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok' });
    expect(header()).toEqual(expect.arrayContaining(['Years', 'City']));
    expect(mirror.grid()[1]?.filter((cell) => cell !== null)).toEqual(['Customers']);
    await settles();
  });

  it('a header that waits, blank, until its tab becomes a table: its label follows, and not over one of people’s', async () => {
    const range = mirror.person.protect({ top: 0, bottom: 1 });
    for (const id of ['one', 'two']) mirror.store.addField(FORM, { id, label: `New ${id}` });
    for (const index of [0, 1, 2, 3, 4]) {
      const data = { field_name: 'N', field_age: 1, one: 'first', two: 'second' };
      mirror.store.setAnswers(`s${index}`, data);
    }
    await mirror.pass('full');
    const line = mirror.rowOf('s0') ?? [];
    const places = ['first', 'second'].map((text) => line.indexOf(text));
    const width = Math.max(...places) + 1;
    mirror.person.type(0, width - 1, '-');
    mirror.person.convertToTable();
    const [first = 0, second = 0] = places;
    expect(mirror.grid()[0]?.[first]).toBe(`Column ${first + 1}`);
    mirror.person.type(0, second, 'Quarter 3');
    mirror.person.unprotect(range);
    await mirror.pass('full');
    expect(mirror.grid()[0]?.[first]).toBe('New one');
    expect(mirror.grid()[0]?.[second]).toBe('Quarter 3');
    await settles();
  });
});
