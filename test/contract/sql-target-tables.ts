import { describe, expect, it } from 'vitest';
import type { PickedField } from '../../src/mirror/types.ts';
import { ExactNumber } from '../../src/mirror/types.ts';
import type { QueriedStage } from './sql-target.ts';
import {
  AGE,
  AT_ONCE,
  CHECKPOINT,
  field,
  fieldList,
  FORM,
  NAME,
  pass,
  row,
} from './target-harness.ts';

const TABLE = 'contact_form';
const VIEW = 'contact_form_labelled';

/** The names of a table's columns, in order, even when it is empty. */
export async function columnsOf(
  { place }: Pick<QueriedStage, 'place'>,
  relation: string,
): Promise<string[]> {
  if (place.columnsOf !== undefined) return place.columnsOf(relation);
  const rows = await place.query(
    place.product === 'SQLite'
      ? `SELECT name FROM pragma_table_info('${relation}')`
      : place.product === 'MySQL or MariaDB'
        ? `SELECT column_name AS name FROM information_schema.columns
         WHERE table_schema = database() AND table_name = '${relation}' ORDER BY ordinal_position`
        : `SELECT attname::text AS name FROM pg_attribute WHERE attrelid = to_regclass('${place.relation(relation)}')
         AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
  );
  return rows.map((one) => String(one['name']));
}

/** A row of the view or table by column name, values as text. */
async function shown(stage: QueriedStage, relation: string, columns: readonly string[], id = 'a') {
  const list = columns.map((name) => `CAST("${name}" AS text) AS "${name}"`).join(', ');
  const [found] = await stage.place.query(
    `SELECT ${list} FROM ${stage.place.relation(relation)} WHERE id = '${id}'`,
  );
  return found;
}

const storing = (stage: QueriedStage) => ({
  prepare: (...fields: PickedField[]) =>
    stage.write((writer) => writer.prepare(fieldList(...fields))),
  store: (cells: Parameters<typeof row>[1], ...fields: PickedField[]) =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(...fields));
      await writer.apply([row('a', cells)], []);
    }),
});

/** Tables and catalogue. */
export function describeSqlTables(stage: QueriedStage): void {
  const { prepare, store } = storing(stage);

  describe('tables', () => {
    it('have the system columns around those of the fields', async () => {
      await prepare(NAME, AGE, field('f3', 'Order'), field('f4', 'Status'));
      expect(await columnsOf(stage, TABLE)).toEqual([
        'id',
        'status',
        'created_at',
        'full_name',
        'age',
        'f_order',
        'f_status',
        '_first_seen_at',
        '_changed_at',
        '_deleted_at',
      ]);
    });

    it('L9: keep their column names through relabels', async () => {
      await store({ field_1_a: 'x' }, NAME);
      await prepare({ ...NAME, label: 'Name' }, field('field_9', 'Full name'));
      expect(await columnsOf(stage, TABLE)).toContain('full_name');
      const fields = await (await stage.read()).fields();
      expect(fields.map(({ id, column }) => [id, column])).toEqual([
        ['field_1_a', 'full_name'],
        ['field_9', 'full_name_2'],
      ]);
    });

    it('hold numbers as numbers and texts as texts', async () => {
      const [total] = await (async () => {
        await stage.write(async (writer) => {
          await writer.prepare([NAME, AGE]);
          await writer.apply(
            [
              row('a', { field_1_a: '007', field_2_b: 9 }),
              row('b', { field_1_a: '7', field_2_b: 10.5 }),
            ],
            [],
          );
        });
        return stage.place.query(
          `SELECT CAST(sum(age) AS text) AS total, CAST(count(*) AS text) AS many
           FROM ${stage.place.relation(TABLE)} WHERE age > 8 AND full_name IN ('007', '7')`,
        );
      })();
      expect(total).toEqual({ total: '19.5', many: '2' });
    });

    it('show when a row was first seen, changed and deleted; unchanged rows keep that (L4)', async () => {
      const times = async () => shown(stage, TABLE, ['_first_seen_at', '_changed_at']);
      const cells = { field_1_a: 'x', field_2_b: new ExactNumber('9007199254740993') };
      await store(cells, NAME, AGE);
      const first = await times();
      await store(cells, NAME, AGE);
      expect(await times()).toEqual(first);
      await store({ field_1_a: 'y' }, NAME, AGE);
      const changed = await times();
      expect(changed?.['_first_seen_at']).toBe(first?.['_first_seen_at']);
      expect(changed?.['_changed_at']).not.toBe(first?.['_changed_at']);
    });

    it('L4: an unchanged batch writes to no row', async () => {
      const rows = [row('a', { field_1_a: 'x', field_2_b: 1 }), row('b', { field_2_b: 2.5 })];
      const fields = fieldList(NAME, AGE, field('f3', 'Never answered'));
      const { place } = stage;
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        await writer.apply(rows, []);
      });
      const marks = (): Promise<unknown> =>
        place.query(
          place.product === 'PostgreSQL'
            ? `SELECT id, xmin::text, xmax::text, ctid::text FROM ${place.relation(TABLE)} ORDER BY id`
            : `SELECT id, _changed_at FROM ${place.relation(TABLE)} ORDER BY id`,
        );
      const before = await marks();
      if (place.product !== 'PostgreSQL') {
        const fail =
          place.product === 'SQLite'
            ? `BEGIN SELECT RAISE(ABORT, 'written'); END`
            : "FOR EACH ROW SIGNAL SQLSTATE '45000'";
        // Whoever writes to a row now fails.
        for (const event of ['UPDATE', 'DELETE', 'INSERT']) {
          await place.query(`CREATE TRIGGER no_${event} BEFORE ${event} ON ${TABLE} ${fail}`);
        }
      }
      await stage.write(async (writer) => {
        await writer.prepare(fields);
        expect((await writer.apply(rows, [])).outcomes).toEqual(['unchanged', 'unchanged']);
        expect(await writer.markDeleted(['nobody'], '2026-01-01T00:00:00.000Z')).toBe(0);
        await writer.setStatuses(new Map([['a', 'NEW']]));
      });
      expect(await marks()).toEqual(before);
    });

    it('store each batch as a whole or not at all, and take it the next time', async () => {
      const { place } = stage;
      const [table, hidden] = [place.relation('mirror_rejected'), place.relation('elsewhere')];
      const bad = { submissionId: 'b', reason: 'odd', stored: true };
      const rows = [row('a', { field_1_a: 5 })];
      await using writer = await stage.target.openWriter(FORM, AT_ONCE);
      await writer.prepare([NAME]);
      // Rejections are listed after the rows were stored and the column got its type; that fails now.
      await place.query(`ALTER TABLE ${table} RENAME TO elsewhere`);
      await expect(writer.apply(rows, [bad])).rejects.toMatchObject({ code: 'TARGET_FAILED' });
      const count = `SELECT CAST(count(*) AS text) AS n FROM ${place.relation(TABLE)}`;
      expect(await place.query(count)).toMatchObject([{ n: '0' }]);
      await place.query(`ALTER TABLE ${hidden} RENAME TO mirror_rejected`);
      expect((await writer.apply(rows, [bad])).outcomes).toEqual(['inserted']);
      const types = `SELECT type FROM ${place.relation('mirror_fields')}`;
      expect(await place.query(types)).toMatchObject([{ type: 'number' }]);
    });

    it('L10: fields may be called as statements call tables', async () => {
      const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
      const fields = fieldList(...letters.map((letter) => field(`f_${letter}`, letter)));
      const answered = (id: string) =>
        row(id, Object.fromEntries(letters.map((letter) => [`f_${letter}`, `${letter} of ${id}`])));
      const rows = ['1', '2', '3'].map(answered);
      const full = async (): Promise<readonly unknown[]> =>
        stage.write(async (writer) => {
          await writer.prepare(fields);
          await writer.losses();
          expect(await writer.distrustEdited?.('all')).not.toBe(true);
          const { outcomes } = await writer.apply(rows, []);
          await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
          return outcomes;
        });
      expect(await full()).toEqual(rows.map(() => 'inserted'));
      expect(await full()).toEqual(rows.map(() => 'unchanged'));
      rows[0] = row('1', { ...Object.fromEntries(rows[0]?.cells ?? []), f_d: 'new' });
      expect(await full()).toEqual(['updated', 'unchanged', 'unchanged']);
      {
        // Ended before anything is written: where there is one session, that would wait for it.
        await using snapshot = await stage.target.snapshot(FORM.id);
        const read: unknown[] = [];
        for await (const piece of snapshot?.rows({ withDeleted: true }) ?? []) read.push(...piece);
        expect(read).toHaveLength(3);
      }
      await stage.write(async (writer) => {
        await writer.setStatuses(new Map([['1', 'DONE']]));
        expect(await writer.markDeleted(['2'], '2026-03-05T00:00:00.000Z')).toBe(1);
        expect(await writer.countFilled(['f_t'])).toBe(3);
        expect(await writer.emptyFields(['f_t'], '2026-03-06T00:00:00.000Z')).toBe(3);
        expect(await writer.forget(['3'], '2026-03-06T00:00:00.000Z')).toMatchObject({ rows: 1 });
      });
      const stored = await (await stage.read()).rows(['1', '2', '3']);
      expect([...stored.keys()].toSorted()).toEqual(['1', '2']);
      expect(stored.get('1')?.cells.get('f_d')).toBe('new');
      const [count] = await stage.place.query(
        `SELECT COUNT(*) AS n FROM ${stage.place.relation('answers')}`,
      );
      expect(Number(count?.['n'])).toBe(2 * (letters.length - 1));
    });
  });

  describe('the catalogue', () => {
    it('has the tables and columns that were promised', async () => {
      await prepare(NAME);
      const promised = {
        mirror_forms: 'form_id slug name table_name view_name first_seen_at gone_at',
        mirror_fields: 'form_id field_id column_name label position type first_seen_at removed_at',
        mirror_label_history: 'form_id field_id label valid_from valid_to',
        mirror_passes:
          'form_id kind started_at ended_at requests total distinct_seen inserted updated unchanged deleted rejected outcome error_code error',
        mirror_rejected: 'form_id submission_id reason first_seen_at last_seen_at',
        mirror_checkpoints: 'form_id watermark total proven_at full_proven_at absent withheld',
      };
      for (const [table, columns] of Object.entries(promised)) {
        expect(await columnsOf(stage, table)).toEqual(expect.arrayContaining(columns.split(' ')));
      }
    });

    it('knows what every label was', async () => {
      await prepare(NAME);
      await prepare({ ...NAME, label: 'Name' });
      await prepare({ ...NAME, label: 'Who are you?' });
      const history = await stage.place.query(
        `SELECT label, CASE WHEN valid_to IS NULL THEN 'now' ELSE 'then' END AS until
         FROM ${stage.place.relation('mirror_label_history')} ORDER BY valid_from, label`,
      );
      expect(
        history.map(({ label, until }) => `${String(label)}: ${String(until)}`).sort(),
      ).toEqual(['Full name: then', 'Name: then', 'Who are you?: now']);
    });

    it('knows what type a column has', async () => {
      await store({ field_1_a: 'x', field_2_b: 1 }, NAME, AGE, field('f3', 'Empty'));
      const types = await stage.place.query(
        `SELECT column_name, type FROM ${stage.place.relation('mirror_fields')} ORDER BY ordinal`,
      );
      expect(types.map((one) => [one['column_name'], one['type']])).toEqual([
        ['full_name', 'text'],
        ['age', 'number'],
        ['empty', null],
      ]);
    });

    it('keeps the newest thousand passes of each kind, and the last good one', async () => {
      await stage.write(async (writer) => {
        await writer.prepare([]);
        await writer.finish(pass({ requests: 7 }), { checkpoint: CHECKPOINT });
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
        await writer.finish(pass({ outcome: 'failed', requests: 1_000 }), {});
      });
      // More than a thousand by doubling that one: each pass by itself would take many seconds.
      const columns = (await columnsOf(stage, 'mirror_passes')).filter((name) => name !== 'id');
      const passesTable = stage.place.relation('mirror_passes');
      for (let doubling = 0; doubling < 10; doubling++) {
        await stage.place.query(
          `INSERT INTO ${passesTable} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${passesTable} WHERE outcome = 'failed'`,
        );
      }
      await stage.write(async (writer) => {
        for (const requests of [1_001, 1_002, 1_003, 1_004]) {
          await writer.finish(pass({ outcome: 'failed', requests }), {});
        }
      });
      const passes = await (await stage.read()).passes(5_000);
      expect(passes.map((one) => one.requests).slice(0, 2)).toEqual([1_004, 1_003]);
      expect(passes.filter((one) => one.outcome === 'failed')).toHaveLength(1_000);
      expect(passes.filter((one) => one.outcome === 'ok')).toHaveLength(2);
      expect(await stage.target.overview()).toMatchObject([
        { lastPass: { requests: 1_004 }, lastOk: { kind: 'full' }, lastFull: { kind: 'full' } },
      ]);
    });
  });
}

/** The view that has the labels for names. */
export function describeLabelledView(stage: QueriedStage): void {
  const { prepare, store } = storing(stage);

  describe('the labelled view', () => {
    it('L9: has the current labels for names', async () => {
      await store({ field_1_a: 'Ada', field_2_b: 36 }, NAME, { ...AGE, label: 'Věk "let"' });
      expect(await columnsOf(stage, VIEW)).toEqual([
        'id',
        'status',
        'created_at',
        'Full name',
        'Věk "let"',
        '_first_seen_at',
        '_changed_at',
        '_deleted_at',
      ]);
      const view = stage.place.relation(VIEW);
      const rows = await stage.place.query(`SELECT "Full name" AS name FROM ${view}`);
      expect(rows).toMatchObject([{ name: 'Ada' }]);
    });

    it('L9: follows relabels, labels that change places, and new fields', async () => {
      await store({ field_1_a: 'Ada', field_2_b: 36 }, NAME, AGE);
      const extra = field('f3', 'Full name');
      await prepare({ ...NAME, label: 'Age' }, { ...AGE, label: 'Full name' }, extra);
      const columns = await columnsOf(stage, VIEW);
      expect([...columns].sort()).toEqual(
        [
          'id',
          'status',
          'created_at',
          '_first_seen_at',
          '_changed_at',
          '_deleted_at',
          'Age',
          'Full name',
          'Full name (2)',
        ].sort(),
      );
      expect(await shown(stage, VIEW, ['Age', 'Full name', 'Full name (2)'])).toEqual({
        Age: 'Ada',
        'Full name': '36',
        'Full name (2)': null,
      });
    });

    it('L9: distinguishes equal labels, and those that are system columns', async () => {
      const fields = ['Name', 'name', 'Status', 'ID', '_changed_at', 'Name (2)', ''].map(
        (label, index) => field(`f${index}`, label),
      );
      await prepare(...fields);
      expect((await columnsOf(stage, VIEW)).slice(3, -3)).toEqual([
        'Name',
        'name (2)',
        'Status (2)',
        'ID (2)',
        '_changed_at (2)',
        'Name (2) (2)',
        'f6',
      ]);
    });

    it('L9: takes labels of any length and any characters', async () => {
      const labels = [
        'ž'.repeat(100),
        'ž'.repeat(101),
        'a\nb\tc\0d',
        '😀'.repeat(40),
        "'; --",
        '$1',
      ];
      const fields = labels.map((label, index) => field(`f${index}`, label));
      await prepare(...fields);
      await prepare(...fields);
      const names = (await columnsOf(stage, VIEW)).slice(3, -3);
      expect(new Set(names).size).toBe(labels.length);
      expect(names.slice(2)).toEqual([
        'a b c\u{FFFD}d',
        // MySQL has no emoji in names.
        expect.stringMatching(/^(?:(?:😀)+|\u{FFFD}+)$/u),
        "'; --",
        '$1',
      ]);
    });

    it('L4: is left alone when nothing changed', async () => {
      await prepare(NAME, AGE);
      const { place } = stage;
      const mark = (): Promise<unknown> =>
        place.query(
          place.product === 'PostgreSQL'
            ? `SELECT c.oid::text, c.xmin::text, r.xmin::text AS rule FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid
               WHERE c.oid = to_regclass('${place.relation(VIEW)}')`
            : place.product === 'SQLite'
              ? 'SELECT schema_version FROM pragma_schema_version'
              : `SHOW CREATE VIEW ${place.relation(VIEW)}`,
        );
      const before = await mark();
      await prepare(NAME, AGE);
      expect(await mark()).toEqual(before);
    });
  });
}
