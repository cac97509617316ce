import { describe, expect, it } from 'vitest';
import { ChildPlace } from '../support/child-place.ts';
import { MirrorView } from '../support/mirror-view.ts';
import { costOfDeletions, costOfStatuses, spreadStore, synced } from '../support/request-costs.ts';
import { breachesOf } from '../support/settled.ts';

const FORM = 'frm-1';

describe('costs, counted by the source', { timeout: 300_000 }, () => {
  it('L16: among 20,000 submissions, the next poll finds ten old ones with another status and five deleted ones', async () => {
    const place = await ChildPlace.open({ store: spreadStore(1, 20_000) });
    await synced(place);
    expect((await costOfStatuses(place, FORM, 10)).length).toBeLessThanOrEqual(150);
    expect((await costOfStatuses(place, FORM, 1)).length).toBeLessThanOrEqual(40);
    const deleted = await costOfDeletions(place, FORM, 5);
    expect(deleted.filter(({ status }) => status === 404)).toHaveLength(5);
    expect(deleted.length).toBeLessThanOrEqual(120);
    expect(await breachesOf(place.store, new MirrorView(place.targetUrl))).toEqual([]);
  });
});
