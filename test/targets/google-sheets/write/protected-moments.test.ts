import { expect, it } from 'vitest';
import { complaintsOf } from '../sheet-complaints.ts';
import { SheetLife } from '../sheet-life.ts';

const MOMENTS = [1, 2, 3, 4, 5];

/**
 * A row or a column is protected at some moment of a pass in which the sheet is rearranged, so that writes are refused,
 * planned again and repaired; then all may be edited again.
 */
it.each(['sort', 'moveColumns', 'noteColumn'] as const)(
  'protections that come while people do this: %s; afterwards all answers are right, and everything of theirs is there',
  async (kind) => {
    const complaints: Record<string, string[]> = {};
    for (const at of MOMENTS) {
      for (const n of [4, 9]) {
        for (const later of [0, 1]) {
          const life = await SheetLife.begin();
          life.people.do({ kind: 'noteColumn', n: 3 });
          for (const change of ['answer', 'status', 'add', 'delete'] as const) {
            life.change({ kind: change, n: n + 11 });
          }
          await life.pass({
            during: [
              { at, deed: { kind, n } },
              { at: at + later, deed: { kind: 'protect', n: n + at } },
            ],
            elsewhere: false,
          });
          life.people.layOpen();
          life.clock.advance(60_000);
          await life.pass();
          const found = complaintsOf(life);
          if (found.length > 0) complaints[`at ${at}, later ${later}, n ${n}`] = found;
          await life.place.dispose();
        }
      }
    }
    expect(complaints).toEqual({});
  },
);

it.each(['noteColumn', 'moveColumns', 'formulaColumn'] as const)(
  'L9, L10: a column added at the end, as a protected row lies across, while people do this: %s',
  async (kind) => {
    const complaints: Record<string, string[]> = {};
    for (const at of [0, 1, 2, 3, 4, 5, 6, 7]) {
      for (const n of [0, 4, 9]) {
        const life = await SheetLife.begin();
        const { sandbox, spreadsheetId } = life.place;
        const tab = sandbox.people.at(spreadsheetId, life.view.sheetId ?? 0);
        tab.protect({ top: 2, bottom: 3 });
        life.change({ kind: 'addField', n: 0 });
        life.change({ kind: 'relabel', n: 1 });
        await life.pass({ during: [{ at, deed: { kind, n } }], elsewhere: false });
        life.change({ kind: 'addField', n: 1 });
        life.change({ kind: 'add', n });
        await life.pass({ during: [{ at, deed: { kind, n: n + 1 } }], elsewhere: false });
        life.people.layOpen();
        life.clock.advance(60_000);
        await life.pass();
        const found = complaintsOf(life);
        if (found.length > 0) complaints[`at ${at}, n ${n}`] = found;
        await life.place.dispose();
      }
    }
    expect(complaints).toEqual({});
  },
);
