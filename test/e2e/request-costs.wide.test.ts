import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ChildPlace } from '../support/child-place.ts';
import { MirrorView } from '../support/mirror-view.ts';
import {
  costOfDeletions,
  costOfStatuses,
  requestsDuring,
  requestsOfPolls,
  spreadStore,
  synced,
} from '../support/request-costs.ts';
import { breachesOf } from '../support/settled.ts';

/** The whole cost of a poll in which nothing happened, however many forms and targets there are. */
const QUIET = 8;
const FORM = 'frm-1';

describe('costs, counted by the source', { timeout: 300_000 }, () => {
  it('L16: a quiet poll of 50 forms and two targets takes a few requests, by hand and in a worker', async ({
    onTestFinished,
  }) => {
    const place = await ChildPlace.open(onTestFinished, { store: spreadStore(50, 1_000) });
    const file = (name: string): string => `sqlite:${join(place.folder, `${name}.sqlite`)}`;
    place.env = {
      ...place.env,
      TARGET_URL: undefined,
      TARGETS: 'a,b',
      TARGET_A_URL: file('a'),
      TARGET_B_URL: file('b'),
      // No comparison comes due by its age.
      RECONCILE_EVERY: '365d',
    };
    await synced(place);
    expect((await requestsDuring(place, () => synced(place))).length).toBeLessThanOrEqual(QUIET);
    // Polls may follow each other more closely than their requests on a busy machine: each of several costs no more on average.
    const polls = await requestsOfPolls(place, 2, { SYNC_EVERY: '1s' });
    expect(polls.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(QUIET * polls.length);
  });

  it('L16: of 20,000 submissions, ten old ones with another status and five deleted are seen by the next poll', async ({
    onTestFinished,
  }) => {
    const place = await ChildPlace.open(onTestFinished, { store: spreadStore(1, 20_000) });
    await synced(place);
    expect((await costOfStatuses(place, FORM, 10)).length).toBeLessThanOrEqual(150);
    expect((await costOfStatuses(place, FORM, 1)).length).toBeLessThanOrEqual(40);
    const deleted = await costOfDeletions(place, FORM, 5);
    expect(deleted.filter(({ status }) => status === 404)).toHaveLength(5);
    expect(deleted.length).toBeLessThanOrEqual(120);
    expect(await breachesOf(place.store, new MirrorView(place.targetUrl))).toEqual([]);
  });
});
