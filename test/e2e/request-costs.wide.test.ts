import { describe, expect, it } from 'vitest';
import { CostPlace } from '../support/large-source/cost-place.ts';
import type { WorkspaceSize } from '../support/large-source/large-workspace.ts';
import { costOfDeletions, costOfStatuses, sortsOf } from '../support/large-source/request-costs.ts';
import { requestsOfPolls } from '../support/large-source/worker-costs.ts';
import type { ChildEnv, Finally } from '../support/child.ts';

/** The whole cost of a poll in which nothing happened, however many forms and targets there are. */
const QUIET = 8;

async function openPlace(
  onFinished: Finally,
  size: WorkspaceSize,
  env: ChildEnv = {},
): Promise<CostPlace> {
  const place = await CostPlace.open(size, env);
  onFinished(() => place[Symbol.asyncDispose]());
  return place;
}

const FORM = 'frm-1';

describe('costs, counted by a server that is not ours', { timeout: 300_000 }, () => {
  it('L16: a quiet poll of 50 forms and two targets takes a few requests, by hand and in a worker', async ({
    onTestFinished,
  }) => {
    const place = await openPlace(onTestFinished, { forms: 50, submissions: 1_000 });
    const targets = { TARGET_A_URL: place.fileUrl('a'), TARGET_B_URL: place.fileUrl('b') };
    // No comparison comes due by its age.
    const quiet = { RECONCILE_EVERY: '365d' };
    place.env = { ...place.env, ...targets, ...quiet, TARGET_URL: undefined, TARGETS: 'a,b' };
    await place.copyAll();
    const { log, code } = await place.sync();
    expect(code).toBe(0);
    process.stdout.write(`a quiet poll: ${sortsOf(log)}\n`);
    expect(log.length).toBeLessThanOrEqual(QUIET);
    // Ticks may follow each other more closely than their requests on a busy machine: each of several costs no more on average.
    const polls = await requestsOfPolls(place, 4, { SYNC_EVERY: '2s' });
    expect(polls.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(QUIET * polls.length);
  });

  it('L16: of 20,000 submissions, ten old ones with another status and five deleted are seen by the next poll', async ({
    onTestFinished,
  }) => {
    const place = await openPlace(onTestFinished, { forms: 1, submissions: 20_000 });
    await place.copyAll();
    const statuses = await costOfStatuses(place, FORM, 10);
    expect(statuses.seen).toBe(10);
    expect(statuses.requests).toBeLessThanOrEqual(150);
    const one = await costOfStatuses(place, FORM, 1);
    expect(one.seen).toBe(1);
    expect(one.requests).toBeLessThanOrEqual(40);
    const deleted = await costOfDeletions(place, FORM, 5);
    expect([deleted.seen, deleted.notFound]).toEqual([5, 5]);
    expect(deleted.requests).toBeLessThanOrEqual(120);
    expect(await place.differences()).toBe(0);
  });
});
