import { describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

describe('L17: a spreadsheet whose time zone people change', () => {
  it.each(['Pacific/Auckland', 'America/Los_Angeles'])(
    'has all times in the new one after the next pass, which says why: %s',
    async (zone) => {
      // More than the page that an incremental pass reads.
      await using mirror = await SheetMirror.begin(130);
      await mirror.pass('full');
      const successOf = (): string | undefined => mirror.shown()[6]?.[7];
      const before = successOf();
      mirror.person.setTimeZone(zone);
      mirror.target = await mirror.place.openElsewhere();
      expect(await mirror.pass()).toMatchObject({
        kind: 'full',
        outcome: 'ok',
        updated: 130,
        reason:
          'The spreadsheet has another time zone than when its times were written; everything is read again.',
      });
      expect(await mirror.verify()).toMatchObject({ outcome: 'same' });
      // A mirror that dies from now on shows as stale in time.
      expect(mirror.shown()[0]?.[1]).toBe('All submissions at last success');
      expect(successOf()).not.toBe(before);
      mirror.clock.advance(46 * 60_000);
      expect(mirror.shown()[0]?.[1]).toBe('Stale');
      for (let round = 0; round < 2; round++) {
        expect(await mirror.pass()).toMatchObject({ kind: 'incremental', reason: null });
      }
      mirror.place.sandbox.requests.clear();
      expect(await mirror.pass()).toMatchObject({ kind: 'incremental', reason: null });
      expect(mirror.place.sandbox.requests.counts()).toEqual({ reads: 2, writes: 0 });
    },
  );
});
