import { describe, expect, it } from 'vitest';
import type { RequestInfo } from '../../src/sandbox/forms-api/sandbox.ts';
import { FIELD, FORM, SyncPlace } from '../support/sync-place.ts';

// Each of these has made some program that pages through a list lose rows, loop or empty a copy.

const pageOf = ({ path, query }: RequestInfo): number =>
  path === '/submissions' ? Number(query.get('page') ?? 1) : 0;

/** Does something when page `page` is first requested. */
function onPage(place: SyncPlace, page: number, act: () => void): void {
  let done = false;
  place.onRequest = (request) => {
    if (done || pageOf(request) !== page) return;
    done = true;
    act();
  };
}

const ORDERS = ['newest', 'oldest', 'insertion', 'id'] as const;

describe('a list that moves between two requests', () => {
  it.each(
    ORDERS.flatMap((baseOrder) =>
      (['first', 'later'] as const).map((which) => ({ baseOrder, which })),
    ),
  )(
    'L2: a delete on a page already read, $which pass in parallel, list by $baseOrder',
    async ({ baseOrder, which }) => {
      const behaviour = { sort: 'ignored', baseOrder } as const;
      const place = await SyncPlace.open({ submissions: 650, behaviour });
      if (which === 'later') {
        await place.pass('full');
        place.submitMany(300);
      }
      const ids = place.store.ids(FORM);
      // Something of page 1, and a page after which new items may be missed.
      const victim = {
        newest: ids.at(-2),
        oldest: ids[1],
        insertion: ids[1],
        id: ids.toSorted()[0],
      };
      const page = which === 'first' ? 6 : baseOrder === 'newest' ? 3 : 9;
      onPage(place, page, () => place.store.delete(victim[baseOrder]!));
      const report = await place.pass('full');
      expect(report.outcome).toBe('ok');
      expect(place.liveIds()).toEqual(expect.arrayContaining(place.sourceIds()));
      expect((await place.pass('full')).outcome).toBe('ok');
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it.each(ORDERS)('L2: an insert at the head, list by %s', async (baseOrder) => {
    const behaviour = { sort: 'ignored', baseOrder } as const;
    const place = await SyncPlace.open({ submissions: 650, behaviour });
    const before = place.sourceIds();
    onPage(place, 3, () => place.submitMany(2));
    const report = await place.pass('full');
    expect(report.outcome).toBe('ok');
    expect(place.liveIds()).toEqual(expect.arrayContaining(before));
    expect(report.inserted).toBe(place.liveIds().length);
    expect((await place.pass('incremental')).outcome).toBe('ok');
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L2: an insert and a delete between the same two requests, total unchanged', async () => {
    const place = await SyncPlace.open({ submissions: 650 });
    const [victim, ...others] = place.store.ids(FORM).toReversed();
    onPage(place, 6, () => {
      place.store.delete(victim!);
      place.submit();
    });
    expect((await place.pass('full')).outcome).toBe('ok');
    expect(place.liveIds()).toEqual(expect.arrayContaining(others));
  });

  it('a list that never stops changing ends the pass unproven: checkpoint and deletions stay as they were', async () => {
    const place = await SyncPlace.open({ submissions: 450 });
    await place.pass('full');
    const gone = place.store.ids(FORM)[0]!;
    place.store.delete(gone);
    place.onRequest = (request) => {
      if (pageOf(request) === 0) return;
      place.submitMany(40);
      place.store.delete(place.store.ids(FORM).at(-30)!);
    };
    const report = await place.pass('full');
    expect(report.outcome).toBe('incomplete');
    expect(report.error).toContain('without proof');
    expect(report.requests).toBeLessThan(1_000);
    expect(place.liveIds()).toContain(gone);
    place.onRequest = () => {};
    expect((await place.pass('incremental')).outcome).toBe('ok');
    expect(place.liveIds()).toEqual(expect.arrayContaining(place.sourceIds()));
  });
});

describe('equal timestamps', () => {
  it.each(['stable', 'shuffled'] as const)(
    'L3: 300 submissions of one instant, ties %s, and five more of it later',
    async (ties) => {
      const place = await SyncPlace.open({ submissions: 20, behaviour: { ties } });
      const createdAt = place.store.now() + 60_000;
      place.submitMany(300, { createdAt });
      const first = await place.pass('full');
      expect([first.outcome, first.inserted]).toEqual(['ok', 320]);
      place.submitMany(5, { createdAt });
      const second = await place.pass('incremental');
      expect([second.outcome, second.inserted]).toEqual(['ok', 5]);
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it('L3: ties in a new order each time, while statuses change during the sweep by status', async () => {
    const place = await SyncPlace.open({ behaviour: { ties: 'shuffled' } });
    const ids = place.submitMany(450, { createdAt: Date.UTC(2026, 2, 1) });
    const statuses = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'];
    for (const [index, id] of ids.entries()) place.store.setStatus(id, statuses[index % 6]!);
    let moved = 0;
    place.onRequest = ({ query }) => {
      // From a list that is still to be read into one that was read: trusting the six lists would miss it.
      if (query.get('status') !== null) place.store.setStatus(ids[moved++ * 6 + 5]!, 'NEW');
    };
    const report = await place.pass('full');
    expect(['ok', 'incomplete']).toContain(report.outcome);
    const stored = place.view().rows(FORM);
    const missed = place.sourceIds().filter((id) => !stored.has(id));
    expect(report.outcome === 'ok' ? missed : []).toEqual([]);
    expect(moved).toBeGreaterThan(0);
    place.onRequest = () => {};
    expect((await place.pass('full')).outcome).toBe('ok');
    expect(place.liveIds()).toEqual(place.sourceIds());
  });
});

describe('dateFrom', () => {
  const unordered = { sort: 'ignored', baseOrder: 'id' } as const;

  it.each([
    { dateGrain: 'day', dateFrom: 'exclusive' } as const,
    { dateFilter: 'ignored' } as const,
    { dateFilter: 'refused' } as const,
    { dateStamp: 'updated', dateFrom: 'exclusive' } as const,
  ])('L3: %j in an unordered list: the incremental pass finds all that is new', async (reading) => {
    const behaviour = { ...unordered, ...reading };
    const place = await SyncPlace.open({ submissions: 450, behaviour });
    expect((await place.pass('full')).outcome).toBe('ok');
    place.wait(3 * 3_600_000);
    place.submitMany(7);
    const sameDay = await place.pass('incremental');
    expect([sameDay.outcome, sameDay.inserted]).toEqual(['ok', 7]);
    place.wait(30 * 86_400_000);
    place.submitMany(120);
    const later = await place.pass('incremental');
    expect([later.outcome, later.inserted]).toEqual(['ok', 120]);
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('day-granular and exclusive, it saves reading the whole of a long unordered list', async () => {
    const behaviour = { ...unordered, dateGrain: 'day', dateFrom: 'exclusive' } as const;
    const place = await SyncPlace.open({ behaviour });
    for (let n = 0; n < 2_000; n++) {
      place.wait(2 * 3_600_000);
      place.submit();
    }
    await place.pass('full');
    place.submitMany(3);
    const report = await place.pass('incremental');
    expect([report.outcome, report.kind, report.inserted]).toEqual(['ok', 'incremental', 3]);
    expect(report.requests).toBeLessThanOrEqual(5);
  });

  it.each([
    { list: 'newest first', behaviour: {} },
    { list: 'oldest first', behaviour: { sort: 'ignored', baseOrder: 'oldest' } as const },
    { list: 'unordered', behaviour: unordered },
  ])(
    'L2: an import of old dates, along with new ones, is found by the next incremental pass: $list',
    async ({ behaviour }) => {
      const place = await SyncPlace.open({ behaviour });
      for (let n = 0; n < 450; n++) {
        // So that a page spans days, and no import is dated near the others.
        place.wait(3_600_000);
        place.submit();
      }
      await place.pass('full');
      const imported = place.submitMany(4, { createdAt: Date.UTC(2019, 0, 1) });
      place.submitMany(2);
      const report = await place.pass('incremental');
      expect([report.outcome, report.inserted]).toEqual(['ok', 6]);
      expect(place.liveIds()).toEqual(expect.arrayContaining(imported));
    },
  );
});

describe('a server that returns page 1 for every page', () => {
  it.each(['ignored', 'echoed'] as const)(
    'L8: page %s: is named, not looped over, and nothing is taken for deleted',
    async (submissionsPage) => {
      const place = await SyncPlace.open({ submissions: 450 });
      await place.pass('full');
      const before = place.liveIds();
      place.sandbox.behave({ submissionsPage });
      place.submitMany(150);
      for (const kind of ['full', 'incremental'] as const) {
        const report = await place.pass(kind);
        expect([report.outcome, report.failure?.code]).toEqual(['failed', 'FORMS_PAGE_IGNORED']);
        expect(report.error).toContain('"page" is ignored');
        expect(report.requests).toBeLessThanOrEqual(10);
        expect(place.liveIds()).toEqual(expect.arrayContaining(before));
      }
      place.sandbox.behave({ submissionsPage: 'honoured' });
      expect((await place.pass('incremental')).outcome).toBe('ok');
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );
});

describe('cost over a quiet source', () => {
  it.each([0, 1, 99, 100, 101, 200, 250, 1_000, 1_250])(
    'of %d submissions: a proven full pass takes ceil(n/100) plus at most 3 requests, an incremental one at most 3',
    async (submissions) => {
      const place = await SyncPlace.open({ submissions });
      for (let pass = 0; pass < 2; pass++) {
        const full = await place.pass('full');
        expect(full.outcome).toBe('ok');
        expect(full.requests).toBeLessThanOrEqual(Math.ceil(submissions / 100) + 3);
      }
      const incremental = await place.pass('incremental');
      expect([incremental.outcome, incremental.kind]).toEqual(['ok', 'incremental']);
      expect(incremental.requests).toBeLessThanOrEqual(3);
    },
  );

  it('L4: nothing changes in the table when nothing changed at the source', async () => {
    const place = await SyncPlace.open({ submissions: 250 });
    await place.pass('full');
    const before = [...place.view().rows(FORM)];
    for (const kind of ['full', 'incremental'] as const) {
      const report = await place.pass(kind);
      expect([report.inserted, report.updated, report.deleted]).toEqual([0, 0, 0]);
    }
    expect([...place.view().rows(FORM)]).toEqual(before);
    expect([...place.view().columns(FORM).keys()]).toEqual([FIELD]);
  });
});
