import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wholeRead } from '../../src/mirror/form-state.ts';
import type { OpenForm } from '../../src/mirror/port.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { hashedCell } from '../../src/mirror/cells.ts';
import { type Cell, ExactNumber, JsonText, type SelectedField } from '../../src/mirror/types.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { createDatabase, postgresMissing } from '../support/servers.ts';
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
 * What PostgreSQL does otherwise than SQLite, which the simulation does not draw.
 */

describe.skipIf(postgresMissing())('the new SQL store over PostgreSQL', () => {
  let url: string;
  let person: pg.Client;

  beforeAll(async () => {
    url = await createDatabase(await lentPostgres());
    person = new pg.Client({ connectionString: url });
    await person.connect();
  });
  afterAll(() => person.end());

  /** Opens a form, does something with it, and ends as a run does. */
  async function write<T>(
    slug: string,
    work: (form: OpenForm) => Promise<T>,
    fields: readonly SelectedField[] = [NAME, AGE],
  ): Promise<{ result: T; notes: string[] }> {
    await using store = await parseTargetUrl(url).open('default', { clock, history: 'full' });
    const form = formOf(slug, fields);
    await using open = await store.open(form, 'write');
    await open.prepare(form, fields);
    const result = await work(open);
    return { result, notes: messagesOf(await open.finish()) };
  }

  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await person.query<Record<string, unknown>>(sql)).rows;

  it('L10: numbers keep all their digits, times their microseconds', async () => {
    const long = new ExactNumber('12345678901234567890123.5');
    await write('numbers', (form) =>
      form.commit({ rows: [row('a', { f_age: long }), row('b', { f_age: '007' })] }),
    );
    expect(await query('SELECT age, age_text FROM numbers ORDER BY id')).toEqual([
      { age: long.digits, age_text: null },
      { age: null, age_text: '007' },
    ]);
    const { result } = await write('numbers', async (form) => {
      for await (const [first] of form.rows({ ids: ['a'] }, true))
        return [first?.createdAt, first?.cells.get('f_age')];
      return [];
    });
    expect(result).toEqual(['2026-01-01T00:00:00.123456Z', long]);
  });

  it('shows choices, dates and versions', async () => {
    for (const list of ['["x"]', '["x","2024-02-29"]'])
      await write('choices', (form) =>
        form.commit({ rows: [row('a', { f_name: new JsonText(list) })] }),
      );
    expect(
      await query(
        `SELECT label, value_index, value_text, value_date::text AS d FROM answers WHERE slug = 'choices' ORDER BY 2`,
      ),
    ).toEqual([
      { label: 'Full name', value_index: '1', value_text: 'x', d: null },
      { label: 'Full name', value_index: '2', value_text: '2024-02-29', d: '2024-02-29 00:00:00' },
    ]);
    expect(
      await query(
        'SELECT full_name, _valid_to IS NULL AS now FROM choices_history ORDER BY _valid_from',
      ),
    ).toEqual([
      { full_name: ['x'], now: false },
      { full_name: ['x', '2024-02-29'], now: true },
    ]);
  });

  it('gives forms that are made at once a table each, and knows all of their views as its own', async () => {
    const ids = ['one', 'two', 'three', 'four'];
    const notes = async (id: string, slug: string): Promise<string[]> => {
      await using store = await parseTargetUrl(url).open('default', { clock, history: 'status' });
      const form = { ...formOf(slug, [NAME]), id };
      await using open = await store.open(form, 'write');
      await open.prepare(form, [NAME]);
      await open.commit({ rows: [row(`${id}-a`, { f_name: 'x' })] });
      return messagesOf(await open.finish());
    };
    expect((await Promise.all(ids.map((id) => notes(id, 'same')))).flat()).toEqual([]);
    expect(
      await query(`SELECT count(DISTINCT table_name) AS n FROM mirror_forms WHERE slug = 'same'`),
    ).toEqual([{ n: '4' }]);
    // A new name changes each view: one that is not known as ours would stay.
    for (const id of ids) expect(await notes(id, 'renamed')).toEqual([]);
    expect(
      await query(
        `SELECT DISTINCT form_id FROM mirror_status_history WHERE form_id IN ('one', 'two', 'three', 'four')`,
      ),
    ).toHaveLength(4);
  });

  it('describes tables, columns and views, and keeps what a person wrote', async () => {
    await write('described', async (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const ofColumn = (nth: string): string =>
      `col_description('described'::regclass, (SELECT attnum FROM pg_attribute WHERE attrelid = 'described'::regclass AND attname = '${nth}'))`;
    const comments = async (): Promise<unknown> =>
      (
        await query(`SELECT obj_description('described'::regclass) AS "table",
        obj_description('described_live'::regclass) AS view, ${ofColumn('full_name')} AS name, ${ofColumn('age')} AS age`)
      )[0];
    expect(await comments()).toEqual({
      table: 'The submissions of described, those that are marked deleted included.',
      view: 'The submissions of described that are not marked deleted.',
      name: 'Full name',
      age: null,
    });
    await person.query(`COMMENT ON TABLE described IS 'Ask Jana.'`);
    const renamed = { ...NAME, label: 'Whole name' };
    await write('described', (form) => form.commit({ rows: [row('b', { f_age: 7 })] }), [
      renamed,
      AGE,
    ]);
    expect(await comments()).toMatchObject({ table: 'Ask Jana.', name: 'Whole name', age: 'Age' });
  });

  it('L10: replaces what it cannot hold, visibly, and lists it', async () => {
    const rows = [
      row('a', { f_name: 'x\0y' }),
      row('b', { f_name: new JsonText(String.raw`["\u0000"]`) }),
    ];
    await write('nul', (form) => form.commit({ rows }));
    expect(await query('SELECT id, full_name FROM nul ORDER BY id')).toEqual([
      { id: 'a', full_name: 'x\uFFFDy' },
      { id: 'b', full_name: String.raw`["\u0000"]` },
    ]);
    expect(
      await query(`SELECT submission_id FROM mirror_rejected WHERE form_id = 'form_nul'`),
    ).toEqual([{ submission_id: 'a' }]);
    const { result } = await write('nul', (form) => form.commit({ rows }));
    expect(result).toMatchObject({ unchanged: 2 });
  });

  it('L17: moves the times of freshness by polls that agree', async () => {
    await write('polled', (form) => form.commit({ rows: [row('a', {})], state: claimed }));
    const open = () => parseTargetUrl(url).open('default', { clock, history: 'full' });
    const { shown, expected } = await freshnessAfterPolls(open, 'form_polled', async () => {
      const [found] = await query(
        "SELECT submissions_as_of AS a, statuses_as_of AS b FROM freshness WHERE form = 'polled'",
      );
      return [Number(found?.['a']), Number(found?.['b'])];
    });
    expect(shown).toEqual(expected);
  });

  it('L6: has failed where a constraint or a trigger of a person takes rows away', async () => {
    await write('refused', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await person.query('ALTER TABLE refused ADD CONSTRAINT theirs CHECK (id <> $$c$$)');
    const refused = write('refused', (form) => form.commit({ rows: [row('b', {}), row('c', {})] }));
    await expect(refused).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('theirs'),
    });
    await person.query(`ALTER TABLE refused DROP CONSTRAINT theirs;
      CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER theirs BEFORE INSERT ON refused FOR EACH ROW EXECUTE FUNCTION swallow()`);
    const swallowed = write('refused', (form) => form.commit({ rows: [row('d', {})] }));
    await expect(swallowed).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(await query('SELECT id FROM refused')).toEqual([{ id: 'a' }]);
  });

  it('L6: has failed where a trigger comes between rows that are all new', async () => {
    const refused = write('watched', async (form) => {
      for (const id of ['a', 'b']) await form.commit({ rows: [row(id, { f_name: 'x' })] });
      await person.query(`CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE TRIGGER theirs BEFORE INSERT ON watched FOR EACH ROW EXECUTE FUNCTION discard()`);
      await form.commit({ rows: [row('c', { f_name: 'y' })] });
    });
    await expect(refused).rejects.toMatchObject({ code: 'TARGET_FAILED' });
    expect(await query('SELECT id, full_name FROM watched ORDER BY id')).toEqual([
      { id: 'a', full_name: 'x' },
      { id: 'b', full_name: 'x' },
    ]);
  });

  it('stores new rows in a table whose rows a person guards by policies', async () => {
    await person.query(
      'DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN; CREATE SCHEMA guarded AUTHORIZATION guarded',
    );
    const guarded = new URL(url);
    guarded.username = 'guarded';
    guarded.searchParams.set('schema', 'guarded');
    await using store = await parseTargetUrl(guarded.href).open('default', { clock });
    await using form = await store.open(formOf('contact', [NAME]), 'write');
    await form.prepare(formOf('contact', [NAME]), [NAME]);
    await form.commit({ rows: [row('a', { f_name: 'x' })] });
    await person.query(`ALTER TABLE guarded.contact ENABLE ROW LEVEL SECURITY;
      ALTER TABLE guarded.contact FORCE ROW LEVEL SECURITY;
      CREATE POLICY theirs ON guarded.contact USING (true) WITH CHECK (true)`);
    const applied = await form.commit({ rows: [row('b', { f_name: 'y' })] });
    expect(applied).toMatchObject({ inserted: 1, rejected: 0 });
    expect(await query('SELECT id FROM guarded.contact ORDER BY id')).toEqual([
      { id: 'a' },
      { id: 'b' },
    ]);
  });

  it('L11: has no plain answer left of hashed numbers and lists, and takes no other digit', async () => {
    const hash = (cell: Cell): Cell => hashedCell(cell, 'a-key-of-thirty-two-characters-at-least');
    const list = { ...NAME, id: 'f_list', label: 'List', position: 2 };
    const size = { ...NAME, id: 'f_size', label: 'Size', position: 3 };
    const fields = [AGE, list, size];
    const long = new ExactNumber('12345678901234567890123.5');
    const answers = (n: number): Record<string, Cell> => ({
      f_age: 42_424_242 + n,
      f_list: new JsonText(`["secret ${n}"]`),
      f_size: long,
    });
    for (const n of [1, 2])
      await write('hashed', (form) => form.commit({ rows: [row('a', answers(n))] }), fields);
    const plain = answers(2);
    const hashed = (id: string): Cell => hash(plain[id] ?? null);
    await write(
      'hashed',
      (form) => form.erase({ kind: 'rehash', fieldIds: ['f_age', 'f_list'], hash }),
      fields,
    );
    const [found] = await query('SELECT age, age_text, list, list_text, size FROM hashed');
    expect(found).toEqual({
      age: null,
      age_text: hashed('f_age'),
      list: null,
      list_text: hashed('f_list'),
      size: long.digits,
    });
    const [version] = await query(
      `SELECT answers::text AS t FROM _mirror_versions WHERE form_id = 'form_hashed' AND answers IS NOT NULL`,
    );
    expect(version?.['t']).not.toMatch(/4242424|secret/);
    expect(version?.['t']).toContain(long.digits);
    const { result } = await write(
      'hashed',
      (form) =>
        form.commit({
          rows: [row('a', { ...plain, f_age: hashed('f_age'), f_list: hashed('f_list') })],
        }),
      fields,
    );
    expect(result).toMatchObject({ unchanged: 1, updated: 0 });
  });

  it('gets an index over live rows at the end of a first copy, once', async () => {
    for (const id of ['a', 'b'])
      await write('indexed', (form) =>
        form.commit({ rows: [row(id, {})], state: (state) => wholeRead(state, 0) }),
      );
    expect(
      await query(`SELECT count(*)::int AS n FROM pg_indexes WHERE tablename = 'indexed'`),
    ).toEqual([{ n: 2 }]);
  });

  it('does not change the views and rights of people', async () => {
    await write('kept', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await person.query(`CREATE VIEW theirs AS SELECT id, "Full name" AS n FROM kept_labelled;
      DROP ROLE IF EXISTS mirror_analyst; CREATE ROLE mirror_analyst; GRANT SELECT ON kept_live TO mirror_analyst`);
    const { notes } = await write(
      'kept',
      (form) => form.commit({ rows: [row('b', { f_name: 'y', f_age: 5 })] }),
      [{ ...NAME, label: 'Name' }, AGE],
    );
    expect(await query('SELECT n FROM theirs ORDER BY id')).toEqual([{ n: 'x' }, { n: 'y' }]);
    expect(notes).toEqual([expect.stringContaining('kept_labelled')]);
    expect(
      await query(`SELECT has_table_privilege('mirror_analyst', 'kept_live', 'SELECT') AS may`),
    ).toEqual([{ may: true }]);
  });

  it('L13: lets one writer in, and a writer that was asleep commits nothing', async () => {
    await using one = await parseTargetUrl(url).open('default', { clock, history: 'status' });
    await using two = await parseTargetUrl(url).open('default', { clock, history: 'status' });
    const form = formOf('writers', [NAME]);
    const first = await one.open(form, 'write');
    await expect(two.open(form, 'write')).rejects.toMatchObject({ code: 'TARGET_BUSY' });
    // Waits until the session is gone, and its lock with it.
    await person.query(
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    await using second = await two.open(form, 'write');
    await second.prepare(form, [NAME]);
    await second.commit({ rows: [row('a', { f_name: 'second' })] });
    const late = first.commit({ rows: [row('a', { f_name: 'first' })] });
    await expect(late).rejects.toMatchObject({ code: 'TARGET_BUSY' });
  });
});
