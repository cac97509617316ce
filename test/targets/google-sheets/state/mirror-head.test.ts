import { expect, it } from 'vitest';
import { SheetMirror } from '../sheet-mirror.ts';

it.each([
  ['above all', 0],
  ['above the limit', 1],
  ['above the room', 2],
  ['above the tables', 4],
])(
  'L10: the head of the Mirror tab is put right, and keeps the limit, after rows were inserted %s',
  async (_, at) => {
    await using mirror = await SheetMirror.begin(3);
    await mirror.pass('full');
    const { sandbox, spreadsheetId } = mirror.place;
    const person = () => sandbox.people.at(spreadsheetId, 'Mirror');
    person().type(1, 1, '77');
    const before = mirror.shown();
    const labels = (shown: string[][]): unknown[] => shown.map(([label]) => label);
    const { widths } = sandbox.inspect.layout(spreadsheetId, 'Mirror');
    person().insertRows(at, 2);
    mirror.submit(3);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    const after = mirror.shown();
    expect(after.slice(0, 3).map((cells) => cells.slice(0, 2))).toEqual([
      ['Health', 'All submissions at last success'],
      ['Stale after minutes without a success', '77'],
      before[2]?.slice(0, 2),
    ]);
    const filled = (shown: string[][]): unknown[] => labels(shown).slice(0, labels(before).length);
    expect(filled(after)).toEqual(labels(before));
    expect(sandbox.inspect.layout(spreadsheetId, 'Mirror').widths).toEqual(widths);
  },
);
