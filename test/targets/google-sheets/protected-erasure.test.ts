import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Erasure } from '../../../src/mirror/erasure.ts';
import { SheetMirror } from './sheet-mirror.ts';

/* Columns of the tab: Submitted at, Status, Name, Age, Removed, Submission ID. Row 2 shows s0. */
const [ID, NAME, AGE, REMOVED] = [5, 2, 3, 4];

describe('L18: erasure where people protect cells', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(12);
    await mirror.pass('full');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const ids = (): unknown[] => mirror.grid().flatMap((row) => row[ID] ?? []);

  it('forgetting a protected row fails and says where it stands; the others are erased', async () => {
    const at = mirror.placeOf('s2');
    const range = mirror.person.protect({ top: at, bottom: at + 1, left: NAME, right: NAME + 1 });
    const forget = (): Promise<Erasure> =>
      mirror.write((writer) => writer.forget(['s2', 's4'], '2026-03-02T09:00:00.000Z'));
    await expect(forget()).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      retryable: false,
      message: expect.stringMatching(
        /^The row 4 of the tab "Contact" still holds data that was to be erased: it lies in the protected range \(C4\)\. 1 other row was erased\. Allow mirror@.* Then run the same command again\./,
      ),
    });
    expect(mirror.rowOf('s2')?.[NAME]).toBe('Person 2');
    expect(ids()).not.toContain('s4');
    expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0 });
    expect(ids()).not.toContain('s4');
    mirror.person.unprotect(range);
    expect(await forget()).toMatchObject({ rows: 1 });
    expect(ids()).not.toContain('s2');
    expect(JSON.stringify(mirror.grid())).not.toContain('Person 2"');
  });

  it('a protected cell that holds nothing keeps no row from being erased', async () => {
    mirror.person.protect({ left: REMOVED, right: REMOVED + 1 });
    expect(
      await mirror.write((writer) => writer.forget(['s2'], '2026-03-02T09:00:00.000Z')),
    ).toMatchObject({ rows: 1 });
    expect(ids()).not.toContain('s2');
  });

  it('an answer in a protected cell is not called emptied', async () => {
    const at = mirror.placeOf('s2');
    const range = mirror.person.protect({ top: at, bottom: at + 1 });
    const empty = (): Promise<number> =>
      mirror.write((writer) => writer.emptyFields(['field_age'], '2026-03-02T09:00:00.000Z'));
    await expect(empty()).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      message: expect.stringContaining('still holds data that was to be erased'),
    });
    expect(
      mirror
        .grid()
        .slice(1, 13)
        .map((row) => row[AGE] ?? null)
        .filter((age) => age !== null),
    ).toEqual([22]);
    mirror.person.unprotect(range);
    expect(await empty()).toBe(1);
  });
});
