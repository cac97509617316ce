import { beforeAll, describe } from 'vitest';
import { describeCatalogueDamage } from '../contract/sql-catalogue-damage.ts';
import { describeComments } from '../contract/sql-comments.ts';
import { describeDamage } from '../contract/sql-damage.ts';
import { describeSqlTarget } from '../contract/sql-target.ts';
import { stageTargets } from '../contract/target-harness.ts';
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
  describeComments(stageTargets(() => mysqlPlace(server)));
});
