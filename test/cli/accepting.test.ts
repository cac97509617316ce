import { describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { carryOut } from '../../src/cli/actions.ts';
import type { QueueRuntime } from '../../src/queue/runtime.ts';
import type { SyncOrder } from '../../src/queue/jobs.ts';
import type { ActionOrder } from '../../src/web/actions.ts';

const FORM = { id: 'frm_a', slug: 'a', name: 'Form A' };
const ACCEPT = { do: 'accept', form: 'a', target: 'a', by: 'ann' } as const;

/** A mirror of one form; each target holds this many deletions. */
function mirrorOf(held: Readonly<Record<string, number>>, isReachable = true) {
  const begun: SyncOrder[] = [];
  /** Targets into which a run is in progress. */
  const running = new Set<string>();
  const app = {
    logger: silentLogger,
    targetNames: Object.keys(held),
    planner: { planned: { places: Object.keys(held).map((target) => ({ form: FORM, target })) } },
    namesOf: (only: string | null) => (only === null ? Object.keys(held) : [only]),
    target: async (name: string) => ({
      store: {
        record: async () => null,
        read: async () => ({
          state: { tally: { held: held[name] } },
          [Symbol.asyncDispose]: async () => {},
        }),
      },
    }),
  };
  const queue = {
    status: async () => ({ isReachable, address: 'redis://queue' }),
    pollNow: () => (isReachable ? Promise.resolve() : new Promise<void>(() => {})),
    async runNow(orders: readonly SyncOrder[]) {
      const taken = orders.filter(({ target }) => !running.has(target));
      begun.push(...taken);
      return taken;
    },
  };
  const act = (order: Partial<ActionOrder>) =>
    carryOut(app as unknown as App, queue as unknown as QueueRuntime, {
      ...ACCEPT,
      count: null,
      ...order,
    });
  return { act, begun, running };
}

describe('accepting held deletions', () => {
  it('L8: accepts the number that a person has seen for one target, never for several', async () => {
    const { act, begun } = mirrorOf({ a: 90, b: 30 });
    await act({ count: 60, target: null });
    expect(begun).toEqual([]);
    await act({ count: 30, target: 'b' });
    expect(begun).toMatchObject([{ target: 'b', acceptDeletes: 30, isComparison: true }]);
    expect(await mirrorOf({ b: 0 }).act({ count: 30, target: 'b' })).toEqual([
      { ok: false, text: expect.stringContaining('0 deletions are held now') },
    ]);
  });

  it('L8: is refused at once if more are held now than the person saw', async () => {
    const { act, begun } = mirrorOf({ a: 90 });
    expect(await act({ count: 30 })).toEqual([
      { ok: false, text: expect.stringContaining('90 deletions are held now') },
    ]);
    expect(begun).toEqual([]);
    // Some submissions came back: the command accepts only the deletions that are held now.
    await act({ count: 100 });
    expect(begun).toMatchObject([{ acceptDeletes: 90 }]);
  });
});

describe('what jobs do', () => {
  it('L17: is promised only for the copies that no run is already reading', async () => {
    const { act, running } = mirrorOf({ a: 0, b: 0, c: 0 });
    running.add('b').add('c');
    expect(await act({ do: 'sync', form: FORM.id, target: null })).toEqual([
      { ok: true, text: '1 run begins as soon as a worker is free.' },
      { ok: true, text: '2 runs are in progress. The next poll finds later changes.' },
    ]);
  });

  it('is refused at once while the queue is unreachable, instead of waiting silently', async () => {
    const { act, begun } = mirrorOf({ a: 30 }, false);
    for (const order of ['sync', 'accept'] as const) {
      for (const form of [null, 'a']) {
        expect(await act({ do: order, form, target: 'a' })).toEqual([
          { ok: false, text: expect.stringContaining('The queue (redis://queue) does not answer') },
        ]);
      }
    }
    expect(begun).toEqual([]);
  });
});
