import { describe, expect, it } from 'vitest';
import { cellText } from '../../src/mirror/cell.ts';
import { JsonText } from '../../src/mirror/types.ts';
import { SyncPlace } from '../support/sync-place.ts';
import type { SqlPlace, SqlStage } from './sql-target.ts';
import { NAME, row } from './target-harness.ts';

type Product = SqlPlace['product'];

/** Something that people add to a form's table, and what takes it away; which of five new rows it refuses. */
interface Harm {
  readonly add: Readonly<Record<Product, readonly string[]>>;
  readonly drop: Readonly<Record<Product, readonly string[]>>;
  readonly refused: 'all' | 'one';
  /** What the message names, where the database does. */
  readonly named: Readonly<Partial<Record<Product, string>>>;
}

const everywhere = <T>(one: T): Record<Product, T> => ({
  SQLite: one,
  PostgreSQL: one,
  'MySQL or MariaDB': one,
});

const raising = (condition: string): Harm['add'] => ({
  SQLite: [
    `CREATE TRIGGER no BEFORE INSERT ON {contact} WHEN ${condition} BEGIN SELECT RAISE(ABORT, 'no Žofie'); END`,
  ],
  PostgreSQL: [
    "CREATE FUNCTION {no}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no %', new.name; END $$",
    `CREATE TRIGGER no BEFORE INSERT ON {contact} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION {no}()`,
  ],
  'MySQL or MariaDB': [
    `CREATE TRIGGER no BEFORE INSERT ON {contact} FOR EACH ROW
       IF ${condition} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no Žofie'; END IF`,
  ],
});

const dropTrigger: Harm['drop'] = {
  ...everywhere(['DROP TRIGGER no']),
  PostgreSQL: ['DROP TRIGGER no ON {contact}'],
};
const POLITE = "ALTER TABLE {contact} ADD CONSTRAINT polite CHECK (name <> 'Žofie 2')";
const IMPOLITE = ['ALTER TABLE {contact} DROP CONSTRAINT polite'];

const HARMS: Readonly<Record<string, Harm>> = {
  'a column that must not be empty': {
    add: everywhere(['ALTER TABLE {contact} ADD COLUMN theirs varchar(20) NOT NULL']),
    drop: everywhere(['ALTER TABLE {contact} DROP COLUMN theirs']),
    refused: 'all',
    named: everywhere('theirs'),
  },
  'a check of an answer': {
    // To a table that is there SQLite adds none.
    add: { ...everywhere([POLITE]), SQLite: raising("new.name = 'Žofie 2'").SQLite },
    drop: { ...everywhere(IMPOLITE), SQLite: dropTrigger.SQLite },
    refused: 'one',
    named: { PostgreSQL: 'polite', 'MySQL or MariaDB': 'polite' },
  },
  'a trigger that raises': {
    add: raising("new.status = 'NEW'"),
    drop: dropTrigger,
    refused: 'all',
    named: {},
  },
  'a trigger that raises for an answer': {
    add: raising("new.name = 'Žofie 2'"),
    drop: dropTrigger,
    refused: 'one',
    named: { PostgreSQL: 'P0001', 'MySQL or MariaDB': '1644' },
  },
  'a unique index': {
    add: everywhere([
      "ALTER TABLE {contact} ADD COLUMN theirs varchar(20) DEFAULT ''",
      'CREATE UNIQUE INDEX only_one ON {contact} (theirs)',
    ]),
    drop: {
      ...everywhere(['ALTER TABLE {contact} DROP COLUMN theirs']),
      SQLite: ['DROP INDEX only_one', 'ALTER TABLE {contact} DROP COLUMN theirs'],
    },
    refused: 'all',
    named: { SQLite: 'contact.theirs', PostgreSQL: 'only_one', 'MySQL or MariaDB': 'only_one' },
  },
};

/** What people add to a form's table and what then refuses rows: the target's failure, whatever the rows hold. */
export function describeSqlRefused(stage: SqlStage): void {
  const sql = async (statements: readonly string[]): Promise<void> => {
    for (const text of statements) {
      await stage.place.query(
        text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
      );
    }
  };

  describe('a table that refuses rows for a reason of its own', () => {
    it.each(Object.entries(HARMS))(
      'L6: %s fails the pass, names what it is, holds up no other row, and verify counts the rows as missing',
      async (_, { add, drop, refused, named }) => {
        const { product } = stage.place;
        const source = await SyncPlace.open({
          openTarget: (name, clock) => stage.place.open(name, clock),
        });
        expect(await source.pass('full')).toMatchObject({ outcome: 'ok' });
        await sql(add[product]);
        source.submitMany(5, { createdAt: source.clock.now() });
        const stored = refused === 'all' ? 0 : 4;
        for (const kind of ['incremental', 'full'] as const) {
          const report = await source.pass(kind);
          const isFirst = kind === 'incremental';
          expect(report).toMatchObject({
            outcome: 'failed',
            code: 'TARGET_FAILED',
            inserted: isFirst ? stored : 0,
            rejected: 0,
            failure: { retryable: false },
          });
          expect(report.error).toMatch(/^Target a \(.*form "Contact" \(form-1\)/);
          expect(report.error).toContain(named[product] ?? '');
          expect(report.error).not.toContain('Žofie');
        }
        // Young as they are, a schedule explains nothing of what the target refuses.
        for (const intervals of [undefined, { incrementalMs: 60_000, fullMs: 120_000 }]) {
          expect(await source.verify({ waitMs: 0, ...(intervals && { intervals }) })).toMatchObject(
            {
              outcome: 'different',
              missing: { count: 5 - stored },
              lagging: { count: 0 },
              listed: 0,
            },
          );
        }
        // L7: what is not stored is not written back.
        expect(await source.mark()).toMatchObject({ marked: stored });
        await sql(drop[product]);
        expect(await source.pass('incremental')).toMatchObject({
          outcome: 'ok',
          inserted: 5 - stored,
        });
        expect(await source.verify()).toMatchObject({ outcome: 'same', missing: { count: 0 } });
      },
    );

    it('L6: a submission that no table could hold is rejected and listed all the same', async () => {
      const source = await SyncPlace.open({
        openTarget: (name, clock) => stage.place.open(name, clock),
      });
      source.submitMany(2);
      source.submit({ id: 'x'.repeat(700) });
      source.submit({ status: longText(5_000) });
      // It has no limit for the texts in an index.
      const rejected = stage.place.product === 'SQLite' ? 1 : 2;
      const inserted = 4 - rejected;
      expect(await source.pass('full')).toMatchObject({ outcome: 'ok', inserted, rejected });
      expect(await source.verify()).toMatchObject({ outcome: 'same', listed: rejected });
      // The listings speak of these only.
      await sql(['DELETE FROM {contact}']);
      expect(await source.verify()).toMatchObject({
        missing: { count: inserted },
        listed: rejected,
      });
    });

    it('L6, L17: nor does a listing of a row that was stored, with a defect, excuse that it is gone', async () => {
      const source = await SyncPlace.open({
        openTarget: (name, clock) => stage.place.open(name, clock),
      });
      source.submit({ status: '' });
      expect(await source.pass('full')).toMatchObject({ outcome: 'ok', inserted: 1, rejected: 1 });
      expect(await source.verify()).toMatchObject({ outcome: 'same' });
      await sql(['DELETE FROM {contact}']);
      expect(await source.verify()).toMatchObject({ outcome: 'different', missing: { count: 1 } });
    });

    it('L6, L10: no odd date or number of a submission is taken for a reason of the target', async () => {
      const field_1_a = (digits: string) => ({ field_1_a: new JsonText(`[${digits}]`) });
      const result = await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        return writer.apply(
          [
            row('a', field_1_a('1'), { createdAt: '0001-01-01T00:00:00.000Z' }),
            row('b', field_1_a('9'.repeat(400)), { createdAt: '9999-12-31T23:59:59.999999Z' }),
            row('c', field_1_a(`0.${'9'.repeat(400)}`), { createdAt: null, status: '' }),
          ],
          [],
        );
      });
      expect(result).toMatchObject({ outcomes: ['inserted', 'inserted', 'inserted'] });
      expect([result.refused, result.rejections]).toEqual([undefined, []]);
      const { field_1_a: stored = null } = await stage.cellsOf('b');
      expect(cellText(stored)).toBe(`[${'9'.repeat(400)}]`);
    });

    it('L6: a row that is there already keeps its place when its change is refused', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row('a', { field_1_a: 'Žofie' }), row('b')], []);
      });
      await sql(raising("new.full_name = 'no'")[stage.place.product].map(onUpdate));
      const { outcomes, refused, newlyListed } = await stage.write(async (writer) => {
        await writer.prepare([NAME]);
        return writer.apply([row('a', { field_1_a: 'no' }), row('b', { field_1_a: 'yes' })], []);
      });
      expect([outcomes[1], newlyListed.size]).toEqual(['updated', 0]);
      expect(refused).toMatchObject({ code: 'TARGET_FAILED' });
      expect((await stage.cellsOf('a'))['field_1_a']).toBe('Žofie');
      expect(await (await stage.read()).losses()).toEqual([]);
    });
  });
}

/** A text that no database compresses much. */
const longText = (length: number): string =>
  Array.from({ length }, (_, at) => (((at * 48_271) % 2_147_483_647) % 36).toString(36)).join('');

const onUpdate = (statement: string): string =>
  statement
    .replace('BEFORE INSERT ON {contact}', 'BEFORE UPDATE ON {contact_form}')
    .replace('new.name', 'new.full_name');
