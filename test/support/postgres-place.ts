import { Client } from 'pg';
import { qualified } from '../../src/targets/sql/postgres/postgres-names.ts';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { sqlDamage, type SqlPlace } from '../contract/sql-target.ts';
import { createDatabase } from './servers.ts';

/** A schema that we make ourselves. */
const SCHEMA = 'Forms "mirror"';

/** Making a database takes longer than making a schema, and much that is asked takes longer in one of many tables. */
const SCHEMAS_A_DATABASE = 16;

/** The database of each server that the next places are schemas of. */
const databases = new WeakMap<object, { readonly made: Promise<string>; schemas: number }>();
let schemas = 0;

function nextDatabase(server: { readonly url: string }): Promise<string> {
  let database = databases.get(server);
  if (database === undefined || database.schemas >= SCHEMAS_A_DATABASE) {
    database = { made: createDatabase(server), schemas: 0 };
    databases.set(server, database);
  }
  database.schemas++;
  return database.made;
}

/** A fresh schema on a real server. */
export async function postgresPlace(server: { readonly url: string }): Promise<SqlPlace> {
  const database = await nextDatabase(server);
  const schema = `${SCHEMA} ${schemas++}`;
  const url = `${database}?schema=${encodeURIComponent(schema)}`;
  const client = new Client({ connectionString: database });
  client.on('error', () => {});
  await client.connect();
  return {
    ...schemaPlace(schema, async (sql) => (await client.query<Record<string, unknown>>(sql)).rows),
    url,
    open: async (name = 'default', clock, history) =>
      parseTargetUrl(url).open(name, { clock, history }),
    dispose: () => client.end(),
  };
}

function schemaPlace(
  schema: string,
  query: SqlPlace['query'],
): Pick<SqlPlace, 'damage' | 'product' | 'query' | 'relation' | 'usurp' | 'usurpMarking'> {
  const relation = (table: string): string => qualified(schema, table);
  const usurp = async (lock: string): Promise<void> => {
    await query(
      `UPDATE ${relation('mirror_locks')} SET epoch = epoch + 1 WHERE form_id = '${lock}'`,
    );
  };
  return {
    product: 'PostgreSQL',
    query,
    relation,
    damage: sqlDamage({ query, relation }),
    usurp,
    usurpMarking: (formId) => usurp(`marking of ${formId}`),
  };
}
