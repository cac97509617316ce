import { describe, expect, it } from 'vitest';
import { complaintsOf } from '../sheet-complaints.ts';
import { SheetLife } from '../sheet-life.ts';

/** As many requests as a pass makes here at most; the last ones find it ended. */
const MOMENTS = Array.from({ length: 16 }, (_, at) => at + 1);

/** The tab of the form, for what people do to it as a whole. */
const tabOf = ({ place: { sandbox, spreadsheetId }, view }: SheetLife) =>
  sandbox.people.at(spreadsheetId, view.sheetId ?? 0);

const columnsOf = ({ view }: SheetLife): Map<string, number> => view.columns(view.sheetId ?? 0);

/** Headers that are not what their fields are called, nobody having renamed one. */
function wrongHeaders(life: SheetLife): string[] {
  const { view, fields } = life;
  const cells = view.grid(view.sheetId ?? 0)[view.headerRow(view.sheetId ?? 0) ?? 0] ?? [];
  const columns = columnsOf(life);
  return fields.flatMap(({ id, label }) => {
    const column = columns.get(`f:${id}`);
    if (column === undefined) return [`${id} has no column`];
    return cells[column] === label ? [] : [`${label} is called ${String(cells[column])}`];
  });
}

/** What keeps headers and columns from being written in one go. */
const OBSTACLES: Readonly<Record<string, (life: SheetLife) => void>> = {
  'a protected row across the tab': (life) => tabOf(life).protect({ top: 2, bottom: 3 }),
  'a protected header row': (life) => tabOf(life).protect({ top: 0, bottom: 1 }),
  'a protected column, and a header row that was deleted': (life) => {
    const column = columnsOf(life).get('f:field_2_age') ?? 0;
    tabOf(life).protect({ left: column, right: column + 1 });
    tabOf(life).deleteRows(0);
  },
  'a header row that was sorted into the rows': (life) => {
    tabOf(life).freezeRows(0);
    tabOf(life).sortSheet(0);
  },
};

describe('L4, L9, L10: a process that is killed at some request while columns and headers are written', () => {
  it.each(Object.entries(OBSTACLES))(
    '%s: the next pass, and one when all may be edited, bring everything',
    async (_name, obstruct) => {
      const complaints: Record<string, string[]> = {};
      const killed: number[] = [];
      for (const killAt of MOMENTS) {
        const life = await SheetLife.begin();
        life.people.do({ kind: 'noteColumn', n: 3 });
        obstruct(life);
        for (const kind of ['addField', 'relabel', 'answer', 'add'] as const) {
          life.change({ kind, n: killAt % 3 });
        }
        const isKilled = !(await life.pass({ during: [], killAt, elsewhere: false }));
        if (isKilled) killed.push(killAt);
        const went = await life.pass();
        life.people.layOpen();
        life.clock.advance(60_000);
        await life.pass();
        const found = [...complaintsOf(life), ...wrongHeaders(life)];
        if (!went) found.push('the pass after it failed');
        if (found.length > 0) complaints[`at ${killAt}`] = found;
        await life.place.dispose();
      }
      expect(complaints).toEqual({});
      expect(killed).toEqual(MOMENTS.slice(0, killed.length));
      expect(killed.length).toBeGreaterThan(4);
    },
  );
});
