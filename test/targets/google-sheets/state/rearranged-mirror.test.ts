import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../../../../packages/google-sheets-emulator/test/support/people.ts';
import { METADATA_KEYS } from '../../../../src/targets/google-sheets/api/metadata.ts';
import { SheetMirror } from '../sheet-mirror.ts';

/* Rows of the tab: Health, the limit, Room, a remark, Forms with its headers and a row, Problems from row 9 on, Fields from 13. */
const ACTS: [string, (person: Person) => void][] = [
  ['sorted', (person) => person.sortSheet(0, 'DESCENDING')],
  ['sorted without frozen rows', (person) => (person.freezeRows(0), person.sortSheet(2))],
  ['rows moved', (person) => person.moveRows(4, 3, 12)],
  ['the row with the limit moved below', (person) => person.moveRows(1, 1, 20)],
  ['the title of the last table moved', (person) => person.moveRows(12, 2, 10)],
  ['columns swapped', (person) => person.moveColumns(2, 1, 2 + 2)],
  ['a column of ours moved behind all', (person) => person.moveColumns(0, 1, 9)],
  [
    'titles merged with headers',
    (person) => person.merge({ top: 4, bottom: 6, left: 0, right: 3 }),
  ],
  ['a title overwritten', (person) => person.type(8, 0, 'What went wrong')],
  ['made a table', (person) => void person.convertToTable()],
  [
    'made a table of another row, and sorted',
    (person) => {
      person.freezeRows(4);
      person.convertToTable();
      person.sortRange({ top: 4, bottom: 16, left: 0, right: 1 }, [{ column: 0 }]);
    },
  ],
];

describe('the Mirror tab, rearranged in the same size', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(3);
    await mirror.pass('full');
    person().type(1, 1, '77');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const person = (): Person => mirror.place.sandbox.people.at(mirror.place.spreadsheetId, 'Mirror');
  /** Without what changes with each pass that is written: room, and the times of passes. */
  const steady = (): string[] =>
    mirror.shown().map((line, row) => {
      const cells = row === 2 ? line.slice(0, 1) : line.slice(0, 7);
      return cells
        .join('|')
        .replace(/\d+:\d+:\d+ UTC/, 'then')
        .replace(/\|+$/, '');
    });
  const writes = async (): Promise<number> => {
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    const { reads, writes: written } = mirror.place.sandbox.requests.counts();
    if (written === 0) expect(reads).toBeLessThanOrEqual(2);
    return written;
  };

  it.each(ACTS)(
    'L17: is written anew by a full pass that brings nothing, once: %s',
    async (_, act) => {
      const before = steady();
      act(person());
      expect(steady()).not.toEqual(before);
      expect(await writes()).toBe(1);
      expect(steady()).toEqual(before);
      expect(mirror.shown()[1]?.[1]).toBe('77');
      mirror.target = await mirror.place.openElsewhere();
      expect(await writes()).toBe(0);
      mirror.clock.advance(120 * 60_000);
      expect(mirror.shown()[0]?.[1]).toBe('Stale');
    },
  );

  it.each(ACTS)('is put right with the next write of another pass: %s', async (_, act) => {
    const before = steady();
    act(person());
    mirror.submit(3);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    const words = (lines: string[]): unknown[] => lines.map((line) => line.split('|')[0]);
    expect(words(steady())).toEqual(words(before));
  });

  it('is written anew where a tool took away the note of what stands where', async () => {
    const before = steady();
    const { document } = mirror.place.sandbox.files.get(mirror.place.spreadsheetId);
    document.metadata = document.metadata.filter(({ key }) => key !== METADATA_KEYS.tables);
    person().sortSheet(0, 'DESCENDING');
    mirror.target = await mirror.place.openElsewhere();
    mirror.submit(3);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    const words = (lines: string[]): unknown[] => lines.map((line) => line.split('|')[0]);
    expect(words(steady())).toEqual(words(before));
    expect(mirror.shown()[1]?.[1]).toBe('77');
    expect(await writes()).toBe(0);
  });

  it('L4: stays as it is where people protect it', async () => {
    person().sortSheet(0, 'DESCENDING');
    person().protect({ top: 0, bottom: 2 });
    const before = mirror.shown();
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    mirror.target = await mirror.place.openElsewhere();
    await mirror.pass('full');
    expect(mirror.place.sandbox.requests.counts().writes).toBe(0);
    expect(mirror.shown()).toEqual(before);
  });

  it('L4: is not written for ever where somebody’s script sorts it again each time', async () => {
    const sort = (): void => person().moveRows(4, 3, 12);
    sort();
    expect(await writes()).toBe(1);
    for (let round = 0; round < 3; round++) {
      sort();
      mirror.target = await mirror.place.openElsewhere();
      expect(await writes()).toBe(0);
      person().moveRows(9, 3, 4);
    }
    // A pass that writes has found it in its place since.
    mirror.submit(3);
    await mirror.pass('full');
    sort();
    expect(await writes()).toBe(1);
  });

  it('a table of the forms stays people’s', async () => {
    person().freezeRows(6);
    person().convertToTable();
    expect(await writes()).toBe(0);
    mirror.submit(3);
    await mirror.pass();
    const { sandbox, spreadsheetId } = mirror.place;
    expect(sandbox.inspect.ranges(spreadsheetId, 'Mirror').tables).toHaveLength(1);
    expect(mirror.shown()[6]?.[4]).toBe('4');
  });
});
