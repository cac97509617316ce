import { Client } from 'pg';
import { beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { FormWriter } from '../../src/mirror/target.ts';
import {
  AGE,
  CHECKPOINT,
  fieldList,
  NAME,
  pass,
  row,
  stageTargets,
} from '../contract/target-harness.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

describe.skipIf(postgresMissing())('rows that are taken for new, as those before them were', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentPostgres();
  });
  const stage = stageTargets(() => postgresPlace(server));
  const named = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_all, name: string) => stage.place.relation(name));
  const sql = (text: string) => stage.place.query(named(text));
  /** A person's session, for what is left open in it. */
  const someone = async ({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) => {
    const url = new URL(stage.place.url);
    url.search = '';
    const client = new Client({ connectionString: url.href });
    client.on('error', () => {});
    await client.connect();
    onTestFinished(() => client.end());
    return (text: string) => client.query(named(text));
  };
  const write = <T>(work: (writer: FormWriter) => Promise<T>): Promise<T> =>
    stage.write(async (writer) => {
      await writer.prepare(fieldList(NAME, AGE));
      return work(writer);
    });
  const rows = (...ids: string[]) => ids.map((id) => row(id, { field_1_a: id }));
  const store = (...ids: string[]) =>
    write(async (writer) => (await writer.apply(rows(...ids), [])).outcomes);

  it('L1: are no doubles of those that people moved to a table that inherits', async () => {
    await store('old', 'older');
    await sql('CREATE TABLE {archive} () INHERITS ({contact_form})');
    await sql(`WITH moved AS (DELETE FROM ONLY {contact_form} RETURNING *)
      INSERT INTO {archive} SELECT * FROM moved`);
    expect(await store('old', 'older')).toEqual(['unchanged', 'unchanged']);
    await write(async (writer) => {
      await writer.apply(rows('new'), []);
      await writer.apply(rows('old', 'older'), []);
    });
    expect(await sql('SELECT id FROM {contact_form} ORDER BY id')).toEqual([
      { id: 'new' },
      { id: 'old' },
      { id: 'older' },
    ]);
  });

  it('L4: wait for nobody who has changed one that is the same, once all of the form was read', async (context) => {
    await write(async (writer) => {
      await writer.apply(rows('a', 'b'), []);
      await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
    });
    await sql('ALTER TABLE {contact_form} ADD COLUMN note text');
    const other = await someone(context);
    await other('BEGIN');
    await other(`UPDATE {contact_form} SET note = 'theirs' WHERE id = 'a'`);
    const outcomes = await write(async (writer) => {
      await writer.apply(rows('new'), []);
      return (await writer.apply(rows('a', 'b'), [])).outcomes;
    });
    expect(outcomes).toEqual(['unchanged', 'unchanged']);
  });

  it('L4: are looked up behind a batch that stored nothing: of what is stored, no copy is left behind', async () => {
    await store('a');
    await write(async (writer) => {
      await writer.apply(rows('a', 'new'), []);
      await writer.apply([], [{ submissionId: 'bad', reason: 'no date', stored: false }]);
      expect((await writer.apply(rows('a'), [])).outcomes).toEqual(['unchanged']);
    });
    await store('newer');
    expect(await sql('SELECT id, ctid FROM {contact_form} ORDER BY id')).toEqual([
      { id: 'a', ctid: '(0,1)' },
      { id: 'new', ctid: '(0,2)' },
      { id: 'newer', ctid: '(0,3)' },
    ]);
  });
});
