import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { jobHandlers } from '../../src/cli/job-handlers.ts';
import { newPause } from '../../src/mirror/pauses.ts';
import { LookPlace } from '../support/look-place.ts';

const BY = { since: '2026-03-01T08:00:00.000Z', by: 'a test', reason: null };

/** Pauses a form, or, for null, a target, as another process does. */
async function pause(place: LookPlace, formId: string | null, target = 'default'): Promise<void> {
  await using app = place.process();
  await (await app.target(target)).pause(newPause({ formId, ...BY }));
}

async function resume(place: LookPlace, formId: string | null, target = 'default'): Promise<void> {
  await using app = place.process();
  expect(await (await app.target(target)).resume(formId)).toMatchObject({ formId });
}

const rowsOf = (place: LookPlace, target: string) => place.differences(target);

describe('what people have paused', () => {
  it('is not written, and what came meanwhile arrives after it is resumed (L2)', async () => {
    const place = await LookPlace.open({ forms: 3 });
    await place.settle();
    await pause(place, 'f1');
    const [fresh, changed] = [place.submit('f1'), place.oldest('f1')];
    place.store.setStatus(changed, 'DONE');
    place.submit('f0');
    const { visited, look } = await place.tick();
    expect(visited.map((each) => each.replace(' !', ''))).toEqual(['f0 → default']);
    expect(look.settled.map(({ form }) => form.id)).toEqual(['f2']);
    for (let n = 0; n < 3; n++) expect((await place.tick()).visited).toEqual([]);
    // Nothing is claimed of it (L17).
    expect(await lookOf(place, 'default')).toMatchObject({ open: ['f1'] });
    expect(place.differences().toSorted()).toEqual([`f1 ${fresh}`, `f1 ${changed}`].toSorted());
    await resume(place, 'f1');
    await place.settle();
    expect(place.differences()).toEqual([]);
  });

  it('as a target keeps no other target from anything, and is not looked at', async () => {
    const place = await LookPlace.open({ forms: 3 });
    Object.assign(place.env, place.two());
    await place.settle();
    await pause(place, null, 'a');
    const before = await lookOf(place, 'a');
    for (const form of ['f0', 'f2']) place.submit(form);
    const { visited } = await place.tick();
    expect(visited.map((each) => each.replace(' !', ''))).toEqual(['f0 → b', 'f2 → b']);
    expect(rowsOf(place, 'b')).toEqual([]);
    expect(rowsOf(place, 'a')).toHaveLength(2);
    expect(await lookOf(place, 'a')).toEqual(before);
    await resume(place, null, 'a');
    await place.settle();
    expect(rowsOf(place, 'a')).toEqual([]);
  });

  it('costs a quiet tick no more than one that has nothing paused (L16)', async () => {
    const place = await LookPlace.open({ forms: 5 });
    await place.settle();
    await pause(place, 'f3');
    await place.tick();
    const { requests, visited } = await place.tick();
    expect(visited).toEqual([]);
    expect(requests).toBeLessThanOrEqual(8);
    // Though nothing changed in it, nobody has looked (L17).
    expect(await lookOf(place, 'default')).toMatchObject({ open: ['f3'] });
  });

  it('ends a pass as `paused`: nothing is recorded, and no failure is kept', async () => {
    const place = await LookPlace.open({ forms: 1 });
    await place.settle();
    await pause(place, 'f0');
    place.submit('f0');
    await using app = place.process();
    const { signal } = new AbortController();
    const passes = async () => (await (await app.target('default')).reader('f0'))?.passes(10);
    const before = await passes();
    for (const kind of ['incremental', 'full'] as const) {
      const report = await app.pass({ formId: 'f0', target: 'default', kind }, signal);
      expect(report).toMatchObject({ outcome: 'paused', code: 'PAUSED', inserted: 0 });
      expect(report.error).toContain('forms-mirror resume --form f0 --target default');
    }
    expect(await passes()).toEqual(before);
    expect((await app.failures.read()).passes).toEqual([]);
    const job = { formId: 'f0', target: 'default', kind: 'full' } as const;
    expect(await jobHandlers(app).pass(job, signal)).toBe('paused');
  });

  it('in the middle of a pass ends it before its next batch; it goes on where it was', async () => {
    const place = await LookPlace.open({ forms: 1, each: 6_000 });
    let nowMs = systemClock.now();
    const clock = { ...systemClock, now: () => nowMs };
    let pages = 0;
    place.onRequest = ({ path }) => {
      if (!path.startsWith('/submissions')) return;
      // A slow source: by the next page some seconds have gone by, and a person has paused the form.
      nowMs += 3_000;
      if (++pages === 40)
        place.sql(`INSERT INTO mirror_pauses VALUES ('f0', '${BY.since}', 'me', NULL)`);
    };
    const { signal } = new AbortController();
    {
      await using app = place.process({}, clock);
      const report = await app.pass({ formId: 'f0', target: 'default', kind: 'full' }, signal);
      expect(report).toMatchObject({ outcome: 'paused', code: 'PAUSED' });
      expect(report.inserted).toBeGreaterThan(0);
      expect(report.inserted).toBeLessThan(6_000);
    }
    {
      await using app = place.process();
      const reader = await (await app.target('default')).reader('f0');
      expect(await reader?.passes(10)).toEqual([]);
    }
    const left = place.differences().length;
    expect(left).toBeGreaterThan(0);
    expect((await place.tick()).visited).toEqual([]);
    expect(place.differences()).toHaveLength(left);
    await resume(place, 'f0');
    await place.settle();
    expect(place.differences()).toEqual([]);
  });

  it('is not compared row by row, and what is not paused is', async () => {
    const place = await LookPlace.open({ forms: 2 });
    await place.settle();
    await pause(place, 'f0');
    const later = systemClock.now() + 7 * 3_600_000;
    await using app = place.process();
    const { signal } = new AbortController();
    await app.plan(signal, { waitForTargets: true });
    const handlers = jobHandlers(app, { ...systemClock, now: () => later });
    const due = await handlers.comparisons([], signal);
    expect(due.map(({ formId }) => formId)).toEqual(['f1']);
  });

  it('is not marked at the source, nor is what another target holds of it (L7)', async () => {
    const place = await LookPlace.open({ forms: 2, each: 3 });
    Object.assign(place.env, place.two());
    await place.settle();
    await pause(place, 'f0', 'a');
    const marking = { MARK_STATUS: 'DONE' };
    const { marked } = await place.tick(marking);
    expect(marked).toEqual(['f1']);
    const statuses = (formId: string): string[] =>
      [...place.store.all(formId)].map(({ status }) => status);
    expect(new Set(statuses('f0'))).toEqual(new Set(['NEW']));
    expect(new Set(statuses('f1'))).toEqual(new Set(['DONE']));
    await using app = place.process(marking);
    const report = await app.mark('f0', new AbortController().signal);
    expect(report).toMatchObject({ outcome: 'paused', marked: 0, failure: { code: 'PAUSED' } });
    expect(new Set(statuses('f0'))).toEqual(new Set(['NEW']));
    await resume(place, 'f0', 'a');
    await place.tick(marking);
    expect(new Set(statuses('f0'))).toEqual(new Set(['DONE']));
  });
});

async function lookOf(place: LookPlace, target: string): Promise<unknown> {
  await using app = place.process();
  return await (await app.target(target)).lastLook();
}
