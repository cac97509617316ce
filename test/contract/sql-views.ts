import { describe, expect, it } from 'vitest';
import {
  type Cell,
  ExactNumber,
  type FormIdentity,
  JsonText,
  type PickedField,
  type Row,
} from '../../src/mirror/types.ts';
import { decimalText } from '../../src/mirror/numbers.ts';
import { sqlOf } from './sql-by-hand.ts';
import type { SqlStage } from './sql-target.ts';
import { columnsOf } from './sql-target-tables.ts';
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

const OTHER: FormIdentity = { id: 'frm_2', slug: 'event', name: 'Event' };

const SUBMISSIONS = [
  'form_id',
  'slug',
  'form_name',
  'submission_id',
  'status',
  'created_at',
  'first_seen_at',
  'changed_at',
  'deleted_at',
  'is_live',
];
const ANSWERS = [
  'form_id',
  'slug',
  'submission_id',
  'status',
  'created_at',
  'is_live',
  'field_id',
  'column_name',
  'label',
  'value_index',
  'value_text',
  'value_number',
  'value_date',
];

/** The views over all forms, and those of live rows. */
export function describeSqlViews(stage: SqlStage): void {
  const sql = sqlOf(stage);
  /** A pass that stores these rows and ends well. */
  const passOver = (rows: readonly Row[], fields: readonly PickedField[], form = FORM) =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(...fields));
      const { outcomes } = await writer.apply(rows, []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      return outcomes;
    }, form);
  /** Answers as texts: field, index, text, number, date. */
  const answers = async (where = '1 = 1'): Promise<unknown[][]> => {
    const rows = await sql(
      `SELECT submission_id AS s, field_id AS f, CAST(value_index AS text) AS i, value_text AS t, CAST(value_number AS text) AS n,
       CAST(value_date AS text) AS d FROM {answers} WHERE ${where} ORDER BY submission_id, field_id, value_index`,
    );
    return rows.map(({ s, f, i, t, n, d }) => [s, f, i, t, n, d]);
  };

  /** SQLite holds the nearest double. */
  const nearest = (exact: string): unknown =>
    ({
      SQLite: expect.stringMatching(/^1\.234567890123\d+e\+19$/),
      PostgreSQL: exact,
      'MySQL or MariaDB': expect.stringMatching(/^1\.?234567890123\d+(e19)?$/),
    })[stage.place.product];

  describe('the views over all forms', () => {
    it('show every form under the same names, deleted rows included', async () => {
      await passOver([row('a'), row('b', {}, { status: 'DONE' })], [NAME]);
      await stage.write((writer) => writer.markDeleted(['b'], '2026-03-05T00:00:00.000Z'));
      await passOver([row('c')], [AGE], OTHER);
      expect(await columnsOf(stage, 'submissions')).toEqual(SUBMISSIONS);
      expect(await columnsOf(stage, 'answers')).toEqual(ANSWERS);
      const rows = await sql(
        `SELECT form_id, slug, form_name, submission_id, status, CASE WHEN is_live THEN 'live' ELSE 'gone' END AS is_live
         FROM {submissions} WHERE created_at < '2026-03-02' ORDER BY submission_id`,
      );
      expect(rows.map((one) => Object.values(one))).toEqual([
        ['frm_1', 'contact-form', 'Contact form', 'a', 'NEW', 'live'],
        ['frm_1', 'contact-form', 'Contact form', 'b', 'DONE', 'gone'],
        ['frm_2', 'event', 'Event', 'c', 'NEW', 'live'],
      ]);
    });

    it('have a row for each answer with its text, and for each choice of several; a blank is none', async () => {
      const fields = ['text', 'number', 'list', 'object', 'empty', 'mixed'].map((id) =>
        field(id, `The ${id}`),
      );
      const cells: Record<string, Cell> = {
        text: 'Žofie 😀',
        number: new ExactNumber('12345678901234567890.5'),
        list: new JsonText('["red","blue","",null,7,12345678901234567891,true,["x"]]'),
        object: new JsonText('{"a":1}'),
        empty: '',
        mixed: 5,
      };
      await passOver(
        [
          row('a', cells),
          row('b', { text: '', number: 0.1, list: new JsonText('[]'), mixed: 'two' }),
          row('c', { number: 7, list: 'none of these' }),
        ],
        fields,
      );
      expect(await answers()).toEqual([
        ['a', 'list', '1', 'red', null, null],
        ['a', 'list', '2', 'blue', null, null],
        ['a', 'list', '5', '7', '7', null],
        ['a', 'list', '6', '12345678901234567891', nearest('12345678901234567891'), null],
        ['a', 'list', '7', 'true', null, null],
        ['a', 'list', '8', expect.stringMatching(/^\["x"\]$/), null, null],
        ['a', 'mixed', '1', '5', '5', null],
        ['a', 'number', '1', '12345678901234567890.5', nearest('12345678901234567890.5'), null],
        ['a', 'object', '1', expect.stringMatching(/^\{"a": ?1\}$/), null, null],
        ['a', 'text', '1', 'Žofie 😀', null, null],
        ['b', 'mixed', '1', 'two', null, null],
        ['b', 'number', '1', '0.1', '0.1', null],
        ['c', 'list', '1', 'none of these', null, null],
        ['c', 'number', '1', '7', '7', null],
      ]);
      const named = await sql(
        "SELECT DISTINCT column_name, label FROM {answers} WHERE field_id = 'mixed'",
      );
      expect(named).toEqual([{ column_name: 'the_mixed', label: 'The mixed' }]);
    });

    it('tell every digit of a number', async () => {
      const rows = [0.30000000000000004, -1.7976931348623157e308].map((n, index) =>
        row(`r${index}`, { n }),
      );
      const long = row('r2', { n: new ExactNumber('9223372036854775807') });
      await passOver([...rows, long], [field('n', 'N')]);
      const found = await sql('SELECT value_text AS t FROM {answers} ORDER BY submission_id');
      const [first, second, third] = found.map(({ t }) => String(t));
      expect(first).toBe('0.30000000000000004');
      expect(Number(second)).toBe(-1.7976931348623157e308);
      expect(third).toBe('9223372036854775807');
    });

    it('tell a number as it was answered, wherever it stands', async () => {
      const numbers = [
        4.895167900000001, 0.00001, 1e21, 1e15, 123456.789, -0.00001234, 5e-7, 1.5e16, 5e-307,
      ];
      const rows = numbers.map((n, index) =>
        row(`r${index}`, { n, l: new JsonText(JSON.stringify([n])) }),
      );
      await passOver(rows, [field('n', 'N'), field('l', 'L')]);
      const texts = numbers.map((number) => decimalText(number));
      const isMysql = stage.place.product === 'MySQL or MariaDB';
      for (const of of ['n', 'l']) {
        const found = await sql(
          `SELECT value_text AS t FROM {answers} WHERE field_id = '${of}' ORDER BY submission_id`,
        );
        // MySQL and MariaDB write very large and very small numbers with an exponent.
        const shown = found.map(({ t }) => (isMysql ? decimalText(Number(t)) : t));
        expect(shown).toEqual(texts);
      }
    });

    it('have the nearest double where a number in a list is beyond every one', async () => {
      await passOver([row('a', { l: new JsonText('[1e400,-1e400]') })], [field('l', 'L')]);
      const found = await sql('SELECT value_number AS n FROM {answers} ORDER BY value_index');
      const isExact = stage.place.product === 'PostgreSQL';
      expect(found.map(({ n }) => (isExact ? String(n).length : n))).toEqual(
        isExact ? [401, 402] : [Number.MAX_VALUE, -Number.MAX_VALUE],
      );
    });

    it('take a text for a date where it is one by ISO 8601, and never fail for one that is none', async () => {
      const dates: Record<string, string | null> = {
        '2024-02-29': '2024-02-29 00:00:00',
        '2024-03-01T10:20': '2024-03-01 10:20:00',
        '2024-03-01 10:20:30': '2024-03-01 10:20:30',
        '2024-03-01T01:20:30+02:00': '2024-02-29 23:20:30',
        '2024-03-01T10:20:30Z': '2024-03-01 10:20:30',
        '1999-12-31': '1999-12-31 00:00:00',
        '2000-02-29': '2000-02-29 00:00:00',
      };
      const none = [
        '2024-02-30',
        '2024-02-31',
        '2023-02-29',
        '1900-02-29',
        '2024-13-01',
        '2024-00-10',
        '2024-04-31',
        '0000-01-01',
        '2024-03-01T24:00',
        '2024-03-01T25:00',
        '2024-03-01T10:61',
        '2024-03-01T',
        '2024-03-01T10',
        '2024-03-01T10:20:30 Z',
        '2024-03-01T10:20:30.',
        '2024-03-01 and more',
        '24-03-01',
        '12:30',
        'now',
        '2460000.5',
        '1e400',
        ' 2024-03-01',
        '2024-03-01T10:20:30+19:00',
        '2024-02-29\n',
        '2024-02-29T10:15\n',
        '2024-02-29T10:15Z\n',
        '2024-02-29T10:15-05:00\n',
        '2024-02-29T10:15\r\n',
        '2024-02-29T10:15\u2028',
        '2024-02-29T10:15\t+02:00',
        '٢٠٢٤-٠٣-٠١',
      ];
      for (const text of none) dates[text] = null;
      const rows = Object.keys(dates).map((text, index) => row(`r${index}`, { d: text }));
      await passOver(rows, [field('d', 'Day')]);
      const found = await sql(
        'SELECT value_text AS t, CAST(value_date AS text) AS d FROM {answers}',
      );
      expect(Object.fromEntries(found.map(({ t, d }) => [t, d]))).toEqual(dates);
    });

    it('hold what stands in the overflow column', async () => {
      const fields = Array.from({ length: 2_000 }, (_, index) => field(`f${index}`, `Q ${index}`));
      await passOver(
        [
          row('w', {
            f0: 'first',
            f1990: 'last',
            f1991: 12.5,
            f1992: new JsonText('["a \\"b\\"","c"]'),
            f1993: new JsonText('{"a":[1]}'),
            f1994: '2024-03-01',
          }),
          row('x', { f1992: '[no list', f1990: 7 }),
        ],
        fields,
      );
      expect(await answers()).toEqual([
        ['w', 'f0', '1', 'first', null, null],
        ['w', 'f1990', '1', 'last', null, null],
        ['w', 'f1991', '1', '12.5', '12.5', null],
        ['w', 'f1992', '1', 'a "b"', null, null],
        ['w', 'f1992', '2', 'c', null, null],
        ['w', 'f1993', '1', '{"a":[1]}', null, null],
        ['w', 'f1994', '1', '2024-03-01', null, '2024-03-01 00:00:00'],
        ['x', 'f1990', '1', '7', null, null],
        ['x', 'f1992', '1', '[no list', null, null],
      ]);
    });

    it('L9: follow new fields, relabels and answers of another kind, and what people built on them goes on', async () => {
      await passOver([row('a', { field_1_a: 'x' })], [NAME]);
      await sql('CREATE VIEW {theirs} AS SELECT submission_id, label, value_text FROM {answers}');
      const age = [row('a', { field_1_a: 'x', field_2_b: 5 })];
      await passOver(age, [{ ...NAME, label: 'Name' }, AGE]);
      const texts = [row('b', { field_1_a: 'y', field_2_b: 'six' })];
      await passOver(texts, [{ ...NAME, label: 'Name' }, AGE]);
      await passOver([row('c', { field_2_b: 1 })], [AGE], OTHER);
      const rows = await sql('SELECT * FROM {theirs} ORDER BY submission_id, label');
      expect(rows.map((one) => Object.values(one))).toEqual([
        ['a', 'Age', '5'],
        ['a', 'Name', 'x'],
        ['b', 'Age', 'six'],
        ['b', 'Name', 'y'],
        ['c', 'Age', '1'],
      ]);
      expect(await answers("value_text = 'six'")).toEqual([
        ['b', 'field_2_b', '1', 'six', null, null],
      ]);
    });

    it('L9: stand in no way of the type that the first answer gives a column', async () => {
      await passOver([row('a')], [NAME, AGE]);
      await passOver([row('a', { field_2_b: 5 })], [NAME, AGE]);
      const [{ type } = {}] = await sql(
        "SELECT type FROM {mirror_fields} WHERE field_id = 'field_2_b'",
      );
      expect(type).toBe('number');
      expect(await answers()).toEqual([['a', 'field_2_b', '1', '5', '5', null]]);
    });

    it('L4: are left as they are by passes that change no column', async () => {
      const rows = [row('a', { field_1_a: 'x' })];
      await passOver(rows, [NAME]);
      await passOver([row('c')], [AGE], OTHER);
      await passOver(rows, [NAME]);
      const before = await sql(STATE[stage.place.product]);
      expect(await passOver([row('b', { field_1_a: 'y' })], [NAME])).toEqual(['inserted']);
      await passOver([row('c')], [AGE], OTHER);
      expect(await sql(STATE[stage.place.product])).toEqual(before);
    });

    it('L5: are made again when people dropped them, or a table that they show', async () => {
      await passOver([row('a', { field_1_a: 'x' })], [NAME]);
      await passOver([row('c')], [AGE], OTHER);
      await sql('DROP VIEW {answers}');
      await sql('DROP VIEW {contact_form_live}');
      await passOver([row('b', { field_1_a: 'y' })], [NAME]);
      expect(await answers()).toHaveLength(2);
      expect(await sql('SELECT id FROM {contact_form_live}')).toHaveLength(2);
      const cascade = stage.place.product === 'SQLite' ? '' : ' CASCADE';
      await sql(`DROP TABLE {event}${cascade}`);
      await passOver([row('b', { field_1_a: 'y' })], [NAME]);
      expect(await sql('SELECT submission_id FROM {submissions}')).toHaveLength(2);
      await passOver([row('c')], [AGE], OTHER);
      expect(await sql('SELECT submission_id FROM {submissions}')).toHaveLength(3);
    });

    it('leave alone what people have under their names, which `check` then says, and so does a form of that name', async () => {
      await stage.write((writer) => writer.prepare([NAME]));
      await sql('CREATE TABLE {answers} (mine text)');
      await passOver([row('a', { field_1_a: 'x' })], [NAME]);
      const named = { id: 'frm_3', slug: 'submissions', name: 'Submissions' };
      await passOver([row('s')], [NAME], named);
      await passOver([row('a', { field_1_a: 'y' })], [NAME]);
      expect(await sql('SELECT mine FROM {answers}')).toEqual([]);
      expect(await sql('SELECT value_text FROM {mirror_answers}')).toEqual([{ value_text: 'y' }]);
      expect(await sql('SELECT submission_id FROM {submissions}')).toHaveLength(2);
      expect(await sql('SELECT id FROM {submissions_2}')).toEqual([{ id: 's' }]);
      const checks = await stage.target.check();
      expect(checks.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/answers.*mirror_answers/),
      );
      const { relations = [] } = (await stage.target.relations()) ?? {};
      const names = relations.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['submissions', 'mirror_answers', 'contact_form_live']),
      );
      expect(names).not.toContain('answers');
    });

    it('follow a table that was made anew beside a former one', async () => {
      await passOver([row('a', { field_1_a: 'x' })], [NAME]);
      await sql('ALTER TABLE {contact_form} RENAME TO old_one');
      await passOver([row('b', { field_1_a: 'y' })], [NAME]);
      expect(await sql('SELECT submission_id AS id FROM {submissions}')).toEqual([{ id: 'b' }]);
      expect(await sql('SELECT id FROM {contact_form_live}')).toEqual([{ id: 'b' }]);
      expect(await answers()).toEqual([['b', 'field_1_a', '1', 'y', null, null]]);
    });

    it('are right whichever of several writers ends last', async () => {
      const forms = [1, 2, 3, 4].map((n) => ({ id: `frm_${n}`, slug: `form-${n}`, name: `${n}` }));
      await Promise.all(
        forms.map(async (form) => {
          const target = await stage.open();
          await using writer = await target.openWriter(form, AT_ONCE);
          await writer.prepare([NAME]);
          await writer.apply([row(form.id, { field_1_a: 'x' })], []);
          await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
        }),
      );
      await stage.write((writer) => writer.finish(pass(), {}), forms[0]);
      const shown = await sql('SELECT submission_id AS id FROM {answers} ORDER BY submission_id');
      expect(shown.map(({ id }) => id)).toEqual(forms.map(({ id }) => id));
    });
  });
}

/** What changes when a view is made again. */
const STATE = {
  SQLite: 'PRAGMA schema_version',
  'MySQL or MariaDB': `SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = database() ORDER BY 1`,
  PostgreSQL: `SELECT c.relname, r.xmin::text AS state FROM pg_class AS c JOIN pg_rewrite AS r ON r.ev_class = c.oid
    WHERE c.oid IN ('{answers}'::regclass, '{submissions}'::regclass, '{contact_form_live}'::regclass) ORDER BY 1`,
} as const;
