import { beforeAll, describe } from 'vitest';
import { describeCatalogueDamage } from '../contract/sql-catalogue-damage.ts';
import { describeDamage } from '../contract/sql-damage.ts';
import { describeSqlTarget } from '../contract/sql-target.ts';
import { describeTarget } from '../contract/target.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { postgresPlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

describe.skipIf(postgresMissing())('a real server', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentPostgres();
  });

  describeTarget('PostgreSQL', () => postgresPlace(server));
  describeSqlTarget('PostgreSQL', () => postgresPlace(server));
  describeDamage('PostgreSQL', () => postgresPlace(server));
  describeCatalogueDamage('PostgreSQL', () => postgresPlace(server));
});
