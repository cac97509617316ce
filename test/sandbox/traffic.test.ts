import { describe, expect, it } from 'vitest';
import { createSampleWorkspace } from '../../src/sandbox/sample-workspace.ts';
import { fieldsOf, FormsStore } from '../../src/sandbox/store.ts';
import { runTraffic } from '../../src/sandbox/traffic.ts';
import { TestClock } from '../support/test-clock.ts';

/** Lets this many events happen in a sample workspace. */
async function watch(events: number, seed: string, perMinute = 60) {
  const clock = new TestClock();
  const store = createSampleWorkspace({ clock, seed, submissions: 300 });
  const enough = new AbortController();
  const startedMs = clock.now();
  let seen = 0;
  const onEvent = (): void => void (++seen === events && enough.abort());
  await runTraffic(store, { clock, perMinute, onEvent, signal: enough.signal });
  return { store, minutes: (clock.now() - startedMs) / 60_000 };
}

const never = new AbortController().signal;
const sample = (seed: string): FormsStore =>
  createSampleWorkspace({ clock: new TestClock(), seed, submissions: 300 });
const labelsOf = (store: FormsStore): string[] =>
  store
    .forms()
    .flatMap(fieldsOf)
    .map(({ label }) => label);

describe('traffic', () => {
  it('has respondents who submit, colleagues who set statuses, and sometimes a relabel or a deletion', async () => {
    const { store } = await watch(600, 'a');
    const before = sample('a');
    const added = store.ids().filter((id) => before.get(id) === undefined);
    const deleted = before.ids().filter((id) => store.get(id) === undefined);
    expect(added.length).toBeGreaterThan(150);
    expect(deleted.length).toBeGreaterThan(0);
    const changed = before
      .all()
      .filter(({ id, status }) => (store.get(id)?.status ?? status) !== status);
    expect(changed.length).toBeGreaterThan(10);
    expect(labelsOf(store)).not.toEqual(labelsOf(before));
  });

  it('comes at its rate, on average', async () => {
    let minutes = 0;
    for (const seed of ['a', 'b', 'c', 'd']) minutes += (await watch(600, seed, 120)).minutes;
    expect(2_400 / minutes).toBeGreaterThan(110);
    expect(2_400 / minutes).toBeLessThan(130);
  });

  it('ends when stopped, when there is no form, and at once without a rate', async () => {
    const store = createSampleWorkspace({ submissions: 1 });
    await runTraffic(store, { perMinute: 0.001, signal: AbortSignal.abort() });
    await runTraffic(store, { perMinute: 0, signal: never });
    await runTraffic(new FormsStore(), { perMinute: 60, signal: never });
    expect(store.all().length).toBe(1);
  });
});
