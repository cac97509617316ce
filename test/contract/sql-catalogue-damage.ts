import { describe, expect, it } from 'vitest';
import { CATALOGUE_TABLES, CATALOGUE_VERSION } from '../../src/targets/sql/catalogue-tables.ts';
import { LOOKS } from '../../src/targets/sql/looks.ts';
import { PAUSES } from '../../src/targets/sql/pauses.ts';
import { stageDamage } from './sql-damage.ts';
import type { SqlPlace } from './sql-target.ts';

/** The tables that say something of rows. */
const TABLES = [...CATALOGUE_TABLES].filter((table) => table !== LOOKS && table !== PAUSES);

/** What is lost where a table of the catalogue is emptied, beside what that table held. */
const EMPTIED: Readonly<Record<string, { kind: string; reason: string | null }>> = {
  mirror_forms: {
    kind: 'full',
    reason:
      'The content of mirror_forms was gone; how many rows were stored before is not known; everything is read again.',
  },
  mirror_fields: {
    kind: 'full',
    reason: 'The content of mirror_fields was gone; everything is read again.',
  },
  mirror_rejected: {
    kind: 'full',
    reason: 'The content of mirror_rejected was gone; everything is read again.',
  },
  mirror_checkpoints: { kind: 'full', reason: null },
  mirror_label_history: { kind: 'incremental', reason: null },
  mirror_status_history: { kind: 'incremental', reason: null },
  mirror_passes: { kind: 'incremental', reason: null },
  mirror_refusals: { kind: 'incremental', reason: null },
  mirror_locks: { kind: 'incremental', reason: null },
};

/** What people do to the tables of the catalogue. */
export function describeCatalogueDamage(name: string, makePlace: () => Promise<SqlPlace>): void {
  describe(`the catalogue in ${name}, damaged`, () => {
    const stage = stageDamage(makePlace);
    const sql = (text: string): Promise<Record<string, unknown>[]> => stage.sql(text);
    /** PostgreSQL drops no table that a view of ours reads, but with it. */
    const drop = (table: string): Promise<unknown> =>
      sql(`DROP TABLE {${table}}${stage.place.product === 'SQLite' ? '' : ' CASCADE'}`);
    /** What has to survive: names, labels, columns, and the kind of what is in them. */
    const identity = async (): Promise<unknown> => [
      await sql('SELECT form_id, slug, name, table_name, view_name FROM {mirror_forms}'),
      await sql(
        `SELECT field_id, column_name, label, position, type, ordinal, stored_in, view_label FROM {mirror_fields} ORDER BY ordinal`,
      ),
    ];
    /** A submission that can't be stored as it is, and a relabelled field whose column keeps its first name. */
    const begin = async (): Promise<void> => {
      stage.breakOne();
      stage.relabel();
      expect(await stage.pass({ kind: 'full' })).toMatchObject({ outcome: 'ok', rejected: 1 });
    };

    it.each(TABLES)(
      '%s dropped: what is read says so, and the next pass heals it',
      async (table) => {
        await begin();
        const before = await identity();
        await drop(table);
        const gone = expect.stringMatching(
          new RegExp(
            `The table .*${table} of the catalogue is gone. The next pass creates it again`,
          ),
        );
        await expect(stage.target.overview()).rejects.toMatchObject({
          code: 'TARGET_FAILED',
          message: gone,
        });
        expect(await stage.target.check()).toContainEqual({
          ok: false,
          message: expect.stringContaining(table),
          remedy: expect.stringContaining('The next pass creates it again'),
        });
        expect(await stage.pass({ dryRun: true })).toMatchObject({
          outcome: 'failed',
          error: gone,
        });
        const unknown =
          table === 'mirror_forms' ? 'how many rows were stored before is not known; ' : '';
        const report = await stage.pass();
        expect(report).toMatchObject({
          kind: 'full',
          outcome: 'ok',
          inserted: 0,
          updated: 0,
          rejected: 1,
          reason: `The table ${table} was gone; ${unknown}everything is read again.`,
        });
        expect(await identity()).toEqual(before);
        expect((await stage.target.overview())[0]).toMatchObject({ losses: [], rejected: 1 });
        expect((await stage.target.check()).every(({ ok }) => ok)).toBe(true);
        await stage.expectSame();
        stage.submit(2);
        expect(await stage.pass()).toMatchObject({
          kind: 'incremental',
          outcome: 'ok',
          inserted: 2,
        });
      },
    );

    it('mirror_looks dropped: no look is known, and the next one, or the next pass, makes it again', async () => {
      const look = { at: '2026-03-02T08:00:00.000Z', open: ['frm_2'], others: null };
      for (const heal of [() => stage.pass(), () => stage.target.recordLook(look)]) {
        await stage.target.recordLook(look);
        await sql(`DROP TABLE {${LOOKS}}`);
        expect(await stage.target.lastLook()).toBeNull();
        expect(await stage.target.check()).toContainEqual({
          ok: false,
          message: expect.stringContaining(LOOKS),
          remedy: 'The next pass creates it again; nothing else is to be done.',
        });
        await heal();
        expect((await stage.target.overview())[0]).toMatchObject({ losses: [] });
      }
      expect(await stage.target.lastLook()).toEqual(look);
      await sql(`UPDATE {${LOOKS}} SET look = 'nonsense'`);
      expect(await stage.target.lastLook()).toBeNull();
      await stage.target.recordLook(look);
      expect(await stage.target.lastLook()).toEqual(look);
      expect(await stage.pass()).toMatchObject({
        kind: 'incremental',
        outcome: 'ok',
        reason: null,
      });
    });

    it('mirror_pauses dropped: nothing is paused any more, and nothing is read again for it', async () => {
      const pause = { formId: 'frm_2', since: '2026-03-02T08:00:00.000Z', by: 'me', reason: null };
      await stage.target.pause(pause);
      await sql(`DROP TABLE {${PAUSES}}`);
      expect(await stage.target.pauses()).toEqual([]);
      expect(await stage.target.check()).toContainEqual({
        ok: false,
        message: expect.stringContaining(PAUSES),
        remedy: 'The next pass creates it again; nothing else is to be done.',
      });
      expect(await stage.pass()).toMatchObject({ outcome: 'ok', reason: null });
      expect((await stage.target.overview())[0]).toMatchObject({ losses: [] });
      expect(await stage.target.pause(pause)).toEqual(pause);
      expect(await stage.target.pauses()).toEqual([pause]);
    });

    it.each(Object.keys(EMPTIED))('%s emptied: the next pass heals it', async (table) => {
      await begin();
      const before = await identity();
      await sql(`DELETE FROM {${table}}`);
      const report = await stage.pass();
      expect(report).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0, ...EMPTIED[table] });
      expect(await identity()).toEqual(before);
      expect((await stage.target.overview())[0]).toMatchObject({ losses: [], rejected: 1 });
      await stage.expectSame();
      stage.submit(2);
      expect(await stage.pass()).toMatchObject({ kind: 'incremental', outcome: 'ok', inserted: 2 });
    });

    it('all tables but those of the rows dropped: refuses to guess, with what to do, and changes nothing', async () => {
      await sql('DROP TABLE {mirror_meta}');
      await drop('mirror_forms');
      const failed = await stage.pass();
      expect(failed).toMatchObject({ outcome: 'failed', code: 'TARGET_FAILED' });
      expect(failed.error).toMatch(
        /mirror_forms of the catalogue is gone, and nothing else says which table belongs to which form, so nothing was changed: restore it from a backup, or choose another/,
      );
      await expect(sql('SELECT * FROM {mirror_meta}')).rejects.toThrow(/mirror_meta/);
    });

    it('mirror_fields dropped with its copy: refuses to guess', async () => {
      await drop('mirror_fields');
      await sql(`DELETE FROM {mirror_meta} WHERE "key" LIKE 'form %'`);
      const failed = await stage.pass();
      expect(failed.error).toMatch(
        /nothing else says which column belongs to which field, so nothing was changed/,
      );
    });

    it('a column of the catalogue dropped: fails with what to do, and heals once that is done', async () => {
      await sql('ALTER TABLE {mirror_passes} DROP COLUMN withheld');
      const failed = await stage.pass();
      expect(failed.error).toMatch(
        /mirror_passes of the catalogue lacks withheld: .* or drop the table/,
      );
      await sql('DROP TABLE {mirror_passes}');
      expect(await stage.pass()).toMatchObject({ kind: 'full', outcome: 'ok' });
    });

    it('L13: a writer whose lock table was dropped or emptied writes nothing more', async () => {
      await using asleep = await stage.target.openWriter(
        { id: 'frm_1', slug: 'contact-form', name: 'Contact form' },
        { waitMs: 0 },
      );
      await sql('DELETE FROM {mirror_locks}');
      await expect(asleep.apply([], [])).rejects.toMatchObject({
        code: 'TARGET_LOST_LOCK',
        message: expect.stringContaining('deleted the record of this pass'),
      });
    });

    it('mirror_meta emptied: is refused, with what to do', async () => {
      await sql('DELETE FROM {mirror_meta}');
      const failed = await stage.pass();
      expect(failed).toMatchObject({ outcome: 'failed', code: 'OTHER_SCHEMA' });
      expect(failed.error).toContain('no schema, this one needs');
      await sql('DROP TABLE {mirror_meta}');
      expect(await stage.pass()).toMatchObject({ outcome: 'ok', kind: 'full' });
      const meta = await sql(`SELECT value FROM {mirror_meta} WHERE "key" = 'catalogue_version'`);
      expect(meta).toEqual([{ value: String(CATALOGUE_VERSION) }]);
    });
  });
}
