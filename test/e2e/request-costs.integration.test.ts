import { describe, expect, it } from 'vitest';
import { CostPlace } from '../support/large-source/cost-place.ts';
import type { WorkspaceSize } from '../support/large-source/large-workspace.ts';
import { costOfKill } from '../support/large-source/request-costs.ts';
import type { Finally } from '../support/child.ts';

async function openPlace(onFinished: Finally, size: WorkspaceSize): Promise<CostPlace> {
  const place = await CostPlace.open(size);
  onFinished(() => place[Symbol.asyncDispose]());
  return place;
}

describe('what it costs, counted by a server that is not ours', { timeout: 300_000 }, () => {
  it('L5: a backfill that was killed reads no proven window again', async ({ onTestFinished }) => {
    const place = await openPlace(onTestFinished, { forms: 1, submissions: 60_000 });
    const { before, after, again } = await costOfKill(place, 380);
    expect(before).toBeGreaterThan(380);
    expect(after).toBeLessThanOrEqual(450);
    // The window in hand, and what is asked at the beginning and the end.
    expect(again).toBeLessThanOrEqual(230);
  });
});
