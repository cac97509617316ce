import { beforeAll, describe } from 'vitest';
import { describeDialect } from '../contract/sql-target.ts';
import { lentMariadb } from '../support/lent-server.ts';
import { mysqlPlace } from '../support/mysql-place.ts';
import { mariadbMissing } from '../support/servers.ts';

describe.skipIf(mariadbMissing())('a real MariaDB', () => {
  let server: { url: string };
  beforeAll(async () => {
    server = await lentMariadb();
  });

  describeDialect('MariaDB', () => mysqlPlace(server));
});
