import { describe, expect, it } from 'vitest';
import { newPause, type Pause } from '../../src/mirror/pauses.ts';
import { AT_ONCE, CHECKPOINT, FORM, NAME, pass, row, type TargetStage } from './target-harness.ts';

const OTHER = { id: 'frm_2', slug: 'other', name: 'Other' };

const paused = (rest: Partial<Pause> = {}): Pause =>
  newPause({
    formId: FORM.id,
    since: '2026-03-05T10:00:00.000Z',
    by: 'command line, ann@ops-1',
    reason: null,
    ...rest,
  });

/** What people have paused: kept in the target, and refused to writers of every process. */
export function describePauses(stage: TargetStage): void {
  describe('pauses', () => {
    const refused = { code: 'PAUSED' };

    it('are none before anything was written, and ending one says so', async () => {
      expect(await stage.target.pauses()).toEqual([]);
      expect(await stage.target.resume(null)).toBeUndefined();
      expect(await stage.target.resume(FORM.id)).toBeUndefined();
    });

    it('of a form are kept before it was ever mirrored, with who, when and why', async () => {
      const pause = paused({ reason: 'The tab is being rebuilt: ½ "done"' });
      expect(await stage.target.pause(pause)).toEqual(pause);
      expect(await stage.target.pauses()).toEqual([pause]);
      const elsewhere = await stage.open();
      expect(await elsewhere.pauses()).toEqual([pause]);
      expect(await elsewhere.heldForms()).toEqual([]);
    });

    it('keep writers of that form out, here and in another process, and no other form’s', async () => {
      await stage.target.pause(paused());
      for (const target of [stage.target, await stage.open()]) {
        await expect(target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject(refused);
      }
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a')], []);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
      }, OTHER);
      expect((await stage.target.overview()).map(({ formId }) => formId)).toEqual([OTHER.id]);
      await expect(stage.target.openWriter(FORM, AT_ONCE)).rejects.toThrow(
        /contact-form in target \S+ is paused since 2026-03-05 10:00:00 UTC by command line, ann@ops-1, so nothing .* run: forms-mirror resume --form frm_1 --target /,
      );
    });

    it('of the target keep all writers out, and leave what is there to be read', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a', { field_1_a: 'x' })], []);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
      });
      await stage.target.pause(paused({ formId: null }));
      for (const form of [FORM, OTHER]) {
        await expect(stage.target.openWriter(form, AT_ONCE)).rejects.toMatchObject(refused);
      }
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'x' });
      expect(await (await stage.read()).checkpoint()).toEqual(CHECKPOINT);
      expect(await stage.target.overview()).toMatchObject([{ formId: FORM.id, rows: 1 }]);
    });

    it('let what erases write all the same (L18)', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a'), row('b')], []);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
      });
      await stage.target.pause(paused({ formId: null }));
      await using writer = await stage.target.openWriter(FORM, { waitMs: 0, whilePaused: true });
      expect(await writer.forget(['a'], '2026-03-05T11:00:00.000Z')).toMatchObject({ rows: 1 });
    });

    it('stay as they were when somebody pauses the same again', async () => {
      const first = paused();
      await stage.target.pause(first);
      const again = paused({ since: '2026-03-06T10:00:00.000Z', by: 'status page, 127.0.0.1' });
      expect(await (await stage.open()).pause(again)).toEqual(first);
      expect(await stage.target.pauses()).toEqual([first]);
    });

    it('end one by one: that of the target does not take those of forms along', async () => {
      const whole = paused({ formId: null, since: '2026-03-05T12:00:00.000Z' });
      const one = paused();
      await stage.target.pause(one);
      await stage.target.pause(whole);
      expect(await stage.target.resume(null)).toEqual(whole);
      expect(await stage.target.pauses()).toEqual([one]);
      await expect(stage.target.openWriter(FORM, AT_ONCE)).rejects.toMatchObject(refused);
      const elsewhere = await stage.open();
      expect(await elsewhere.resume(FORM.id)).toEqual(one);
      expect(await elsewhere.resume(FORM.id)).toBeUndefined();
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a')], []);
      });
      expect(await (await stage.open()).pauses()).toEqual([]);
    });

    it('do not wait for the writer that holds the form, and do not end it', async () => {
      await using writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await (await stage.open()).pause(paused());
      await writer.apply([row('a')], []);
      await writer.finish(pass(), { checkpoint: CHECKPOINT });
      await writer[Symbol.asyncDispose]();
      await expect((await stage.open()).openWriter(FORM, AT_ONCE)).rejects.toMatchObject(refused);
    });

    it('of odd names are kept as far as every place can, and no longer than fits', async () => {
      const odd = paused({ by: `x\0\ud800${'y'.repeat(900)}`, reason: `z${'ž'.repeat(900)}` });
      expect(odd.by.length).toBeLessThanOrEqual(120);
      expect(odd.reason?.length).toBeLessThanOrEqual(200);
      await stage.target.pause(odd);
      expect(await (await stage.open()).pauses()).toEqual([odd]);
    });
  });
}
