import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../../../src/sandbox/forms-api/workspace-forms.ts';
import { createSampleWorkspace } from '../../../src/sandbox/forms-api/sample-workspace.ts';
import { FormsStore } from '../../../src/sandbox/forms-api/store.ts';
import { startTraffic, type TrafficEvent } from '../../../src/sandbox/forms-api/traffic.ts';
import { TestClock } from '../../support/test-clock.ts';

/** Lets so many things happen in a sample workspace. */
async function watch(events: number, seed: number | string = 1, perMinute = 60) {
  const clock = new TestClock();
  const store = createSampleWorkspace({ clock, seed: 'traffic', submissions: 300 });
  const seen: (TrafficEvent & { atMs: number })[] = [];
  const enough = new AbortController();
  const onEvent = (event: TrafficEvent): void => {
    seen.push({ ...event, atMs: clock.now() });
    if (seen.length === events) enough.abort();
  };
  await startTraffic(store, { clock, seed, perMinute, onEvent, signal: enough.signal }).ended;
  return { store, seen, clock };
}

describe('traffic', () => {
  it('has respondents submit, colleagues set statuses, and now and then a relabel or a delete', async () => {
    const { seen } = await watch(400);
    const kinds = Object.groupBy(seen, ({ kind }) => kind);
    expect(kinds.submitted?.length).toBeGreaterThan(150);
    expect(kinds.status?.length).toBeGreaterThan(80);
    expect(kinds.relabelled?.length).toBeGreaterThan(3);
    expect(kinds.deleted?.length).toBeGreaterThan(3);
  });

  it('does what it says', async () => {
    const { store, seen } = await watch(200);
    const removed = new Set(
      seen.filter(({ kind }) => kind === 'deleted').map((event) => event.submissionId),
    );
    for (const { kind, formId, submissionId = '' } of seen) {
      if (kind === 'relabelled') continue;
      expect(store.get(submissionId)?.formId).toBe(removed.has(submissionId) ? undefined : formId);
    }
    const untouched = createSampleWorkspace({
      clock: new TestClock(),
      seed: 'traffic',
      submissions: 300,
    });
    const labels = (one: FormsStore) =>
      one
        .forms()
        .flatMap(fieldsOf)
        .map(({ label }) => label);
    expect(labels(store)).not.toEqual(labels(untouched));
    const submitted = seen.filter(({ kind }) => kind === 'submitted').length;
    expect(store.count()).toBe(300 + submitted - removed.size);
  });

  it('is the same for the same seed', async () => {
    expect((await watch(50, 'a')).seen).toEqual((await watch(50, 'a')).seen);
    expect((await watch(50, 'a')).seen).not.toEqual((await watch(50, 'b')).seen);
  });

  it('comes at its rate, on average', async () => {
    const { seen } = await watch(600, 1, 120);
    const minutes = ((seen.at(-1)?.atMs ?? 0) - (seen[0]?.atMs ?? 0)) / 60_000;
    expect(600 / minutes).toBeGreaterThan(90);
    expect(600 / minutes).toBeLessThan(130);
  });

  it('ends when stopped, when there is no form, and at once without a rate', async () => {
    const store = createSampleWorkspace({ submissions: 1 });
    const running = startTraffic(store, { perMinute: 0.001 });
    await running.stop();
    await startTraffic(store, { perMinute: 0 }).ended;
    await startTraffic(new FormsStore(), { clock: new TestClock() }).ended;
    expect(store.count()).toBe(1);
  });

  it('rejects with an error of its listener', async () => {
    const { ended } = startTraffic(createSampleWorkspace(), {
      clock: new TestClock(),
      onEvent: () => {
        throw new Error('from the listener');
      },
    });
    await expect(ended).rejects.toThrow('from the listener');
  });
});
