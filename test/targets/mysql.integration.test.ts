import { beforeAll, describe } from 'vitest';
import { describeCatalogueDamage } from '../contract/sql-catalogue-damage.ts';
import { describeDamage } from '../contract/sql-damage.ts';
import { describeSqlTarget } from '../contract/sql-target.ts';
import { describeTarget } from '../contract/target.ts';
import { lentMariadb } from '../support/lent-server.ts';
import { mysqlPlace } from '../support/mysql-place.ts';
import { mariadbMissing } from '../support/servers.ts';

describe.skipIf(mariadbMissing())('a real MariaDB', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentMariadb();
  });

  describeTarget('MariaDB', () => mysqlPlace(server));
  describeSqlTarget('MariaDB', () => mysqlPlace(server));
  describeDamage('MariaDB', () => mysqlPlace(server));
  describeCatalogueDamage('MariaDB', () => mysqlPlace(server));
});
