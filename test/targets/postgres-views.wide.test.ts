import { beforeAll, describe, expect, it } from 'vitest';
import { describeComments } from '../contract/sql-comments.ts';
import { sqlOf } from '../contract/sql-by-hand.ts';
import {
  AGE,
  CHECKPOINT,
  FORM,
  NAME,
  pass,
  row,
  stageTargets,
} from '../contract/target-harness.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

describe.skipIf(postgresMissing())('the views over all forms in PostgreSQL', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentPostgres();
  });
  const stage = stageTargets(() => postgresPlace(server));
  const sql = sqlOf({
    get place() {
      return stage.place;
    },
  });

  describeComments(stage);

  it('L9: who may read the views over all forms may do so when forms come', async () => {
    const store = (form = FORM) =>
      stage.write(async (writer) => {
        await writer.prepare([NAME, AGE]);
        await writer.apply([row(form.id, { field_2_b: 5 })], []);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      }, form);
    await sql('DROP ROLE IF EXISTS teller').catch(() => []);
    await sql('CREATE ROLE teller');
    await store();
    for (const view of ['answers', 'submissions', 'contact_form_live'])
      await sql(`GRANT SELECT ON {${view}} TO teller`);
    await store({ id: 'frm_2', slug: 'event', name: 'Event' });
    const may = await sql(
      `SELECT bool_and(has_table_privilege('teller', oid, 'SELECT')) AS all FROM pg_class
       WHERE oid IN ('{answers}'::regclass, '{submissions}'::regclass, '{contact_form_live}'::regclass)`,
    );
    expect(may).toEqual([{ all: true }]);
    expect(await sql('SELECT submission_id FROM {answers}')).toHaveLength(2);
    await sql('DROP OWNED BY teller');
    await sql('DROP ROLE teller');
  });

  it('a pass does not wait for somebody who reads a view, and a later one makes it', async () => {
    const store = (form = FORM) =>
      stage.write(async (writer) => {
        await writer.prepare([NAME]);
        await writer.apply([row(form.id, { field_1_a: 'x' })], []);
        await writer.finish(pass({ kind: 'full' }), { checkpoint: CHECKPOINT });
      }, form);
    await store();
    await sql('BEGIN');
    await sql('SELECT * FROM {answers}');
    const other = { id: 'frm_2', slug: 'event', name: 'Event' };
    await store(other);
    expect(await sql('SELECT submission_id FROM {answers}')).toHaveLength(1);
    await sql('COMMIT');
    await store();
    expect(await sql('SELECT submission_id FROM {answers}')).toHaveLength(2);
  });
});
