import { expect, it } from 'vitest';
import type { FaultRule } from '../../../../src/sandbox/faults.ts';
import { complaintsOf } from '../sheet-complaints.ts';
import { SheetLife } from '../sheet-life.ts';

const message = 'Invalid requests[1].copyPaste: That cannot be done here.';
const REFUSED: FaultRule = {
  path: /:batchUpdate$/,
  status: 400,
  body: JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
};

it.each(['sort', 'moveColumns', 'noteColumn'] as const)(
  'Google refuses a write, perhaps a repair, while people do this: %s',
  async (kind) => {
    const complaints: Record<string, string[]> = {};
    for (const at of [2, 3, 4]) {
      for (const after of [0, 1, 2, 3]) {
        const life = await SheetLife.begin();
        life.people.do({ kind: 'noteColumn', n: 3 });
        for (const change of ['answer', 'status', 'add', 'delete'] as const) {
          life.change({ kind: change, n: 15 });
        }
        let outcome = 'ok';
        try {
          await life.pass({
            during: [{ at, deed: { kind, n: 4 } }],
            fault: { ...REFUSED, after },
            elsewhere: false,
          });
        } catch (error) {
          outcome = String(error);
        }
        life.clock.advance(60_000);
        await life.pass();
        const found = complaintsOf(life);
        if (found.length > 0) complaints[`at ${at}, after ${after}: ${outcome}`] = found;
        await life.place.dispose();
      }
    }
    expect(complaints).toEqual({});
  },
);
