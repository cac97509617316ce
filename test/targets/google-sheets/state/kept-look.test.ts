import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idDigest, type LookRecord } from '../../../../src/mirror/look-record.ts';
import { type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

const AT = '2026-03-02T08:00:00.000Z';
/** As many as a page can show. */
const DIGESTS = new Set(Array.from({ length: 100 }, (_, n) => idDigest(`sub_${n}`)));

describe('the newest look in a spreadsheet', () => {
  let place: SheetsPlace;
  beforeEach(async () => {
    place = await sheetsPlace({});
  });
  afterEach(() => place.dispose());

  /** What another process gets to know of a look that found so many forms open. */
  async function keptOf(forms: number): Promise<LookRecord | null> {
    const open = Array.from({ length: forms }, (_, n) => `frm_${String(n).padStart(3, '0')}`);
    const newest = { digests: DIGESTS, oldest: AT };
    const others = { total: 1, statuses: new Map([['NEW', 1]]), besides: 'a1b2', newest };
    await (await place.open()).recordLook({ at: AT, open, others });
    return (await place.open()).lastLook();
  }

  it('L16: has a whole page of other forms beside some hundred of its own', async () => {
    expect((await keptOf(300))?.others?.newest).toEqual({ digests: DIGESTS, oldest: AT });
  });

  it('L16: where there is no room for that, is kept without', async () => {
    const kept = await keptOf(470);
    expect([kept?.open.length, kept?.others?.newest]).toEqual([470, null]);
  });
});
