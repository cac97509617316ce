import { describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createActor } from '../../src/cli/actions.ts';
import type { QueueRuntime } from '../../src/queue/runtime.ts';
import type { RunOrder } from '../../src/queue/run-places.ts';
import type { ActionOrder } from '../../src/web/action-order.ts';

const FORM = { id: 'frm_a', slug: 'a', name: 'Form A' };
const ACCEPT = { do: 'accept', form: 'a', target: null, reason: null, by: 'ann' } as const;

/** A mirror of one form, of which each target withholds so many deletions. */
function mirrorOf(
  withheld: Readonly<Record<string, number>>,
  { isReachable = true, isUnderWay = false } = {},
) {
  const begun: RunOrder[] = [];
  const app = {
    logger: silentLogger,
    planned: { plan: { forms: [{ form: FORM, targets: Object.keys(withheld) }] } },
    settingsOf: (name: string) => ({ name }),
    target: async (name: string) => ({
      pauses: async () => [],
      reader: async () => ({ checkpoint: async () => ({ withheld: withheld[name] }) }),
    }),
  };
  const queue = {
    status: async () => ({ reachable: isReachable, address: 'redis://queue', retries: [] }),
    runNow: () => (isReachable ? Promise.resolve() : new Promise<void>(() => {})),
    runPasses(order: RunOrder) {
      begun.push(order);
      if (isUnderWay) return { begun: [], underWay: order.places };
      return isReachable ? { begun: order.places, underWay: [] } : new Promise(() => {});
    },
  };
  const actor = createActor(
    app as unknown as App,
    queue as unknown as QueueRuntime,
    systemClock,
    undefined,
  );
  const act = (order: Partial<ActionOrder>) => actor.act({ ...ACCEPT, count: null, ...order });
  return { act, begun };
}

describe('accepting withheld deletions', () => {
  it('L8: takes a number that a person has seen for that of one target, never of several', async () => {
    const { act, begun } = mirrorOf({ a: 90, b: 30 });
    // 30 in each, when the page was shown.
    expect(await act({ count: 60 })).toMatchObject([
      { ok: false, text: expect.stringContaining('a in a, a in b') },
    ]);
    expect(begun).toEqual([]);
    await act({ count: 30, target: 'b' });
    expect(begun).toMatchObject([{ acceptDeletes: 30 }]);
  });

  it('L8: is refused at once where more is withheld by now than the person saw', async () => {
    const { act, begun } = mirrorOf({ a: 90 });
    expect(await act({ count: 30 })).toEqual([
      { ok: false, text: expect.stringContaining('90 deletions are withheld by now') },
    ]);
    expect(begun).toEqual([]);
    // Some came back: those that are withheld now, and no more.
    await act({ count: 100 });
    expect(begun).toMatchObject([{ acceptDeletes: 90 }]);
  });

  it('from the command line takes those that each target withholds', async () => {
    const { act, begun } = mirrorOf({ a: 34, b: 0 });
    expect(await act({})).toMatchObject([
      { ok: true, text: expect.stringContaining('Up to 34 deletions') },
      { ok: false, text: 'a in b: no deletions are withheld.' },
    ]);
    expect(begun).toMatchObject([{ places: [{ target: 'a' }], acceptDeletes: 34 }]);
  });
});

describe('what jobs do', () => {
  it('is told in a line where it is under way for many', async () => {
    const targets = Array.from({ length: 40 }, (_, n) => [`t${n}`, 0]);
    const { act } = mirrorOf(Object.fromEntries(targets), { isUnderWay: true });
    expect(await act({ do: 'compare', form: null })).toEqual([
      { ok: true, text: '1 form in 40 targets: such a pass runs already, or is about to.' },
    ]);
  });

  it('is refused at once while the queue is away, instead of waiting for it without a word', async () => {
    const { act, begun } = mirrorOf({ a: 30 }, { isReachable: false });
    for (const order of ['look', 'compare', 'retry', 'accept'] as const) {
      for (const form of [null, 'a']) {
        await expect(act({ do: order, form, target: 'a' })).rejects.toMatchObject({
          code: 'QUEUE_FAILED',
          message: expect.stringContaining('redis://queue'),
        });
      }
    }
    expect(begun).toEqual([]);
  });
});
