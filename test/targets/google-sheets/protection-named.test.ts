import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SheetMirror } from './sheet-mirror.ts';

const FORM_ID = 'frm_contact';

describe('what is in the way is named where people look', () => {
  let mirror: SheetMirror;
  beforeEach(async () => {
    mirror = await SheetMirror.begin(12);
    await mirror.pass('full');
  });
  afterEach(() => mirror[Symbol.asyncDispose]());

  const protectRowOf = (id: string): number => {
    const at = mirror.placeOf(id);
    return mirror.person.protect({ top: at, bottom: at + 1 });
  };
  const shown = (): string => mirror.shown().flat().join('\n');

  it('L17: the Mirror tab shows it with the end of the very pass that met it, and no longer once it is gone', async () => {
    const range = protectRowOf('s3');
    mirror.store.setStatus('s3', 'PAID');
    expect(await mirror.pass('full')).toMatchObject({ inserted: 0, updated: 0, rejected: 1 });
    expect(shown()).toContain('the protected range (5:5) keeps forms-mirror from writing');
    // Nothing is to be corrected at the source.
    expect(mirror.shown().find((line) => line[1] === 's3')?.[3]).toBe(
      'The line about what is in the way says what to do; this follows by itself.',
    );
    expect(mirror.shown()[0]?.[1]).toBe('All submissions but those listed, at last success');
    mirror.place.sandbox.requests.clear();
    await mirror.pass('full');
    expect(mirror.place.sandbox.requests.counts().writes).toBe(0);
    mirror.person.unprotect(range);
    await mirror.pass();
    expect(shown()).not.toContain('protected range');
    expect(mirror.shown()[0]?.[1]).toBe('All submissions at last success');
  });

  it('a row with so many cells in the way that no listing holds their names: it follows all the same', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `field_${index}`);
    for (const [index, id] of ids.entries()) {
      const label = `Question ${index} ${'of a long form '.repeat(18)}`;
      mirror.store.addField(FORM_ID, { id, label });
    }
    await mirror.pass('full');
    const range = protectRowOf('s3');
    mirror.store.setAnswers('s3', Object.fromEntries(ids.map((id) => [id, `an answer to ${id}`])));
    expect(await mirror.pass('full')).toMatchObject({ updated: 0, rejected: 1 });
    const reader = await mirror.target.reader(FORM_ID);
    const [listed] = (await reader?.rejections(10))?.items ?? [];
    expect(listed?.reason).toMatch(
      / and 197 more of its row cannot be written because of the protected range \(5:5\)\.$/,
    );
    expect((await mirror.overview())?.notices).toMatchObject([{ code: 'CELLS_PROTECTED' }]);
    mirror.person.unprotect(range);
    expect((await mirror.overview())?.losses).toEqual([{ what: 'unblocked' }]);
  });

  it('a pass that cannot go around a protection fails, and says which one it is and on which tab', async () => {
    protectRowOf('s3');
    mirror.store.setStatus('s3', 'PAID');
    mirror.place.sandbox.people.at(mirror.place.spreadsheetId, 'Mirror').protect({ left: 8 });
    mirror.place.sandbox.people
      .at(mirror.place.spreadsheetId, 'Mirror state')
      .protect({ right: 5 });
    mirror.person.protect({ top: 0, bottom: 1 });
    expect(await mirror.pass('full')).toMatchObject({
      outcome: 'failed',
      code: 'TARGET_DENIED',
      error: expect.stringMatching(
        / does not let forms-mirror write: the protected range \(5:5\) on the tab "Contact", the protected range \(1:1\) on the tab "Contact", the protected range \(I:\) on the tab "Mirror", the protected range \(A:E\) on the tab "Mirror state"\. Allow mirror@/,
      ),
    });
  });
});
