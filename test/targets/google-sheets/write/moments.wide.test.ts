import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../../src/sandbox/faults.ts';
import { complaintsOf } from '../sheet-complaints.ts';
import { SheetLife } from '../sheet-life.ts';
import { ACTIONS } from '../sheet-people.ts';

/** Requests of a pass with changes of every kind: before it writes, and before it writes what was in its way. */
const MOMENTS = [2, 4];
const LOST: FaultRule = { path: /:batchUpdate$/, status: 503, applied: true };
const NUMBERS = [4, 4_113];

/** What moves things, but takes no answer away: a pass that went well has everything in its place at once. */
const REARRANGING = new Set<string>([
  'sort',
  'filter',
  'hideRows',
  'hideColumns',
  'moveColumns',
  'noteColumn',
  'formulaColumn',
  'blankRow',
  'titleRow',
  'renameHeader',
  'renameTab',
  'moveTab',
  'duplicateTab',
  'addTab',
  'looks',
]);

/** A sheet with notes of people in it, and something of everything to write. */
async function livedIn(n: number): Promise<SheetLife> {
  const life = await SheetLife.begin();
  life.people.do({ kind: 'noteColumn', n: 3 });
  life.people.do({ kind: 'noteColumn', n: 9 + n });
  for (const kind of ['answer', 'status', 'add', 'delete', 'relabel', 'addField'] as const) {
    life.change({ kind, n: n + 11 });
  }
  return life;
}

describe('whatever people do at whatever moment of a pass', () => {
  it.each([...new Set(ACTIONS)])(
    '%s: all answers are right, and everything of theirs is there',
    async (kind) => {
      const complaints: Record<string, string[]> = {};
      for (const [index, at] of MOMENTS.entries()) {
        const n = NUMBERS[index % 2]!;
        // Every second time the answer to the write that went astray is lost as well.
        const fault = index % 2 === 1 ? { ...LOST, after: at % 3 } : undefined;
        const life = await livedIn(n);
        const went = await life.pass({
          during: [{ at, deed: { kind, n } }],
          fault,
          elsewhere: false,
        });
        const atOnce = went && REARRANGING.has(kind) ? complaintsOf(life) : [];
        // What is protected, merged or the head of a table is as it should be once nothing is in the way.
        if (['protect', 'merge', 'makeTable'].includes(kind)) life.people.layOpen();
        life.clock.advance(60_000);
        await life.pass();
        const found = [...atOnce, ...complaintsOf(life)];
        if (found.length > 0) complaints[`at ${at}, n ${n}`] = found;
        await life.place.dispose();
      }
      expect(complaints).toEqual({});
    },
  );
});
