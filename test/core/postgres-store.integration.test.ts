import pg from 'pg';
import { expect, it } from 'vitest';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { JsonText } from '../../src/mirror/types.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { createDatabase, postgresMissing } from '../support/servers.ts';
import { AGE, clock, formOf, NAME, row } from './store-fixtures.ts';
import { type Bed, describeSqlStore, type Place } from './sql-store-cases.ts';

/** Differences of PostgreSQL from SQLite that the simulation does not draw. */

const description = { name: 'PostgreSQL', isMissing: postgresMissing(), kind: 'server' } as const;

async function open(): Promise<Place> {
  const url = await createDatabase(await lentPostgres());
  const person = new pg.Client({ connectionString: url });
  await person.connect();
  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await person.query<Record<string, unknown>>(sql)).rows;
  return {
    url,
    query,
    addTrigger: (table) =>
      `CREATE OR REPLACE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER theirs BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION swallow()`,
    keepsDigits: true,
    server: {
      // Waits until the sessions and their locks are gone.
      endHolders: () =>
        query(`SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
      makeAnalyst: `DROP ROLE IF EXISTS mirror_analyst; CREATE ROLE mirror_analyst; GRANT SELECT ON kept_live TO mirror_analyst`,
      async mayRead() {
        const may = "SELECT has_table_privilege('mirror_analyst', 'kept_live', 'SELECT') AS may";
        return (await query(may))[0]?.['may'] === true;
      },
    },
    [Symbol.asyncDispose]: () => person.end(),
  };
}

describeSqlStore(description, open, special);

function special({ query, write, url }: Bed): void {
  it('L17: ends an export whose snapshot was lost with its session', async () => {
    await write('exported', (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    await using store = await parseTargetUrl(url()).open('default', { clock });
    const id = (await store.forms()).find(({ state }) => state.slug === 'exported')?.state.formId;
    const snapshot = await store.snapshot(id ?? '');
    if (snapshot === null) throw new Error('there is no snapshot');
    await query(
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE state = 'idle in transaction'
       AND datname = current_database()`,
    );
    const read = async (): Promise<void> => {
      for await (const _ of snapshot.rows({ withDeleted: false }));
    };
    await expect(read()).rejects.toMatchObject({ code: 'TARGET_UNREACHABLE' });
    await snapshot[Symbol.asyncDispose]();
  });

  it('describes tables, columns and views, and changes no description of a person', async () => {
    await write('described', async (form) => form.commit({ rows: [row('a', { f_name: 'x' })] }));
    const ofColumn = (nth: string): string =>
      `col_description('described'::regclass, (SELECT attnum FROM pg_attribute WHERE attrelid = 'described'::regclass AND attname = '${nth}'))`;
    const comments = async (): Promise<unknown> =>
      (
        await query(`SELECT obj_description('described'::regclass) AS "table",
        obj_description('described_live'::regclass) AS view, ${ofColumn('full_name')} AS name, ${ofColumn('age')} AS age`)
      )[0];
    expect(await comments()).toEqual({
      table: 'The submissions of a form, including those marked deleted.',
      view: 'The submissions of a form that are not marked deleted.',
      name: 'Full name',
      age: null,
    });
    await query(`COMMENT ON TABLE described IS 'Ask Jana.'`);
    await write('described', (form) => form.commit({ rows: [row('b', { f_age: 7 })] }));
    expect(await comments()).toMatchObject({ table: 'Ask Jana.', name: 'Full name', age: 'Age' });
    await query(`COMMENT ON COLUMN described.age IS 'In years.'`);
    const renamed = [
      { ...NAME, label: 'Full name?' },
      { ...AGE, label: 'Age?' },
    ];
    await write('described', async () => {}, renamed);
    expect(await comments()).toMatchObject({ name: 'Full name?', age: 'In years.' });
  });

  it("a view whose labels change keeps people's options, owner, rights, descriptions and views", async () => {
    await query(
      `DROP ROLE IF EXISTS reader; CREATE ROLE reader; DROP ROLE IF EXISTS chief; CREATE ROLE chief`,
    );
    const answers = { f_name: 'x', f_age: 7 };
    await write('rights', (form) => form.commit({ rows: [row('a', answers)] }));
    await query(`GRANT SELECT (id) ON rights_labelled TO reader; CREATE VIEW theirs AS SELECT "Full name" AS n FROM rights_labelled;
      COMMENT ON VIEW rights_labelled IS 'Ask Jana.'; COMMENT ON COLUMN rights_labelled.id IS 'The key.';
      ALTER VIEW rights_labelled SET (security_invoker, security_barrier = on); ALTER VIEW rights_labelled OWNER TO chief;
      ALTER VIEW rights_live SET (security_invoker)`);
    const found = (): Promise<unknown> =>
      query(`SELECT relacl::text AS rights, attacl::text AS of_id, obj_description(c.oid) AS "text", col_description(c.oid, attnum) AS text_of_id,
        reloptions AS options, relowner::regrole::text AS owner FROM pg_class AS c JOIN pg_attribute AS a ON attrelid = c.oid AND attname = 'id'
        WHERE c.oid IN ('rights_labelled'::regclass, 'rights_live'::regclass) ORDER BY relname`);
    const before = await found();
    const exchanged = [
      { ...NAME, label: 'Age' },
      { ...AGE, label: 'Full name' },
    ];
    expect((await write('rights', async () => {}, exchanged)).notes).toEqual([]);
    expect(await found()).toEqual(before);
    expect(await query('SELECT "Full name", "Age" FROM rights_labelled')).toEqual([
      { 'Full name': '7', Age: 'x' },
    ]);
    expect(await query('SELECT n FROM theirs')).toEqual([{ n: 'x' }]);
    await query('DROP VIEW theirs');
  });

  it("L9: shows no other field in a person's view if people move columns, and makes its views again once they are dropped", async () => {
    const fields = [NAME, { ...NAME, id: 'f_city', label: 'City', position: 1 }];
    const store = () =>
      write(
        'shifted',
        (form) => form.commit({ rows: [row('a', { f_name: 'x', f_city: 'y' })] }),
        fields,
      );
    await store();
    await query(
      `CREATE VIEW of_city AS SELECT city FROM shifted_live; ALTER TABLE shifted RENAME COLUMN full_name TO former`,
    );
    const { notes } = await store();
    expect(notes.join()).toContain('The view shifted_live could not be brought up to date');
    expect(await query('SELECT city FROM of_city')).toEqual([{ city: 'y' }]);
    await query('DROP VIEW of_city, shifted_live, shifted_labelled, shifted_history');
    expect((await store()).notes).toEqual([]);
    expect(await query('SELECT full_name, city FROM shifted_live')).toEqual([
      { full_name: 'x', city: 'y' },
    ]);
  });

  it('writes into a schema whose name needs quotes, beside another one', async () => {
    await query('CREATE SCHEMA forms; CREATE TABLE forms.kept (theirs int)');
    const fields = [NAME];
    const form = formOf('kept', fields);
    for (const schema of ['Forms', 'my forms']) {
      const address = `${url()}?schema=${encodeURIComponent(schema)}`;
      await using store = await parseTargetUrl(address).open('default', { clock });
      await using open = await store.open(form);
      await open.prepare(form, fields);
      await open.commit({ rows: [row('a', { f_name: 'x' })] });
      expect(await open.finish()).toEqual([]);
      expect(await query(`SELECT full_name FROM "${schema}".kept_live`)).toEqual([
        { full_name: 'x' },
      ]);
    }
  });

  it('L18: leaves nothing that was erased in the statistics of the server', async () => {
    const rows = Array.from({ length: 20 }, (_, at) => row(`id${at}`, { f_name: `secret${at}` }));
    await write('sampled', (form) => form.commit({ rows }));
    await query('ANALYZE sampled');
    const known = (): Promise<unknown> =>
      query(`SELECT attname FROM pg_stats WHERE histogram_bounds::text LIKE '%secret19%'`);
    expect(await known()).toEqual([{ attname: 'full_name' }]);
    await write('sampled', (form) => form.erase({ kind: 'forget', ids: ['id19'] }));
    expect(await known()).toEqual([]);
  });

  it('L10: replaces characters that it cannot hold, visibly, and lists them', async () => {
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

  it('L6: has failed if a column whose type a person changed rounds an answer', async () => {
    await write('retyped', (form) => form.commit({ rows: [row('a', { f_age: 1 })] }));
    await query('DROP VIEW answers, retyped_live, retyped_labelled, retyped_history');
    await query('ALTER TABLE retyped ALTER COLUMN age TYPE integer');
    const rounded = write('retyped', (form) => form.commit({ rows: [row('b', { f_age: 2.5 })] }));
    await expect(rounded).rejects.toMatchObject({
      code: 'TARGET_FAILED',
      message: expect.stringContaining('type'),
    });
    expect(await query('SELECT id FROM retyped')).toEqual([{ id: 'a' }]);
  });

  it('finds in its check that it may not create temporary tables', async () => {
    const [row] = await query('SELECT current_database() AS name');
    const database = `"${String(row?.['name'])}"`;
    await query(`DROP ROLE IF EXISTS bare; CREATE ROLE bare LOGIN; CREATE SCHEMA bare AUTHORIZATION bare;
      REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC`);
    const bare = new URL(url());
    bare.username = 'bare';
    bare.searchParams.set('schema', 'bare');
    await using store = await parseTargetUrl(bare.href).open('default', { clock });
    await expect(store.check()).rejects.toMatchObject({
      code: 'TARGET_DENIED',
      message: expect.stringContaining('GRANT TEMPORARY'),
    });
    await query(`GRANT TEMPORARY ON DATABASE ${database} TO PUBLIC`);
    expect(await store.check()).toMatchObject([{ isOk: true }]);
  });
}
