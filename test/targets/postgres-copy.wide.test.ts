import { join } from 'node:path';
import { Client } from 'pg';
import { beforeAll, describe, expect, it, type TestContext, vi } from 'vitest';
import type { FormWriter } from '../../src/mirror/target.ts';
import type { Cell } from '../../src/mirror/types.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import {
  AGE,
  fieldList,
  FORM,
  NAME,
  row,
  sorted,
  stageTargets,
} from '../contract/target-harness.ts';
import { Child } from '../support/child.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

const CHILD = join(import.meta.dirname, '../support/target-child.ts');
/** A database that sorts words as English does: `a`, `B`. Undefined where the server has none. */
async function inEnglish(server: { readonly url: string }): Promise<string | undefined> {
  const url = new URL(server.url);
  const name = `english_${process.pid}_${Date.now().toString(36)}`;
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number }>(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    if ((rows[0]?.version ?? 0) < 150_000) return undefined;
    await client.query(
      `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' ENCODING 'UTF8'`,
    );
  } finally {
    await client.end();
  }
  url.pathname = `/${name}`;
  return url.href;
}

const SOON = { timeout: 60_000, interval: 20 };

describe.skipIf(postgresMissing())('new rows, which PostgreSQL takes by COPY', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentPostgres();
  });
  const stage = stageTargets(() => postgresPlace(server));
  const sql = (text: string) =>
    stage.place.query(
      text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)),
    );
  /** A person's session, for what is left open in it. */
  const someone = async ({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) => {
    const url = new URL(stage.place.url);
    url.search = '';
    const client = new Client({ connectionString: url.href });
    client.on('error', () => {});
    await client.connect();
    onTestFinished(() => client.end());
    return (text: string) =>
      client.query(text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name)));
  };
  const write = <T>(work: (writer: FormWriter) => Promise<T>): Promise<T> =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(NAME, AGE));
      return work(writer);
    });
  const store = (cells: Readonly<Record<string, Record<string, Cell>>>) =>
    write(async (writer) => {
      const rows = Object.entries(cells).map(([id, some]) => row(id, some));
      return (await writer.apply(rows, [])).outcomes;
    });
  /** Waits until a statement like this one waits for a lock. */
  const waits = (statement: string) =>
    vi.waitFor(async () => {
      const found = await sql(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE '%${statement}%${stage.place.relation('').slice(0, -4)}%'`,
      );
      expect(found).toHaveLength(1);
    }, SOON);

  it('L5: one killed with -9 in the middle of it leaves nothing of the batch, and no lock', async (context) => {
    await write((writer) => writer.apply([row('before')], []));
    const hold = await someone(context);
    await hold('SELECT pg_advisory_lock(4711)');
    await sql(`CREATE FUNCTION {wait}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.id LIKE '%_30' THEN PERFORM pg_advisory_xact_lock_shared(4711); END IF; RETURN NEW; END $$`);
    await sql(`CREATE TRIGGER wait BEFORE INSERT ON {contact_form}
      FOR EACH ROW EXECUTE FUNCTION {wait}()`);
    const child = new Child(CHILD, [stage.place.url, FORM.id, '1', '50']);
    child.killedAfter(context.onTestFinished);
    await waits('COPY');
    await child.end('SIGKILL');
    await hold('SELECT pg_advisory_unlock(4711)');
    await using writer = await stage.target.openWriter(FORM, { waitMs: 60_000 });
    expect(await sorted(writer.liveIds())).toEqual(['before']);
    await writer.prepare(fieldList(NAME, AGE));
    const rows = Array.from({ length: 50 }, (_, index) => row(`${FORM.id}_0_${index}`));
    const { outcomes } = await writer.apply(rows, []);
    expect(new Set(outcomes)).toEqual(new Set(['inserted']));
  });

  it('go in by it until a batch brings others: after that the server compares, until all are new again', async () => {
    await store({});
    await sql('CREATE TABLE {way} (id text, statement text)');
    await sql(`CREATE FUNCTION {note}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO {way} VALUES (NEW.id, substring(current_query() FROM 'COPY|INSERT')); RETURN NEW; END $$`);
    await sql(`CREATE TRIGGER note BEFORE INSERT ON {contact_form}
      FOR EACH ROW EXECUTE FUNCTION {note}()`);
    await write(async (writer) => {
      for (const ids of ['a', 'b', 'bc', 'ab', 'd', 'e']) {
        await writer.apply(
          Array.from(ids, (id) => row(id)),
          [],
        );
      }
    });
    const ways = await sql('SELECT id, statement FROM {way} ORDER BY id');
    expect(ways.map(({ id, statement }) => [id, statement])).toEqual([
      ['a', 'COPY'],
      ['b', 'COPY'],
      ['c', 'INSERT'],
      ['d', 'INSERT'],
      ['e', 'COPY'],
    ]);
  });

  it('are locked in the order of their bytes by either way, however the database sorts', async ({
    onTestFinished,
    skip,
  }) => {
    const database = await inEnglish(server);
    if (database === undefined)
      return skip('before PostgreSQL 15, databases sort as the system does');
    const client = new Client({ connectionString: database });
    await client.connect();
    onTestFinished(() => client.end());
    await using target = await parseTargetUrl(database).open('english');
    const stored = async (...ids: string[]) => {
      await using writer = await target.openWriter(FORM, { waitMs: 0 });
      await writer.prepare(fieldList(NAME));
      await writer.apply(
        ids.map((id) => row(id)),
        [],
      );
    };
    await stored();
    await client.query(`CREATE TABLE way (nth serial, id text, statement text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO way (id, statement) VALUES (NEW.id, substring(current_query() FROM 'COPY|INSERT')); RETURN NEW; END $$;
      CREATE TRIGGER note BEFORE INSERT ON contact_form FOR EACH ROW EXECUTE FUNCTION note()`);
    await stored('\u{10000}', '\uFFFD', 'a', 'é', 'B', 'f');
    // One that is stored already has the batch go in by the other way.
    await stored('a', 'g', 'D', '\u{10001}', '\uFFFE', 'è');
    const { rows } = await client.query('SELECT id, statement FROM way ORDER BY nth');
    const by = (way: string) =>
      rows.filter(({ statement }) => statement === way).map(({ id }) => id);
    expect(by('COPY')).toEqual(['B', 'a', 'f', 'é', '\uFFFD', '\u{10000}']);
    expect(by('INSERT')).toEqual(['D', 'g', 'è', '\uFFFE', '\u{10001}']);
  });

  it('of which another writer stores one meanwhile are stored all the same', async (context) => {
    await store({ a: { field_1_a: 'a' } });
    const other = await someone(context);
    await other('BEGIN');
    await other(`INSERT INTO {contact_form} (id, status, full_name, _first_seen_at, _changed_at)
      VALUES ('c', 'OLD', 'theirs', now(), now())`);
    const stored = store({ b: { field_1_a: 'b' }, c: { field_1_a: 'c' }, d: {} });
    await waits('COPY');
    await other('COMMIT');
    expect(await stored).toEqual(['inserted', 'updated', 'inserted']);
    expect(await stage.cellsOf('c')).toEqual({ field_1_a: 'c', field_2_b: null });
  });

  it('L10: every character stands for itself', async () => {
    const texts = [
      '\\N',
      '\\.',
      '\\t',
      'a\\',
      '\t',
      '\n',
      '\r\n',
      '',
      ' ',
      '\b\f\v',
      '"',
      ',',
      '😀\\n',
    ];
    const rows = texts.map((text, index) => row(`row ${index} ${text}`, { field_1_a: text }));
    await write(async (writer) => {
      // Each alone: a batch that COPY does not take goes in by another way.
      for (const one of rows) {
        expect((await writer.apply([one], [])).outcomes).toEqual(['inserted']);
      }
    });
    const held = await sql('SELECT id, full_name FROM {contact_form}');
    expect(new Map(held.map((one) => [one['id'], one['full_name']]))).toEqual(
      new Map(texts.map((text, index) => [`row ${index} ${text}`, text])),
    );
    const { outcomes } = await write((writer) => writer.apply(rows, []));
    expect(new Set(outcomes)).toEqual(new Set(['unchanged']));
  });

  it('L1: are no doubles of what is stored where people dropped the key in the middle of a pass', async () => {
    await store({ a: {} });
    const failing = write(async (writer) => {
      await writer.apply([row('b')], []);
      await sql('ALTER TABLE {contact_form} DROP CONSTRAINT contact_form_pkey');
      await writer.apply([row('c'), row('a')], []);
    });
    await expect(failing).rejects.toMatchObject({ name: 'MirrorError' });
    expect(await sql('SELECT id FROM {contact_form} ORDER BY id')).toEqual([
      { id: 'a' },
      { id: 'b' },
    ]);
    expect(await store({ c: {}, a: {} })).toEqual(['inserted', 'unchanged']);
  });

  it('L4: are looked up where nothing has told that they are: of what is stored, no copy is left behind', async () => {
    await store({ a: {} });
    for (let pass = 0; pass < 3; pass++) expect(await store({ a: {} })).toEqual(['unchanged']);
    await store({ b: {} });
    const places = await sql('SELECT id, ctid FROM {contact_form} ORDER BY id');
    expect(places).toEqual([
      { id: 'a', ctid: '(0,1)' },
      { id: 'b', ctid: '(0,2)' },
    ]);
  });

  it('into a column that people retyped are refused, though the answer would fit', async () => {
    await store({ a: { field_1_a: 'x' } });
    await sql('DROP VIEW {contact_form_labelled}');
    await sql('ALTER TABLE {contact_form} ALTER COLUMN full_name TYPE date USING NULL');
    await expect(store({ b: { field_1_a: '2026-03-01' } })).rejects.toMatchObject({
      message: expect.stringMatching(/type of a mirrored column was changed/),
    });
  });

  it('L4: a row that is the same is not locked; a number that people wrote otherwise is the same', async (context) => {
    const cells = { a: { field_1_a: 'x', field_2_b: 1.5 }, b: { field_2_b: 2 } };
    await store(cells);
    await sql('UPDATE {contact_form} SET age = 1.500');
    const before = await sql('SELECT id, ctid, xmin FROM {contact_form} ORDER BY id');
    const other = await someone(context);
    await other('BEGIN');
    await other('SELECT * FROM {contact_form} FOR UPDATE');
    expect(await store({ ...cells, b: { field_2_b: 1.5 }, c: {} })).toEqual([
      'unchanged',
      'unchanged',
      'inserted',
    ]);
    await other('ROLLBACK');
    const after = await sql(
      `SELECT id, ctid, xmin FROM {contact_form} WHERE id <> 'c' ORDER BY id`,
    );
    expect(after).toEqual(before);
  });
});
