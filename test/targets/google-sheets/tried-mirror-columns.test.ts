import { expect, it } from 'vitest';
import type { Person } from '../../../packages/google-sheets-emulator/test/support/people.ts';
import { SheetMirror } from './sheet-mirror.ts';

const cases: [string, number, (person: Person) => void][] = [
  ['the first column is deleted', 77, (person) => person.deleteColumns(0)],
  // With it the limit goes.
  ['the second column is deleted', 45, (person) => person.deleteColumns(1)],
  ['the last columns are deleted', 77, (person) => person.deleteColumns(6, 3)],
  ['a column is inserted before all', 77, (person) => person.insertColumns(0)],
  ['a column is inserted before the states', 77, (person) => person.insertColumns(1)],
  [
    'a column is inserted under merged cells, and others deleted',
    77,
    (person) => {
      person.merge({ top: 0, bottom: 1, left: 1, right: 4 });
      person.insertColumns(2, 2);
      person.deleteColumns(7);
    },
  ],
];

it.each(cases)('the Mirror tab is put right, and no pass fails: %s', async (_, limit, act) => {
  await using mirror = await SheetMirror.begin(3);
  await mirror.pass('full');
  const { sandbox, spreadsheetId } = mirror.place;
  const person = (): Person => sandbox.people.at(spreadsheetId, 'Mirror');
  person().type(1, 1, '77');
  const before = mirror.shown();
  const { widths } = sandbox.inspect.layout(spreadsheetId, 'Mirror');
  act(person());
  mirror.submit(3);
  expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
  const shape = (shown: string[][]): unknown[] => shown.map((line) => [line[0], line[2]]);
  const steady = (shown: string[][]): unknown[] =>
    shape(shown).filter((_line, at) => at === 1 || at === 5 || at > 7);
  const after = mirror.shown();
  expect(steady(after)).toEqual(steady(before));
  expect(after[1]?.[1]).toBe(String(limit));
  expect(after[0]?.slice(0, 2)).toEqual(before[0]?.slice(0, 2));
  expect(sandbox.inspect.layout(spreadsheetId, 'Mirror').widths).toMatchObject(widths);
  await mirror.pass('full');
  sandbox.requests.clear();
  await mirror.pass('full');
  expect(sandbox.requests.counts().writes).toBe(0);
  mirror.clock.advance(120 * 60_000);
  expect(mirror.shown()[0]?.[1]).toBe('Stale');
});

it('what people wrote in a column of theirs comes to stand behind ours', async () => {
  await using mirror = await SheetMirror.begin(3);
  await mirror.pass('full');
  const { sandbox, spreadsheetId } = mirror.place;
  const person = sandbox.people.at(spreadsheetId, 'Mirror');
  person.insertColumns(3);
  person.type(6, 3, 'ask Eva');
  mirror.submit(3);
  expect(await mirror.pass()).toMatchObject({ outcome: 'ok' });
  expect(mirror.shown()[5]?.slice(0, 4)).toEqual(['Form', 'State', 'Details', 'What to do']);
  expect(mirror.shown()[6]?.[9]).toBe('ask Eva');
});
