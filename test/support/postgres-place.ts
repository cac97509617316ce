import type { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { parsePostgresUrl } from '../../src/targets/sql/postgres/postgres-address.ts';
import { openPostgres } from '../../src/targets/sql/postgres/open-postgres.ts';
import { PostgresDatabase } from '../../src/targets/sql/postgres/postgres-database.ts';
import type { PostgresDriver } from '../../src/targets/sql/postgres/postgres-driver.ts';
import { qualified } from '../../src/targets/sql/postgres/postgres-names.ts';
import { quoted } from '../../src/targets/sql/sql-session.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import type { SqlPlace } from '../contract/sql-target.ts';
import { createDatabase, type TestServer } from './servers.ts';

/** A schema that we make ourselves. */
const SCHEMA = 'Forms "mirror"';

/** A fresh database on a real server. */
export async function postgresPlace(server: TestServer): Promise<SqlPlace> {
  const database = await createDatabase(server);
  const url = `${database}?schema=${encodeURIComponent(SCHEMA)}`;
  const client = new Client({ connectionString: database });
  client.on('error', () => {});
  await client.connect();
  return {
    ...schemaPlace(SCHEMA, async (sql) => (await client.query<Record<string, unknown>>(sql)).rows),
    url,
    open: async (name = 'default') => openPostgres(name, url),
    dispose: () => client.end(),
  };
}

let schemas = 0;

/** A fresh schema in PGlite, which takes seconds to start. */
export async function pglitePlace(database: PGlite, driver: PostgresDriver): Promise<SqlPlace> {
  const schema = `${SCHEMA} ${schemas++}`;
  const address = parsePostgresUrl(
    `postgres://pglite@localhost/postgres?schema=${encodeURIComponent(schema)}`,
  );
  return {
    ...schemaPlace(
      schema,
      async (sql) => (await database.query<Record<string, unknown>>(sql)).rows,
    ),
    url: address.shown,
    open: async (name = 'default') => {
      const opened = new PostgresDatabase(address, driver, systemClock);
      return new SqlTarget(name, opened, systemClock);
    },
    dispose: async () => {
      await database.exec(`DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`);
    },
  };
}

function schemaPlace(
  schema: string,
  query: SqlPlace['query'],
): Pick<SqlPlace, 'product' | 'query' | 'relation' | 'usurp'> {
  const relation = (table: string): string => qualified(schema, table);
  return {
    product: 'PostgreSQL',
    query,
    relation,
    usurp: async (formId) => {
      await query(
        `UPDATE ${relation('mirror_locks')} SET epoch = epoch + 1 WHERE form_id = '${formId}'`,
      );
    },
  };
}
