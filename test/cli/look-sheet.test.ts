import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { App } from '../../src/app.ts';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { openSheet } from '../support/cli-sheet.ts';
import { LookPlace, type LookPlaceOptions } from '../support/look-place.ts';
import { load } from '../support/settings.ts';
import { TestClock } from '../support/test-clock.ts';

const { signal } = new AbortController();

const untilAborted = async (stop: AbortSignal): Promise<void> => {
  if (!stop.aborted) await once(stop, 'abort');
};

/** A workspace of some forms, and a spreadsheet to mirror it into; the clock waits for nothing. */
async function openMirror(forms: number, options: LookPlaceOptions = {}) {
  const place = await LookPlace.open({ forms, each: 5, ...options });
  const { emulator, id: spreadsheetId, env: sheet } = await openSheet();
  const env = { ...place.env, ...sheet, MARK_STATUS: 'DONE' };
  const time = new TestClock(Date.UTC(2026, 5, 1));
  // Waits of the sheet's quota cost nothing, and no deadline of a look passes.
  const clock: Clock = {
    now: () => time.now(),
    sleep: (ms, stop) =>
      ms === 15_000 && stop !== undefined ? untilAborted(stop) : time.sleep(ms, stop),
  };
  const app = new App(load(env), { clock, logger: silentLogger });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const tick = async () => {
    await time.sleep(60_000);
    emulator.requests.clear();
    const plan = await app.plan(signal, { waitForTargets: true });
    const found = await app.look(plan.forms, signal);
    const { reads, writes } = emulator.requests.counts();
    const visited = found.forms
      .filter(({ visits }) => visits.length > 0)
      .map(({ form }) => form.id);
    const marked: string[] = [];
    for (const { form, visits, mark } of found.forms) {
      for (const { target, compareCounts } of visits) {
        const job = { formId: form.id, target, kind: 'incremental', compareCounts } as const;
        await app.pass(job, signal);
      }
      if ((mark || visits.length > 0) && (await app.mark(form.id, signal)) !== undefined) {
        marked.push(form.id);
      }
    }
    return { visited, marked, reads, writes };
  };
  return { place, emulator, spreadsheetId, tick };
}

describe('a look at a spreadsheet', () => {
  it('L16: takes a read of its structure, and the rows of two forms, however many there are', async () => {
    const { tick, place } = await openMirror(8);
    await tick();
    await tick();
    const quiet = await tick();
    expect([quiet.visited, quiet.marked]).toEqual([[], []]);
    expect(quiet.reads).toBeLessThanOrEqual(6);
    place.submit('f3');
    place.store.setStatus(place.oldest('f5'), 'PAID');
    expect((await tick()).visited).toEqual(['f3', 'f5']);
    expect((await tick()).visited).toEqual([]);
  });

  it.each([10, 15, 20, 25])(
    'L16: takes none of %s submissions, ten to a page, for new after a first pass',
    async (each) => {
      const { tick } = await openMirror(2, { each, behaviour: { maxLimit: 10 } });
      expect((await tick()).visited).toEqual(['f0', 'f1']);
      expect((await tick()).visited).toEqual([]);
    },
  );

  it('finds rows that people removed within some looks', async () => {
    const { tick, emulator, spreadsheetId } = await openMirror(8);
    await tick();
    await tick();
    const tab = emulator.inspect.tabs(spreadsheetId).find(({ title }) => title.includes('f6'));
    emulator.people.at(spreadsheetId, tab?.sheetId ?? 0).deleteRows(2);
    const visited: string[] = [];
    for (let n = 0; n < 4; n++) visited.push(...(await tick()).visited);
    expect(visited).toEqual(['f6']);
  });

  it('L17: has a form visited whose rows people copied, so that it is said', async () => {
    const { tick, emulator, spreadsheetId } = await openMirror(2);
    await tick();
    await tick();
    const tab = emulator.inspect.tabs(spreadsheetId).find(({ title }) => title.includes('f1'));
    emulator.people.at(spreadsheetId, tab?.sheetId ?? 0).duplicateRow(2);
    expect((await tick()).visited).toEqual(['f1']);
    expect((await tick()).visited).toEqual([]);
  });

  it('L9: follows a relabelled field', async () => {
    const { tick, place } = await openMirror(4);
    await tick();
    await tick();
    place.store.relabelField('f1', 'field_1_f1', 'Your name');
    expect((await tick()).visited).toEqual(['f1']);
    expect((await tick()).visited).toEqual([]);
  });

  it('L16: a protected cell costs no write a look, and follows within two looks once it may be written', async () => {
    const { tick, place, emulator, spreadsheetId } = await openMirror(3);
    await tick();
    await tick();
    const title = place.store.form('f2')?.name ?? '';
    const person = emulator.people.at(spreadsheetId, title);
    const grid = (): unknown[][] => emulator.inspect.grid(spreadsheetId, title);
    const status = grid()[0]?.indexOf('Status') ?? -1;
    const id = place.oldest('f2');
    const at = grid().findIndex((row) => row.includes(id));
    const range = person.protect({ top: at, bottom: at + 1 });
    place.store.setStatus(id, 'PAID');
    expect((await tick()).visited).toEqual(['f2']);
    await tick();
    // The counts differ for as long as the cell does, so each look comes back to it.
    for (const found of [await tick(), await tick(), await tick()]) {
      expect(found).toMatchObject({ visited: ['f2'], writes: 0 });
      expect(found.reads).toBeLessThanOrEqual(8);
    }
    expect(grid()[at]?.[status]).not.toBe('PAID');
    person.unprotect(range);
    await tick();
    await tick();
    expect(grid()[at]?.[status]).toBe('PAID');
    expect((await tick()).visited).toEqual([]);
  });
});
