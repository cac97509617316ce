import { describe, expect, it, onTestFinished } from 'vitest';
import type { Target } from '../../../../src/mirror/target.ts';
import { AT_ONCE, FORM, NAME, row } from '../../../contract/target-harness.ts';
import { sheetsPlace, SleepersClock } from '../sheets-place.ts';

/** A sheet that two processes work on, by one clock. */
async function twoProcesses(): Promise<{ clock: SleepersClock; one: Target; other: Target }> {
  const clock = new SleepersClock();
  const place = await sheetsPlace({ clock });
  onTestFinished(() => place.dispose());
  const one = await place.open();
  await using writer = await one.openWriter(FORM, AT_ONCE);
  await writer.prepare([NAME]);
  await writer.apply([row('a')], []);
  clock.advance(60_000);
  return { clock, one, other: await place.openElsewhere() };
}

describe('L13: the lease on marking a form', () => {
  it('keeps another process out for as long as its holder shows that it lives', async () => {
    const { clock, one, other } = await twoProcesses();
    await using lock = await one.lockMarking(FORM.id);
    for (let round = 0; round < 5; round++) {
      expect(await other.lockMarking(FORM.id)).toBeUndefined();
      clock.advance(60_000);
      await lock?.assertHeld();
    }
  });

  it('is free at once when its holder gives it back', async () => {
    const { one, other } = await twoProcesses();
    await (await one.lockMarking(FORM.id))?.[Symbol.asyncDispose]();
    await using second = await other.lockMarking(FORM.id);
    expect(second).toBeDefined();
  });

  it('ends two minutes after a holder that died, and one that only slept is told', async () => {
    const { clock, one, other } = await twoProcesses();
    await using lock = await one.lockMarking(FORM.id);
    clock.advance(115_000);
    expect(await other.lockMarking(FORM.id)).toBeUndefined();
    clock.advance(10_000);
    await using second = await other.lockMarking(FORM.id);
    await second?.assertHeld();
    await expect(lock?.assertHeld()).rejects.toMatchObject({ code: 'TARGET_LOST_LOCK' });
  });

  it('takes no form away from a pass of another process', async () => {
    const { clock, one, other } = await twoProcesses();
    await using writer = await one.openWriter(FORM, AT_ONCE);
    await writer.prepare([NAME]);
    await writer.apply([row('b')], []);
    clock.advance(60_000);
    await using lock = await other.lockMarking(FORM.id);
    expect(lock).toBeDefined();
    const { outcomes } = await writer.apply([row('c')], []);
    expect(outcomes).toEqual(['inserted']);
    await lock?.assertHeld();
  });
});
