import { describe, expect, it } from 'vitest';
import { CATALOGUE_TABLES } from '../../src/targets/sql/catalogue-tables.ts';
import { CATALOGUE_TEXTS } from '../../src/targets/sql/descriptions.ts';
import type { QueriedStage } from './sql-target.ts';
import { columnsOf } from './sql-target-tables.ts';
import { AGE, CHECKPOINT, NAME, pass, row } from './target-harness.ts';

/** What other tools are told of tables and views. */
export function describeRelations(stage: QueriedStage): void {
  describe('what other tools are told', () => {
    it('names tables, views and columns that are there, what they are, and when rows were compared', async () => {
      expect(await stage.target.relations()).toMatchObject({ relations: [] });
      await stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.apply([row('a', { field_1_a: 'x', field_2_b: 1 })], []);
        const checkpoint = { ...CHECKPOINT, fullProvenAt: '2026-03-02T08:00:05.000Z' };
        await writer.finish(pass(), { checkpoint });
      });
      const { relations = [] } = (await stage.target.relations()) ?? {};
      const [form] = relations;
      expect(form?.columns.map(({ name }) => name)).toEqual(await columnsOf(stage, 'contact_form'));
      expect(form?.columns.find(({ name }) => name === 'full_name')?.description).toBe('Full name');
      const compared = await stage.place.query(form?.comparedAt ?? '');
      expect(
        compared.flatMap((one) => Object.values(one).map((at) => new Date(String(at)))),
      ).toEqual([new Date('2026-03-02T08:00:05.000Z')]);
      const names = relations.map(({ name }) => name);
      expect(names.slice(0, 2)).toEqual(['contact_form', 'contact_form_labelled']);
      for (const { name, columns } of relations) {
        const present = await columnsOf(stage, name);
        expect(present).toEqual(expect.arrayContaining(columns.map((column) => column.name)));
      }
    });

    it('says of every table of the catalogue what it is', () => {
      expect(new Set(Object.keys(CATALOGUE_TEXTS))).toEqual(CATALOGUE_TABLES);
    });
  });
}
