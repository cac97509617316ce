import { type Connection, createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenForm, StoredRow } from '../../src/mirror/port.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { type Cell, ExactNumber, JsonText, type SelectedField } from '../../src/mirror/types.ts';
import { lentMariadb } from '../support/lent-server.ts';
import { createMysqlDatabase, mariadbMissing } from '../support/servers.ts';
import {
  AGE,
  claimed,
  clock,
  formOf,
  freshnessAfterPolls,
  messagesOf,
  NAME,
  row,
} from './store-fixtures.ts';

/*
 * What MySQL and MariaDB do otherwise than SQLite, which the simulation does not draw.
 */

describe.skipIf(mariadbMissing())('the new SQL store over MariaDB', () => {
  let url: string;
  let person: Connection;

  beforeAll(async () => {
    url = await createMysqlDatabase(await lentMariadb());
    person = await createConnection({ uri: url, charset: 'utf8mb4', multipleStatements: true });
  });
  afterAll(() => person.end());

  /** Opens a form, does something with it, and ends as a run does. */
  async function write<T>(
    slug: string,
    work: (form: OpenForm) => Promise<T>,
    fields: readonly SelectedField[] = [NAME, AGE],
  ): Promise<{ result: T; notes: string[]; losses: readonly string[] }> {
    await using store = await parseTargetUrl(url).open('default', { clock, history: 'full' });
    const form = formOf(slug, fields);
    await using open = await store.open(form, 'write');
    await open.prepare(form, fields);
    const result = await work(open);
    return { result, notes: messagesOf(await open.finish()), losses: open.losses };
  }

  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const [rows] = await person.query(sql);
    return (rows as Record<string, unknown>[]).map((each) => Object.assign({}, each));
  };

  const all = async (form: OpenForm): Promise<StoredRow[]> => {
    const found: StoredRow[] = [];
    for await (const some of form.rows({}, true)) found.push(...some);
    return found;
  };

  it('L10: numbers keep all their digits, times their microseconds', async () => {
    const long = new ExactNumber('12345678901234567890123.5');
    const rows = [
      row('a', { f_age: long }),
      row('b', { f_age: '007' }),
      row('c', { f_age: 0.1 }),
      row('d', { f_age: 1e300 }),
      row('e', { f_age: -9007199254740991 }),
    ];
    await write('numbers', (form) => form.commit({ rows }));
    expect(await query('SELECT age, age_text FROM numbers ORDER BY id')).toEqual([
      { age: 1.2345678901234568e22, age_text: long.digits },
      { age: null, age_text: '007' },
      { age: 0.1, age_text: null },
      { age: 1e300, age_text: null },
      { age: -9007199254740991, age_text: null },
    ]);
    const { result } = await write('numbers', async (form) => [
      await all(form),
      await form.commit({ rows }),
    ]);
    expect(result[0]).toEqual(rows.map((each) => Object.assign(each, { deletedAt: null })));
    expect(result[1]).toMatchObject({ unchanged: 5, inserted: 0, updated: 0 });
  });

  it('L10: tells IDs apart by case, accents and spaces, and keeps every text unchanged', async () => {
    const texts = ['x ', 'X', 'é', 'e', '😀\\', 'it\'s "$1"', 'a\0b', 'line\r\nbreak', '%_'];
    const rows = [...texts.entries()].map(([at, text]) =>
      row(['a', 'A', 'a ', 'á', '😀', "'", '\\', '"', '$1'][at] ?? '', { f_name: text }),
    );
    await write('texts', (form) => form.commit({ rows }));
    const { result } = await write('texts', async (form) => {
      const found = await all(form);
      return [found.map(({ id, cells }) => [id, cells.get('f_name')]), await form.commit({ rows })];
    });
    expect(new Map(result[0] as [string, Cell][])).toEqual(
      new Map(rows.map(({ id, cells }) => [id, cells.get('f_name') ?? null])),
    );
    expect(result[1]).toMatchObject({ unchanged: rows.length });
    const done = rows.map(({ id }) => row(id, {}, 'DONE'));
    await write('texts', (form) => form.commit({ rows: done }));
    const ended = await query('SELECT id, full_name AS f FROM texts_history WHERE _valid_to > 0');
    expect(new Map(ended.map(({ id, f }) => [id, f]))).toEqual(
      new Map(rows.map(({ id, cells }) => [id, cells.get('f_name') ?? null])),
    );
  });

  it('L10: takes IDs and names as long as they may be', async () => {
    const id = '\u{FFFD}'.repeat(500);
    await write('long', (form) =>
      form.commit({
        rows: [row(id, { f_name: 'x' })],
        entries: [
          {
            kind: 'rejected',
            id: `${id.slice(1)}a`,
            status: 'NEW',
            createdAt: null,
            reason: 'r',
            atMs: 0,
          },
        ],
      }),
    );
    expect(await query('SELECT char_length(id) AS n FROM `long`')).toEqual([{ n: 500 }]);
  });

  it('shows choices, dates and versions', async () => {
    for (const list of ['["x"]', '["x","2024-02-29"]'])
      await write('choices', (form) =>
        form.commit({ rows: [row('a', { f_name: new JsonText(list), f_age: 0.1 })] }),
      );
    expect(
      await query(
        `SELECT label, value_index, value_text, value_number, CAST(value_date AS char) AS d FROM answers WHERE slug = 'choices' ORDER BY 1, 2`,
      ),
    ).toEqual([
      { label: 'Age', value_index: 1, value_text: '0.1', value_number: 0.1, d: null },
      { label: 'Full name', value_index: 1, value_text: 'x', value_number: null, d: null },
      {
        label: 'Full name',
        value_index: 2,
        value_text: '2024-02-29',
        value_number: null,
        d: '2024-02-29 00:00:00',
      },
    ]);
    expect(
      await query(
        'SELECT full_name, age, _valid_to IS NULL AS now FROM choices_history ORDER BY _valid_from',
      ),
    ).toEqual([
      { full_name: '["x"]', age: 0.1, now: 0 },
      { full_name: '["x","2024-02-29"]', age: 0.1, now: 1 },
    ]);
    await write('choices', (form) =>
      form.commit({ rows: [row('a', { f_name: new JsonText('["x"]') }, 'DONE')] }),
    );
    expect(
      await query(
        `SELECT status, not_before IS NULL AS n FROM mirror_status_history WHERE form_id = 'form_choices' ORDER BY seen_at`,
      ),
    ).toEqual([
      { status: 'NEW', n: 1 },
      { status: 'DONE', n: 1 },
    ]);
  });

  it('lists forms, fields, labels and freshness, the same in any mode of the reader', async () => {
    await write('listed', (form) =>
      form.commit({
        rows: [row('a', { f_name: 'x' })],
        state: (state) => ({ ...state, submissionsAsOfMs: 1_700_000_000_123 }),
      }),
    );
    await write('listed', async () => {}, [{ ...NAME, label: 'Näme 😀' }, AGE]);
    for (const mode of ['ANSI_QUOTES,STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES', '']) {
      await person.query(`SET sql_mode = '${mode}'`);
      expect(
        await query(
          `SELECT slug, name, table_name, view_name, gone_at FROM mirror_forms WHERE slug = 'listed'`,
        ),
      ).toEqual([
        {
          slug: 'listed',
          name: 'listed',
          table_name: 'listed',
          view_name: 'listed_labelled',
          gone_at: null,
        },
      ]);
      expect(
        await query(
          `SELECT column_name, text_column, label, position, type, is_in_form FROM mirror_fields WHERE form_id = 'form_listed' ORDER BY position`,
        ),
      ).toEqual([
        {
          column_name: 'full_name',
          text_column: null,
          label: 'Näme 😀',
          position: 0,
          type: 'text',
          is_in_form: 1,
        },
        {
          column_name: null,
          text_column: null,
          label: 'Age',
          position: 1,
          type: null,
          is_in_form: 1,
        },
      ]);
      expect(
        await query(
          `SELECT label, valid_from < valid_to AS ended FROM mirror_label_history WHERE form_id = 'form_listed' AND field_id = 'f_name' ORDER BY valid_from`,
        ),
      ).toEqual([
        { label: 'Full name', ended: 1 },
        { label: 'Näme 😀', ended: null },
      ]);
      expect(
        await query(
          "SELECT `rows` AS n, CAST(submissions_as_of AS char) AS s, answers_as_of AS a FROM freshness WHERE form = 'listed'",
        ),
      ).toEqual([{ n: '1', s: '2023-11-14 22:13:20.123000', a: null }]);
      expect(await query('SELECT `Näme \uFFFD` AS n FROM listed_labelled')).toEqual([{ n: 'x' }]);
    }
  });

  it('L17: moves the times of freshness by polls that agree', async () => {
    await write('polled', (form) => form.commit({ rows: [row('a', {})], state: claimed }));
    const open = () => parseTargetUrl(url).open('default', { clock, history: 'full' });
    const { shown, expected } = await freshnessAfterPolls(open, 'form_polled', async () => {
      const [found] = await query(
        "SELECT CAST(submissions_as_of AS char) AS a, CAST(statuses_as_of AS char) AS b FROM freshness WHERE form = 'polled'",
      );
      return [Date.parse(`${String(found?.['a'])}Z`), Date.parse(`${String(found?.['b'])}Z`)];
    });
    expect(shown).toEqual(expected);
  });

  it('L14: of 1,200 fields are all there, most of them in one column', async () => {
    const fields = Array.from({ length: 1_200 }, (_, at) => ({
      ...NAME,
      id: `f_${at}`,
      label: `Field ${at}`,
      position: at,
    }));
    const wide = row('a', Object.fromEntries(fields.map(({ id }) => [id, 'ä'.repeat(200)])));
    const { result } = await write('wide', (form) => form.commit({ rows: [wide] }), fields);
    expect(result).toMatchObject({ inserted: 1, rejected: 0 });
    const { result: read } = await write(
      'wide',
      async (form) => [await all(form), await form.commit({ rows: [wide] })],
      fields,
    );
    expect((read[0] as StoredRow[])[0]?.cells).toEqual(wide.cells);
    expect(read[1]).toMatchObject({ unchanged: 1 });
    expect(
      await query(
        `SELECT count(*) AS n, max(char_length(value_text)) AS l FROM answers WHERE slug = 'wide'`,
      ),
    ).toEqual([{ n: 1_200, l: 200 }]);
  });

  it('L6: has failed where a constraint or a trigger of a person takes rows away', async () => {
    await write('refused', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await person.query(`ALTER TABLE refused ADD CONSTRAINT theirs CHECK (id <> 'c')`);
    const refused = write('refused', (form) => form.commit({ rows: [row('b', {}), row('c', {})] }));
    await expect(refused).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('theirs'),
    });
    await person.query(`ALTER TABLE refused DROP CONSTRAINT theirs;
      CREATE TRIGGER theirs BEFORE INSERT ON refused FOR EACH ROW SET NEW.full_name = 'other'`);
    const changed = write('refused', (form) => form.commit({ rows: [row('d', { f_name: 'y' })] }));
    await expect(changed).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    await person.query(`DROP TRIGGER theirs; ALTER TABLE refused ADD UNIQUE (full_name(20))`);
    const taken = write('refused', (form) => form.commit({ rows: [row('e', { f_name: 'x' })] }));
    await expect(taken).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(await query('SELECT id FROM refused')).toEqual([{ id: 'a' }]);
  });

  it('L6: has failed where a trigger comes between rows that are all new', async () => {
    const refused = write('watched', async (form) => {
      for (const id of ['a', 'b']) await form.commit({ rows: [row(id, { f_name: 'x' })] });
      await person.query(
        `CREATE TRIGGER later BEFORE INSERT ON watched FOR EACH ROW SET NEW.full_name = 'other'`,
      );
      await form.commit({ rows: [row('c', { f_name: 'y' })] });
    });
    await expect(refused).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(await query('SELECT id, full_name FROM watched ORDER BY id')).toEqual([
      { id: 'a', full_name: 'x' },
      { id: 'b', full_name: 'x' },
    ]);
  });

  it('L6: lists a row that no statement has room for, and stores the others', async () => {
    const large = row('b', { f_name: 'x'.repeat(17_000_000) });
    const rows = [row('a', { f_name: 'x' }), large, row('c', { f_name: 'z' })];
    const { result } = await write('large', (form) => form.commit({ rows }));
    expect(result).toMatchObject({ inserted: 2, rejected: 1 });
    expect(
      await query(`SELECT submission_id FROM mirror_rejected WHERE form_id = 'form_large'`),
    ).toEqual([{ submission_id: 'b' }]);
    expect(await query('SELECT id FROM large ORDER BY id')).toEqual([{ id: 'a' }, { id: 'c' }]);
  });

  it('does not change the views and rights of people', async () => {
    await write('kept', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await person.query(`CREATE VIEW theirs AS SELECT id, \`Full name\` AS n FROM kept_labelled;
      CREATE USER IF NOT EXISTS mirror_analyst; GRANT SELECT ON kept_live TO mirror_analyst`);
    const { notes } = await write(
      'kept',
      (form) => form.commit({ rows: [row('b', { f_name: 'y', f_age: 5 })] }),
      [{ ...NAME, label: 'Name' }, AGE],
    );
    expect(await query('SELECT n FROM theirs ORDER BY id')).toEqual([{ n: 'x' }, { n: 'y' }]);
    expect(notes).toEqual([expect.stringContaining('kept_labelled')]);
    expect(await query('SELECT age FROM kept_live ORDER BY id')).toEqual([
      { age: null },
      { age: 5 },
    ]);
    const [grants] = await person.query('SHOW GRANTS FOR mirror_analyst');
    expect(JSON.stringify(grants)).toContain('kept_live');
    await person.query('DROP VIEW theirs; DROP USER mirror_analyst');
    const { notes: later } = await write('kept', async () => {}, [{ ...NAME, label: 'Name' }, AGE]);
    expect(later).toEqual([]);
    expect(await query('SELECT `Name` AS n FROM kept_labelled ORDER BY id')).toHaveLength(2);
  });

  it('L13: lets one writer in, and a writer that was asleep commits nothing', async () => {
    const sessions = async (): Promise<unknown[]> =>
      (
        await query(
          'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()',
        )
      ).map(({ id }) => id);
    const before = await sessions();
    await using one = await parseTargetUrl(url).open('default', { clock, history: 'status' });
    await one.forms();
    const session = (await sessions()).find((id) => !before.includes(id));
    await using two = await parseTargetUrl(url).open('default', { clock, history: 'status' });
    const form = formOf('writers', [NAME]);
    const first = await one.open(form, 'write');
    await expect(two.open(form, 'write')).rejects.toMatchObject({ code: 'TARGET_BUSY' });
    await person.query(`KILL ${String(session)}`);
    // The lock is gone with the session.
    await expect.poll(sessions).not.toContain(session);
    await using second = await two.open(form, 'write');
    await second.prepare(form, [NAME]);
    await second.commit({ rows: [row('a', { f_name: 'second' })] });
    const late = first.commit({ rows: [row('a', { f_name: 'first' })] });
    await expect(late).rejects.toMatchObject({ code: 'TARGET_BUSY' });
  });

  it('gives two forms that are made at once, and have one slug, a table each', async () => {
    const places = await Promise.all(
      ['one', 'two'].map(async (id) => {
        await using store = await parseTargetUrl(url).open('default', { clock, history: 'status' });
        await using open = await store.open({ ...formOf('same', [NAME]), id }, 'write');
        return open.state.place;
      }),
    );
    expect(new Set(places).size).toBe(2);
    expect(places).toContain('same');
  });

  it('L5: knows the columns and views that a killed process left', async () => {
    await write('killed', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    // As it is when a process ends after the state names a column: before the column is made, or before a row uses it.
    const name = async (make: boolean): Promise<void> => {
      const [kept] = await query(`SELECT fields FROM _mirror_state WHERE form_id = 'form_killed'`);
      const fields = JSON.parse(String(kept?.['fields'])) as Record<string, unknown>[];
      const age = fields.find(({ id }) => id === 'f_age');
      Object.assign(age ?? {}, { column: 'age', type: 'number' });
      await person.query(
        `UPDATE _mirror_state SET fields = ?, revision = revision + 1 WHERE form_id = 'form_killed'`,
        [JSON.stringify(fields)],
      );
      if (make) await person.query('ALTER TABLE killed ADD COLUMN age double');
    };
    await name(false);
    const unmade = await write('killed', async () => {});
    expect(unmade).toMatchObject({
      notes: [],
      losses: ['The column age of killed is missing; it is filled again.'],
    });
    await name(true);
    const made = await write('killed', (form) =>
      form.commit({ rows: [row('b', { f_name: 'y', f_age: 5 })] }),
    );
    expect(made).toMatchObject({ notes: [], losses: [] });
    expect(await query('SELECT * FROM killed_live ORDER BY id')).toMatchObject([
      { id: 'a', full_name: 'x', age: null },
      { id: 'b', full_name: 'y', age: 5 },
    ]);
    await person.query(
      `UPDATE _mirror_records SET value = JSON_SET(value, '$.killed_live', '') WHERE name = 'views'`,
    );
    expect((await write('killed', async () => {})).notes).toEqual([]);
  });
});
