import { describe, expect, it } from 'vitest';
import type { FormWriter } from '../../src/mirror/target.ts';
import { dropViews } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { AGE, fieldList, NAME, row } from './target-harness.ts';

/** Triggers and rules of people that take our writes away while the database reports success. */
export function describeSqlSwallowed(stage: SqlStage): void {
  const sql = (text: string) =>
    stage.place.query(
      text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
    );
  /** There a trigger can't skip a row, but leave one that is updated as it was. */
  const isMysql = (): boolean => stage.place.product === 'MySQL or MariaDB';
  /** From now on this change of the row `taken` does nothing. */
  const swallow = async (change: 'INSERT' | 'UPDATE' | 'DELETE'): Promise<void> => {
    const changed = change === 'INSERT' ? 'NEW' : 'OLD';
    if (stage.place.product === 'SQLite') {
      await sql(`CREATE TRIGGER keep BEFORE ${change} ON {contact_form} WHEN ${changed}.id = 'taken'
        BEGIN SELECT RAISE(IGNORE); END`);
      return;
    }
    if (isMysql()) {
      await sql(`CREATE TRIGGER keep BEFORE ${change} ON {contact_form} FOR EACH ROW
        IF OLD.id = 'taken' THEN ${LEAVE_AS_IT_IS}; END IF`);
      return;
    }
    await sql(`CREATE FUNCTION {keep}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF ${changed}.id = 'taken' THEN RETURN NULL; END IF;
      RETURN ${change === 'DELETE' ? 'OLD' : 'NEW'}; END $$`);
    await sql(`CREATE TRIGGER keep BEFORE ${change} ON {contact_form}
      FOR EACH ROW EXECUTE FUNCTION {keep}()`);
  };
  const begin = (ids: readonly string[]) =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(NAME, AGE));
      await writer.apply(
        ids.map((id) => row(id, { field_1_a: `Žofie of ${id}` })),
        [],
      );
    });
  const refusal = {
    code: 'TARGET_FAILED',
    retryable: false,
    message: expect.stringMatching(
      /: something in the database, such as a trigger or a rule, took 1 row out of what was written to the table .*contact_form, .* reported success\. Nothing of this batch was stored\. /,
    ),
  };
  const refused = (work: (writer: FormWriter) => Promise<unknown>) =>
    expect(
      stage.write(async (writer) => {
        await writer.prepare(fieldList(NAME, AGE));
        await work(writer);
      }),
    ).rejects.toMatchObject(refusal);
  const stored = async (): Promise<unknown[]> => {
    const rows = await sql(
      'SELECT id, status, full_name, _deleted_at FROM {contact_form} ORDER BY id',
    );
    return rows.map((one) => [one['id'], one['status'], one['full_name'], one['_deleted_at']]);
  };

  describe('what the database takes away and calls a success', () => {
    it('L17: a new row: the batch is refused, and nothing of it stored', async () => {
      if (isMysql()) return;
      await begin(['a']);
      await swallow('INSERT');
      await refused((writer) => writer.apply([row('b'), row('taken')], []));
      expect((await stored()).map((one) => (one as unknown[])[0])).toEqual(['a']);
      // What it leaves alone is stored, and an unchanged row is no write.
      await stage.write(async (writer) => {
        await writer.prepare(fieldList(NAME, AGE));
        const { outcomes } = await writer.apply([row('b'), row('c')], []);
        expect(outcomes).toEqual(['inserted', 'inserted']);
      });
    });

    it('L17: a changed row, one that comes back, a status and a deletion', async () => {
      await begin(['a', 'taken']);
      await swallow('UPDATE');
      const before = await stored();
      const changed = { field_1_a: 'Other' };
      await refused((writer) => writer.apply([row('a', changed), row('taken', changed)], []));
      await refused((writer) =>
        writer.setStatuses(
          new Map([
            ['taken', 'DONE'],
            ['a', 'DONE'],
          ]),
        ),
      );
      await refused((writer) => writer.markDeleted(['a', 'taken'], '2026-03-01T00:00:00.000Z'));
      await refused((writer) => writer.emptyFields([NAME.id], '2026-03-01T00:00:00.000Z'));
      expect(await stored()).toEqual(before);
      await sql('DROP TRIGGER {keep}'.replace('{keep}', triggerName(stage)));
      await stage.write((writer) => writer.markDeleted(['taken'], '2026-03-01T00:00:00.000Z'));
      await sql(
        stage.place.product === 'SQLite'
          ? `CREATE TRIGGER keep BEFORE UPDATE ON {contact_form} BEGIN SELECT RAISE(IGNORE); END`
          : `CREATE TRIGGER keep BEFORE UPDATE ON {contact_form} FOR EACH ROW ${isMysql() ? LEAVE_AS_IT_IS : 'EXECUTE FUNCTION {keep}()'}`,
      );
      await refused((writer) => writer.apply([row('taken', { field_1_a: 'Žofie of taken' })], []));
    });

    it('L18: a row that was to be forgotten', async () => {
      if (isMysql()) return;
      await begin(['a', 'taken']);
      await swallow('DELETE');
      await refused((writer) => writer.forget(['a', 'taken'], '2026-03-01T00:00:00.000Z'));
      expect(await stored()).toHaveLength(2);
    });

    it('L17: a view with INSTEAD OF in the place of the table, or a rule on it', async () => {
      await begin(['a']);
      if (stage.place.product !== 'PostgreSQL') {
        await dropViews(stage.place);
        await sql('ALTER TABLE {contact_form} RENAME TO theirs');
        await sql('CREATE VIEW {contact_form} AS SELECT * FROM theirs');
        if (!isMysql())
          await sql('CREATE TRIGGER keep INSTEAD OF INSERT ON {contact_form} BEGIN SELECT 1; END');
      } else {
        await sql('CREATE RULE keep AS ON UPDATE TO {contact_form} DO INSTEAD NOTHING');
        await sql('CREATE RULE keep_new AS ON INSERT TO {contact_form} DO INSTEAD NOTHING');
      }
      await expect(
        stage.write(async (writer) => {
          await writer.prepare(fieldList(NAME, AGE));
          await writer.apply([row('b')], []);
        }),
      ).rejects.toMatchObject({ code: expect.stringMatching(/^(TARGET_FAILED|SETTINGS)$/) });
    });
  });
}

/** For a trigger of MySQL and MariaDB. */
const LEAVE_AS_IT_IS = ['status', 'full_name', '_deleted_at', '_changed_at']
  .map((column, nth) => `${nth === 0 ? 'SET ' : ''}NEW.${column} = OLD.${column}`)
  .join(', ');

const triggerName = ({ place }: SqlStage): string =>
  place.product !== 'PostgreSQL' ? 'keep' : `keep ON ${place.relation('contact_form')}`;
