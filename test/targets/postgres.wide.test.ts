import { beforeAll, describe } from 'vitest';
import { describeDialect } from '../contract/sql-target.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

describe.skipIf(postgresMissing())('a real server', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentPostgres();
  });

  describeDialect('PostgreSQL', () => postgresPlace(server));
});
