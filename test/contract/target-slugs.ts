import { describe, expect, it } from 'vitest';
import { CHECKPOINT, FORM, NAME, pass, row, type TargetStage } from './target-harness.ts';

/** Which form a slug in the settings first named: kept in the target, for every process. */
export function describeSlugs(stage: TargetStage): void {
  describe('slugs in the settings', () => {
    it('L11: mean the form that was kept first, in every process, before and after it is mirrored', async () => {
      expect(await stage.target.slugs()).toEqual(new Map());
      expect(await stage.target.bindSlug('contact-form', FORM.id)).toBe(FORM.id);
      expect(await stage.target.heldForms()).toEqual([]);
      const elsewhere = await stage.open();
      expect(await elsewhere.bindSlug('contact-form', 'frm_2')).toBe(FORM.id);
      expect(await elsewhere.bindSlug('Příběh ½ "x"', 'frm_2')).toBe('frm_2');
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a')], []);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
      });
      for (const target of [stage.target, elsewhere, await stage.open()]) {
        expect(await target.bindSlug('contact-form', 'frm_3')).toBe(FORM.id);
        expect(await target.slugs()).toEqual(
          new Map([
            ['contact-form', FORM.id],
            ['Příběh ½ "x"', 'frm_2'],
          ]),
        );
      }
    });
  });
}
