import { afterAll, beforeAll, describe } from 'vitest';
import { describeSqlTarget } from '../contract/sql-target.ts';
import { describeTarget } from '../contract/target.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing, startPostgres, type TestServer } from '../support/servers.ts';

describe.skipIf(postgresMissing())('a real server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  describeTarget('PostgreSQL', () => postgresPlace(server));
  describeSqlTarget('PostgreSQL', () => postgresPlace(server));
});
