import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

describe('an earlier version of the spreadsheet that people restored', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(150);
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  /** File › Version history: all of it becomes as it was, metadata included. */
  const version = (): (() => void) => {
    const file = mirror.place.sandbox.files.get(mirror.place.spreadsheetId);
    const kept = file.document.fork();
    return () => {
      file.document = kept.fork();
      file.revision++;
    };
  };
  const proven = async (): Promise<string | null | undefined> =>
    (await mirror.overview())?.checkpoint?.fullProvenAt;

  it.each([0, 1, 2])(
    'L17: is not said to have what a pass brought after it, whatever passes came since: %i',
    async (quiet) => {
      const before = (await proven()) ?? '';
      const restore = version();
      mirror.store.setAnswers('s2', { field_name: 'New name', field_age: 21 });
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 1 });
      for (let round = 0; round < quiet; round++) await mirror.pass('full');
      restore();
      expect(await mirror.pass()).toMatchObject({ outcome: 'ok' });
      expect(mirror.rowOf('s2')).toContain('Person 2');
      expect(((await proven()) ?? '') <= before).toBe(true);
      expect(await mirror.pass('full')).toMatchObject({ outcome: 'ok', updated: 1 });
      expect(await mirror.verify()).toMatchObject({ outcome: 'same' });
    },
  );
});
