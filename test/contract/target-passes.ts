import { describe, expect, it } from 'vitest';
import type { FormIdentity } from '../../src/mirror/types.ts';
import {
  AGE,
  AT_ONCE,
  CHECKPOINT,
  FORM,
  NAME,
  pass,
  row,
  sorted,
  type TargetStage,
} from './target-harness.ts';

/** Passes, checkpoints and who may write (L12, L13). */
export function describePasses(stage: TargetStage): void {
  describe('passes and checkpoints', () => {
    it('are recorded together and can be read', async () => {
      const incremental = pass({
        outcome: 'incomplete',
        code: 'PASS_INCOMPLETE',
        error: 'Something "odd" happened',
      });
      const full = pass({ kind: 'full', total: null, withheld: 3 });
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        expect(await writer.checkpoint()).toBeUndefined();
        await writer.finish(full, { checkpoint: CHECKPOINT });
        await writer.finish(incremental, {});
      });
      const reader = await stage.read();
      expect(await reader.checkpoint()).toEqual(CHECKPOINT);
      expect(await reader.passes(10)).toEqual([incremental, full]);
      expect(await reader.passes(1)).toEqual([incremental]);
      expect(await stage.target.overview()).toMatchObject([
        {
          formId: FORM.id,
          slug: FORM.slug,
          name: FORM.name,
          goneAt: null,
          rows: 0,
          checkpoint: CHECKPOINT,
          lastPass: incremental,
          lastOk: full,
          lastFull: full,
        },
      ]);
    });

    it('keep the code of what they ended with', async () => {
      const ended = [
        pass(),
        pass({ outcome: 'withheld', code: 'DELETES_WITHHELD', error: 'Too many are absent.' }),
        pass({ outcome: 'failed', code: 'FORMS_UNAUTHORIZED', error: 'The key was refused.' }),
        pass({ outcome: 'gone', code: 'FORM_GONE' }),
      ];
      await stage.write(async (writer) => {
        for (const one of ended) await writer.finish(one, {});
      });
      const passes = await (await stage.read()).passes(10);
      expect(passes.map(({ code }) => code)).toEqual([
        'FORM_GONE',
        'FORMS_UNAUTHORIZED',
        'DELETES_WITHHELD',
        null,
      ]);
      const [form] = await stage.target.overview();
      expect(form?.lastPass?.code).toBe('FORM_GONE');
      expect(form?.lastOk?.code).toBeNull();
    });

    it('keep an empty watermark, and what is known of deletions', async () => {
      const known = { watermark: null, absent: 2, withheld: 1 };
      const checkpoint = { ...CHECKPOINT, ...known, fullProvenAt: CHECKPOINT.provenAt };
      await stage.write(async (writer) => {
        await writer.prepare([]);
        await writer.finish(pass(), { checkpoint: CHECKPOINT });
        await writer.finish(pass(), { checkpoint });
      });
      expect(await (await stage.read()).checkpoint()).toEqual(checkpoint);
    });

    it('note a form that is gone and one that is back', async () => {
      const goneAt = '2026-03-07T00:00:00.000Z';
      await stage.write((writer) => writer.finish(pass({ outcome: 'gone' }), { goneAt }));
      expect(await stage.target.overview()).toMatchObject([{ goneAt, lastOk: null }]);
      await stage.write((writer) => writer.finish(pass(), {}));
      expect(await stage.target.overview()).toMatchObject([{ goneAt }]);
      await stage.write((writer) => writer.finish(pass(), { goneAt: null }));
      expect(await stage.target.overview()).toMatchObject([{ goneAt: null }]);
    });

    it('L6: a proven full pass ends listings of what it did not meet', async () => {
      const gone = { submissionId: 'no-id:1', reason: 'has no ID', stored: false };
      await stage.write((writer) => writer.apply([], [gone, { ...gone, submissionId: 'no-id:2' }]));
      await stage.write(async (writer) => {
        await writer.apply([], [gone]);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      });
      const { items } = await (await stage.read()).rejections(10);
      expect(items.map((item) => item.submissionId)).toEqual(['no-id:1']);
    });
  });

  describe('several forms', () => {
    const OTHER: FormIdentity = { id: 'frm_2', slug: FORM.slug, name: FORM.name };

    it('of one name and slug are kept apart', async () => {
      for (const form of [FORM, OTHER]) {
        await stage.write(async (writer) => {
          await writer.prepare([NAME]);
          await writer.apply([row('a', { field_1_a: form.id })], []);
        }, form);
      }
      const overview = await stage.target.overview();
      expect(overview.map((one) => one.formId).sort()).toEqual(['frm_1', 'frm_2']);
      expect(new Set(overview.map((one) => one.location)).size).toBe(2);
      const other = await stage.target.reader(OTHER.id);
      expect((await other?.rows(['a']))?.get('a')?.cells.get('field_1_a')).toBe('frm_2');
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'frm_1' });
    });

    it('follow a new name', async () => {
      await stage.write((writer) => writer.prepare([NAME]));
      const [before] = await stage.target.overview();
      await stage.write((writer) => writer.prepare([NAME]), {
        ...FORM,
        name: 'Kontakt',
        slug: 'k',
      });
      expect(await stage.target.overview()).toMatchObject([{ name: 'Kontakt', slug: 'k' }]);
      expect((await stage.target.overview())[0]?.location).toBe(before?.location);
    });

    it('L12: are written at the same time', async () => {
      const other = await stage.open();
      await using one = await stage.target.openWriter(FORM, AT_ONCE);
      await using two = await other.openWriter(OTHER, AT_ONCE);
      const rows = Array.from({ length: 50 }, (_, index) => row(`r${index}`, { field_1_a: 'x' }));
      await Promise.all(
        [one, two].map(async (writer) => {
          await writer.prepare([NAME]);
          for (const item of rows) await writer.apply([item], []);
        }),
      );
      expect((await stage.target.overview()).map((form) => form.rows)).toEqual([50, 50]);
    });
  });

  describe('L13: one writer', () => {
    it('keeps a second one out, of the same or another process', async () => {
      const other = await stage.open();
      const writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      for (const one of [stage.target, other]) {
        await expect(one.openWriter(FORM, AT_ONCE)).rejects.toMatchObject({
          code: 'TARGET_BUSY',
          retryable: true,
        });
      }
      await writer[Symbol.asyncDispose]();
      await using next = await other.openWriter(FORM, AT_ONCE);
      expect((await next.prepare([NAME])).added).toEqual([]);
    });

    it('lets the second one wait its turn', async () => {
      const other = await stage.open();
      const first = await stage.target.openWriter(FORM, AT_ONCE);
      await first.prepare([NAME]);
      const second = other.openWriter(FORM, { waitMs: 30_000 });
      await first.apply([row('a')], []);
      await first[Symbol.asyncDispose]();
      await using writer = await second;
      expect(await sorted(writer.liveIds())).toEqual(['a']);
    });

    it('lets waiting be stopped', async () => {
      await using _first = await stage.target.openWriter(FORM, AT_ONCE);
      const abort = new AbortController();
      const second = stage.target.openWriter(FORM, { waitMs: 30_000, signal: abort.signal });
      abort.abort();
      await expect(second).rejects.toMatchObject({ code: 'CANCELLED' });
    });

    it('refuses what a disposed writer still wants to write', async () => {
      const writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await writer[Symbol.asyncDispose]();
      await expect(writer.apply([row('a')], [])).rejects.toMatchObject({
        code: 'TARGET_LOST_LOCK',
      });
      await writer[Symbol.asyncDispose]();
    });

    it('lets readers read while it writes', async () => {
      await using writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      const reader = await (await stage.open()).reader(FORM.id);
      for (let index = 0; index < 5; index++) {
        const [, seen] = await Promise.all([
          writer.apply([row(`r${index}`)], []),
          reader?.confirm([`r${index}`]),
        ]);
        expect(seen?.size).toBeLessThanOrEqual(1);
        expect(await reader?.confirm([`r${index}`])).toEqual(new Set([`r${index}`]));
      }
    });

    it('stops one that was taken over while it slept, whatever it tries', async () => {
      const usurp = stage.place.usurp;
      if (usurp === undefined) return;
      await using writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      await writer.apply([row('a', { field_1_a: 'before' })], []);
      await usurp.call(stage.place, FORM.id);
      const attempts = [
        () => writer.apply([row('a', { field_1_a: 'after' })], []),
        () => writer.prepare([NAME, AGE]),
        () => writer.markDeleted(['a'], '2026-03-05T10:00:00.000Z'),
        () => writer.setStatuses(new Map([['a', 'DONE']])),
        () => writer.recordRefusals([]),
        () => writer.finish(pass(), { checkpoint: CHECKPOINT }),
      ];
      for (const attempt of attempts) {
        await expect(attempt()).rejects.toMatchObject({ code: 'TARGET_LOST_LOCK' });
      }
      expect(await stage.cellsOf('a')).toEqual({ field_1_a: 'before' });
      expect(await (await stage.read()).checkpoint()).toBeUndefined();
    });
  });
}
