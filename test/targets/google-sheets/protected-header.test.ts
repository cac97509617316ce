import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID, and spare ones. */
const [NAME, AGE, REMOVED] = [2, 3, 4];
const FORM_ID = 'frm_contact';

describe('headers that people protect', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(12);
    await mirror.pass('full');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const header = (): unknown[] => mirror.grid()[0] ?? [];
  const notices = async (): Promise<string[]> =>
    ((await mirror.overview())?.notices ?? []).map(({ message }) => message);
  const calls = (): { reads: number; writes: number } => mirror.place.sandbox.requests.counts();
  const relabel = (id: string, label: string): void =>
    mirror.store.relabelField(FORM_ID, id, label);
  const answer = (index: number): void =>
    mirror.store.setAnswers(`s${index}`, {
      field_name: `Person ${index}`,
      field_age: 20 + index,
      field_new: `new ${index}`,
    });

  it('L9: a new label waits, the rows are written all the same, and it follows once it may', async () => {
    const range = mirror.person.protect({ top: 0, bottom: 1 });
    relabel('field_name', 'Full name');
    mirror.submit(12);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1, rejected: 0 });
    expect(header()[NAME]).toBe('Name');
    expect(await notices()).toEqual([
      'On the tab "Contact" the protected range (1:1) keeps forms-mirror from writing: 1 header does not show the label ' +
        'of its field. Everything else is written.',
    ]);
    mirror.place.sandbox.requests.clear();
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', kind: 'incremental' });
    expect(calls()).toMatchObject({ writes: 0 });
    mirror.person.unprotect(range);
    expect((await mirror.overview())?.losses).toEqual([{ what: 'unblocked' }]);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok' });
    expect(header()[NAME]).toBe('Full name');
    expect(await notices()).toEqual([]);
    expect((await mirror.overview())?.losses).toEqual([]);
    expect((await mirror.verify()).outcome).toBe('same');
  });

  it('L9: a new question gets its column and its answers at once, and its header once it may', async () => {
    const range = mirror.person.protect({ top: 0, bottom: 1 });
    mirror.store.addField(FORM_ID, { id: 'field_new', label: 'New' });
    for (const index of [3, 5]) answer(index);
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 2, rejected: 0 });
    expect(header()).not.toContain('New');
    expect(['s3', 's5'].map((id) => mirror.rowOf(id)?.includes(`new ${id.slice(1)}`))).toEqual([
      true,
      true,
    ]);
    relabel('field_new', 'Newer');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 0 });
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(calls()).toMatchObject({ writes: 0 });
    mirror.person.unprotect(range);
    await mirror.pass();
    const column = header().indexOf('Newer');
    expect(mirror.rowOf('s3')?.[column]).toBe('new 3');
    expect(header().filter((text) => text === 'New')).toEqual([]);
    expect(await notices()).toEqual([]);
    expect((await mirror.verify()).outcome).toBe('same');
  });

  it('one protected header: the others are written, wherever a new column pushes them', async () => {
    const range = mirror.person.protect({ top: 0, bottom: 1, left: AGE, right: AGE + 1 });
    relabel('field_name', 'Full name');
    relabel('field_age', 'Age in years');
    mirror.store.addField(FORM_ID, { id: 'field_new', label: 'New' });
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', rejected: 0 });
    expect(header()).toEqual(expect.arrayContaining(['Full name', 'Age', 'New']));
    expect(header()).not.toContain('Age in years');
    mirror.person.unprotect(range);
    await mirror.pass();
    expect(header()).toEqual(expect.arrayContaining(['Full name', 'Age in years', 'New']));
  });

  it('L9: two labels that swap in a table wait for each other', async () => {
    mirror.person.convertToTable();
    const range = mirror.person.protect({ top: 0, bottom: 1, left: NAME, right: AGE });
    relabel('field_name', 'Age');
    relabel('field_age', 'Name');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', rejected: 0 });
    expect(header().slice(NAME, REMOVED)).toEqual(['Name', 'Age']);
    expect((await notices()).join()).toContain('2 headers do not show the labels');
    await mirror.pass('full');
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(calls()).toMatchObject({ writes: 0 });
    mirror.person.unprotect(range);
    await mirror.pass();
    expect(header().slice(NAME, REMOVED)).toEqual(['Age', 'Name']);
    expect(await notices()).toEqual([]);
  });

  it('what people put there in the meantime is theirs', async () => {
    const range = mirror.person.protect({ top: 0, bottom: 1 });
    relabel('field_name', 'Full name');
    await mirror.pass('full');
    expect(await notices()).toHaveLength(1);
    mirror.person.type(0, NAME, 'Who');
    mirror.person.unprotect(range);
    await mirror.pass();
    expect(header()[NAME]).toBe('Who');
    expect(await notices()).toEqual([]);
    mirror.place.sandbox.requests.clear();
    await mirror.pass();
    expect(calls()).toMatchObject({ writes: 0 });
  });

  it('a column of the mirror’s own that is made again: its header follows, too', async () => {
    mirror.person.deleteColumns(REMOVED);
    const range = mirror.person.protect({ top: 0, bottom: 1 });
    mirror.store.delete('s5');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1 });
    expect(header()).not.toContain('Removed');
    mirror.person.unprotect(range);
    await mirror.pass();
    const column = header().indexOf('Removed');
    expect(mirror.rowOf('s5')?.[column]).toEqual(expect.any(Number));
    expect(await notices()).toEqual([]);
  });

  it('a header under merged cells waits as well', async () => {
    const cells = { top: 0, bottom: 1, left: NAME, right: AGE + 1 };
    mirror.person.merge(cells);
    relabel('field_age', 'Age in years');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok' });
    expect(await notices()).toEqual([
      'On the tab "Contact" merged cells (C1:D1) keep forms-mirror from writing: 1 header does not show the label of its ' +
        'field. Everything else is written.',
    ]);
    mirror.place.sandbox.requests.clear();
    await mirror.pass();
    expect(calls()).toMatchObject({ writes: 0 });
    mirror.person.unmerge(cells);
    await mirror.pass();
    expect(header()[AGE]).toBe('Age in years');
  });

  it('after a restart, too', async () => {
    const range = mirror.person.protect({ top: 0, bottom: 1 });
    relabel('field_name', 'Full name');
    await mirror.pass('full');
    mirror.target = await mirror.place.open();
    expect(await notices()).toHaveLength(1);
    mirror.person.unprotect(range);
    mirror.target = await mirror.place.open();
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok' });
    expect(header()[NAME]).toBe('Full name');
  });
});

it('L9: a label that changes after the header row was deleted while it waited', async () => {
  await using mirror = await SheetMirror.begin(12);
  await mirror.pass('full');
  mirror.person.protect({ top: 0, bottom: 1 });
  mirror.store.addField(FORM_ID, { id: 'field_new', label: 'New' });
  await mirror.pass('full');
  expect(mirror.grid()[0]).not.toContain('New');
  mirror.person.deleteRows(0);
  mirror.store.relabelField(FORM_ID, 'field_new', 'Newer');
  await mirror.pass('full');
  await mirror.pass('full');
  expect(mirror.grid()[0]).toContain('Newer');
});
