import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Target } from '../../../../src/mirror/target.ts';
import { newPause } from '../../../../src/mirror/pauses.ts';
import { AT_ONCE, CHECKPOINT, FORM, NAME, pass, row } from '../../../contract/target-harness.ts';
import { SleepersClock, type SheetsPlace, sheetsPlace } from '../sheets-place.ts';

const MINUTE_MS = 60_000;
const OTHER = { id: 'frm_2', slug: 'other', name: 'Other' };

describe('what people have paused in a sheet', () => {
  let place: SheetsPlace;
  let clock: SleepersClock;
  let target: Target;

  beforeEach(async () => {
    clock = new SleepersClock('2026-03-02T08:00:00.000Z');
    place = await sheetsPlace({ clock });
    target = await place.open();
    for (const form of [FORM, OTHER]) await write(target, form);
  });
  afterEach(() => place.dispose());

  const now = (): string => new Date(clock.now()).toISOString();
  const paused = (formId: string | null, reason: string | null = null) =>
    newPause({ formId, since: now(), by: 'ann', reason });

  async function write(on: Target, form: typeof FORM): Promise<void> {
    await using writer = await on.openWriter(form, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('a')], []);
    const checkpoint = { ...CHECKPOINT, hidden: 0, provenAt: now() };
    await writer.finish(pass({ startedAt: now(), endedAt: now() }), { checkpoint });
  }

  const shown = (): string[][] => place.sandbox.inspect.shown(place.spreadsheetId, 'Mirror');
  const health = (): string | undefined => shown()[0]?.[1];
  const stateOf = (name: string): (string | undefined)[] =>
    shown()
      .find(([text]) => text === name)
      ?.slice(1, 4) ?? [];

  it('stands on the Mirror tab at once, and is never called stale, however long', async () => {
    await target.pause(paused(FORM.id, 'The columns are being sorted'));
    const title = 'Paused since 2026-03-02 08:00:00 UTC by ann';
    expect(stateOf(FORM.name)).toEqual([
      title,
      'The columns are being sorted',
      'To go on: forms-mirror resume --form frm_1 --target default',
    ]);
    expect(health()).toBe(title);
    clock.advance(300 * MINUTE_MS);
    expect(stateOf(FORM.name)[0]).toBe(title);
    expect(stateOf(OTHER.name)[0]).toBe('Stale');
    await target.resume(FORM.id);
    expect(stateOf(FORM.name)[0]).toBe('Stale');
    await write(target, FORM);
    expect(stateOf(FORM.name)[0]).toBe('All submissions at last success');
  });

  it('is kept in full while another process is in the middle of a pass', async () => {
    const elsewhere = await place.openElsewhere();
    await using writer = await elsewhere.openWriter(OTHER, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('b')], []);
    await target.pause(paused(null));
    expect(await target.pauses()).toMatchObject([{ formId: null, by: 'ann' }]);
    await writer.apply([row('c')], []);
    clock.advance(11_000);
    expect(await elsewhere.pauses()).toMatchObject([{ formId: null, by: 'ann' }]);
    const checkpoint = { ...CHECKPOINT, provenAt: now() };
    await writer.finish(pass({ startedAt: now(), endedAt: now() }), { checkpoint });
    expect(stateOf(OTHER.name)[0]).toMatch(/^Paused since/);
  });

  it('holds also where people protect the Mirror tab', async () => {
    place.sandbox.people.at(place.spreadsheetId, 'Mirror').protect({ left: 1 });
    await target.pause(paused(FORM.id));
    expect(await target.pauses()).toHaveLength(1);
    await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({ code: 'PAUSED' });
    expect(await target.resume(FORM.id)).toMatchObject({ by: 'ann' });
  });

  it('has no room for form after form: that says so, and keeps what there is', async () => {
    const reason = 'x'.repeat(200);
    let kept = 0;
    const failure = await (async () => {
      for (; kept < 200; kept++) await target.pause(paused(`frm_${kept}`, reason));
      return undefined;
    })().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'TARGET_FULL' });
    expect(kept).toBeGreaterThan(25);
    expect(await target.pauses()).toHaveLength(kept);
    await target.resume('frm_0');
    await target.pause(paused(null, reason));
  });

  it('reads of it cost no call that is not made anyway', async () => {
    await target.overview();
    place.sandbox.requests.clear();
    await target.pauses();
    expect(place.sandbox.requests.counts()).toEqual({ reads: 0, writes: 0 });
  });
});
