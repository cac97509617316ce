import { describe, expect, it } from 'vitest';
import { SyncPlace } from '../support/sync-place.ts';

describe('an absurd number of pages', () => {
  it.each(['newest', 'oldest', 'id'] as const)(
    'L14: does not make a pass longer, list by %s',
    async (baseOrder) => {
      const counts = [];
      for (const totalPages of ['counted', 'absurd'] as const) {
        const behaviour = { totalPages, baseOrder, sort: 'ignored' } as const;
        const place = await SyncPlace.open({ submissions: 250, behaviour });
        const first = await place.pass('full');
        const again = await place.pass('full');
        place.submitMany(3);
        const later = await place.pass('incremental');
        expect([first, again, later].map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
        expect(place.liveIds()).toEqual(place.sourceIds());
        counts.push([first, again, later].map(({ requests }) => requests));
      }
      expect(counts[1]).toEqual(counts[0]);
    },
  );
});
