import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EMULATOR_EMAIL } from '../../../../src/targets/google/credentials.ts';
import { pass } from '../../../contract/target-harness.ts';
import { SheetMirror } from '../sheet-mirror.ts';

const MINUTE_MS = 60_000;

describe('L17: a sheet claims no health that is not there', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin();
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  /** Health of the mirror, state and details of the form, as the Mirror tab shows them. */
  const shown = (): (string | undefined)[] => {
    const cells = mirror.shown();
    return [cells[0]?.[1], cells[6]?.[1], `${cells[6]?.[2]} ${cells[6]?.[3]}`];
  };
  const FAILED = ['The last pass failed', 'The last pass failed'];

  it('says so after a pass that met a deleted column of IDs, and is well again after the remedy', async () => {
    const healthy = shown().slice(0, 2);
    mirror.person.deleteColumns(5);
    const before = mirror.grid();
    expect((await mirror.pass()).outcome).toBe('failed');
    expect(mirror.grid()).toEqual(before);
    expect(shown()).toEqual([...FAILED, expect.stringMatching(/column of submission IDs.*Undo/)]);
    expect((await mirror.overview())?.lastPass).toMatchObject({
      outcome: 'failed',
      code: 'TARGET_FAILED',
    });
    mirror.person.deleteTab();
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 30 });
    expect(shown().slice(0, 2)).toEqual(healthy);
  });

  it('says so after a pass that met a tab protected as a whole', async () => {
    const healthy = shown().slice(0, 2);
    const range = mirror.person.protect({});
    mirror.submit(30);
    expect(await mirror.pass()).toMatchObject({ outcome: 'failed', code: 'TARGET_DENIED' });
    expect(shown()).toEqual([...FAILED, expect.stringMatching(/protected range.*Allow mirror@/)]);
    expect((await mirror.overview())?.lastPass?.code).toBe('TARGET_DENIED');
    mirror.person.unprotect(range);
    expect(await mirror.pass()).toMatchObject({ outcome: 'ok', inserted: 1 });
    expect(shown().slice(0, 2)).toEqual(healthy);
  });

  it('turns stale by itself where nothing can be written: the account may only read', async () => {
    mirror.place.sandbox.people.share(mirror.place.spreadsheetId, EMULATOR_EMAIL, 'reader');
    mirror.submit(30);
    expect(await mirror.pass()).toMatchObject({
      outcome: 'failed',
      code: 'TARGET_DENIED',
      error: expect.stringMatching(/may view the spreadsheet but not edit it.*as Editor/),
    });
    mirror.clock.advance(50 * MINUTE_MS);
    expect(shown().slice(0, 2)).toEqual(['Stale', 'Stale']);
  });

  it('speaks of no error after a pass that was stopped, or that waited for another one', async () => {
    const calm = shown();
    const at = new Date(mirror.clock.now()).toISOString();
    const times = { startedAt: at, endedAt: at };
    for (const [outcome, code, error] of [
      ['cancelled', 'CANCELLED', 'Stopped on request.'],
      ['busy', 'TARGET_BUSY', 'Another process is writing.'],
    ] as const) {
      const form = { id: 'frm_contact', slug: 'contact', name: 'Contact' };
      await using writer = await mirror.target.openWriter(form, { waitMs: 0 });
      await writer.finish(pass({ ...times, outcome, code, error }), {});
      expect(shown()).toEqual(calm);
    }
    expect(JSON.stringify(mirror.shown())).not.toMatch(/Stopped|Another process/);
  });

  it('names since when answers are compared: an incremental pass compares none', async () => {
    const [, , covered] = shown();
    expect(covered).toMatch(/^Answers as of 2026-03-02 08:0/);
    mirror.clock.advance(20 * MINUTE_MS);
    expect((await mirror.pass()).kind).toBe('incremental');
    expect(shown()[2]).toBe(covered);
    await mirror.pass('full');
    mirror.submit(30);
    await mirror.pass();
    expect(shown()[2]).toMatch(/^Answers as of 2026-03-02 08:2/);
  });
});
