import { describe, expect, it } from 'vitest';
import type { FormIdentity, PickedField, Row } from '../../src/mirror/types.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { AGE, AT_ONCE, CHECKPOINT, fieldList, NAME, pass, row } from './target-harness.ts';

/** So many that one of them alone does not make the views over all of them worth making. */
const FORMS: readonly FormIdentity[] = Array.from({ length: 7 }, (_, n) => ({
  id: `frm_${n}`,
  slug: `s${n}`,
  name: 'S',
}));

/** When the views over all forms are made, of many. */
export function describeSqlViewsInTime(stage: SqlStage): void {
  const sql = sqlOf(stage);
  /** A pass that stores these rows and ends well. */
  const passOver = (rows: readonly Row[], fields: readonly PickedField[], form?: FormIdentity) =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(...fields));
      await writer.apply(rows, []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    }, form);
  /** The IDs of the submissions of which an answer to the question is shown. */
  const shownAges = (): Promise<unknown[]> =>
    sql("SELECT submission_id FROM {answers} WHERE label = 'Age'");

  describe('the views over all forms', () => {
    it('wait while many forms come, and are made once a pass changes no column, or the target is closed', async () => {
      const shown = async (): Promise<number> => (await sql('SELECT * FROM {submissions}')).length;
      for (const form of FORMS.slice(0, 6)) await passOver([row(form.id)], [NAME], form);
      expect(await shown()).toBe(5);
      await passOver([row('frm_0')], [NAME], FORMS[0]);
      expect(await shown()).toBe(6);
      const another = await stage.open();
      {
        await using writer = await another.openWriter(FORMS[6]!, AT_ONCE);
        await writer.prepare([NAME]);
        await writer.apply([row('last')], []);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      }
      expect(await shown()).toBe(6);
      await another[Symbol.asyncDispose]();
      expect(await shown()).toBe(7);
    });

    it('show a new column of one form of many by its next pass, and by the next look at the latest', async () => {
      const text = (form: FormIdentity) => row(form.id, { field_1_a: 'x' });
      for (let round = 0; round < 2; round++)
        for (const form of FORMS) await passOver([text(form)], [NAME], form);
      const [first, second] = FORMS;
      const both = (form: FormIdentity) => row(form.id, { field_1_a: 'x', field_2_b: 7 });
      for (let round = 0; round < 2; round++) await passOver([both(first!)], [NAME, AGE], first);
      expect(await shownAges()).toHaveLength(1);
      await passOver([both(second!)], [NAME, AGE], second);
      expect(await shownAges()).toHaveLength(1);
      await stage.target.recordLook({
        at: '2036-03-05T00:00:00.000Z',
        open: [],
        differing: [],
        others: null,
        uncounted: new Map(),
      });
      expect(await shownAges()).toHaveLength(2);
    });

    it('L5: are made again when people dropped one while a form waits to be shown', async () => {
      for (let round = 0; round < 2; round++)
        for (const form of FORMS) await passOver([row(form.id)], [NAME], form);
      await sql('DROP VIEW {submissions}');
      await passOver([row('new')], [NAME], { id: 'frm_7', slug: 's7', name: 'S' });
      expect(await sql('SELECT submission_id FROM {submissions}')).toHaveLength(8);
    });
  });
}
