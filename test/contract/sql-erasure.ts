import { beforeEach, describe, expect, it } from 'vitest';
import { AGE, CHECKPOINT, field, FORM, NAME, pass, row } from './target-harness.ts';
import type { QueriedStage } from './sql-target.ts';

const AT = '2026-03-05T10:00:00.000Z';
const FIELDS = [NAME, AGE];
const ROWS = ['sub_0a', 'sub_0b'].map((id) => row(id, { field_1_a: id, field_2_b: 7 }));

/** Erasure (L18) where the target is a database. */
export function describeSqlErasure(stage: QueriedStage): void {
  describe('L18: erasure in a database', () => {
    beforeEach(() =>
      stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        await writer.losses();
        await writer.apply(ROWS, []);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
        await writer.forget(['sub_0a'], AT);
      }),
    );
    const apply = () =>
      stage.write(async (writer) => {
        await writer.prepare(FIELDS);
        return writer.apply(ROWS, []);
      });

    const forget = (...ids: string[]) => stage.write((writer) => writer.forget(ids, AT));
    const dropCopies = () => {
      const { place } = stage;
      return place.query(
        `DELETE FROM ${place.relation('mirror_meta')} WHERE "key" LIKE 'forgotten%'`,
      );
    };
    const drop = async (...tables: string[]) => {
      for (const table of tables) {
        await stage.place.query(`DROP TABLE ${stage.place.relation(table)}`);
      }
    };

    it.for([['mirror_forgotten'], ['mirror_forgotten', 'mirror_forms']])(
      'brings nothing back where people dropped %s: the notes are restored from their copy',
      async (tables) => {
        await forget('sub_0c');
        await drop(...tables);
        expect((await apply()).outcomes).toEqual(['forgotten', 'unchanged']);
        const reader = await stage.target.reader(FORM.id);
        expect(await reader?.forgotten(['sub_0a', 'sub_0b', 'sub_0c'])).toEqual(
          new Map([
            ['sub_0a', AT],
            ['sub_0c', AT],
          ]),
        );
      },
    );

    it('brings nothing back where people deleted single notes, or their copy', async () => {
      const { place } = stage;
      await forget('sub_0c');
      const outcomes = ['forgotten', 'unchanged'];
      await place.query(`DELETE FROM ${place.relation('mirror_forgotten')}`);
      expect((await apply()).outcomes).toEqual(outcomes);
      await dropCopies();
      expect((await apply()).outcomes).toEqual(outcomes);
      await place.query(`DELETE FROM ${place.relation('mirror_forgotten')}`);
      expect((await apply()).outcomes).toEqual(outcomes);
      // What may come back is in neither.
      expect(await stage.write((writer) => writer.remember(['sub_0a']))).toBe(1);
      expect((await apply()).outcomes).toEqual(['inserted', 'unchanged']);
    });

    it('writes nothing while notes and copies are gone, whatever else is forgotten or may come back', async () => {
      await forget('sub_0c');
      await dropCopies();
      await drop('mirror_forgotten');
      await expect(apply()).rejects.toThrow(/2 submissions of contact-form could come back/);
      await expect(apply()).rejects.toMatchObject({ code: 'TARGET_FAILED', retryable: false });
      await forget('sub_0d', 'sub_0e');
      await expect(apply()).rejects.toThrow(/2 submissions of contact-form could come back/);
      await stage.write((writer) => writer.remember(['sub_0d', 'sub_0x']));
      await expect(apply()).rejects.toThrow(/2 submissions of contact-form could come back/);
    });

    it('keeps a hash alone: no table has the ID, or an answer', async () => {
      const { place } = stage;
      for (const table of [
        'contact_form',
        'mirror_forgotten',
        'mirror_forms',
        'mirror_passes',
        'mirror_meta',
      ]) {
        const rows = await place.query(`SELECT * FROM ${place.relation(table)}`);
        const text = JSON.stringify(rows, (_, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        );
        expect([table, text.includes('sub_0a')]).toEqual([table, false]);
      }
    });

    it('empties numbers kept beside texts, and answers in the overflow column, and leaves all others there', async () => {
      const many = Array.from({ length: widthOf(stage) }, (_, n) =>
        field(`field_${n}_w`, `Wide ${n}`, { position: n }),
      );
      const last = many.slice(-3).map(({ id }) => id);
      const cells = Object.fromEntries(
        many.map(({ id }) => [id, id === last[1] ? 12345678901234567890n.toString() : 'kept']),
      );
      const wide = { ...FORM, id: 'frm_wide', slug: 'wide', name: 'Wide' };
      await stage.write(async (writer) => {
        await writer.prepare(many);
        await writer.apply([row('sub_w', { ...cells, [last[2] ?? '']: 7 })], []);
        expect(await writer.emptyFields([last[0] ?? '', many[0]?.id ?? ''], AT)).toBe(1);
      }, wide);
      const reader = await stage.target.reader(wide.id);
      const held = (await reader?.rows(['sub_w']))?.get('sub_w')?.cells;
      expect([held?.get(last[0] ?? ''), held?.get(many[0]?.id ?? '')]).toEqual([null, null]);
      expect([
        held?.get(last[1] ?? ''),
        held?.get(last[2] ?? ''),
        held?.get(many[1]?.id ?? ''),
      ]).toEqual(['12345678901234567890', 7, 'kept']);
    });
  });
}

/** More fields than a table has columns. */
const widthOf = ({ place }: QueriedStage): number => (place.product === 'SQLite' ? 1_905 : 305);
