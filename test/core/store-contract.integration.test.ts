import { describe } from 'vitest';
import { parseTargetUrl } from '../../src/targets/target-kinds.ts';
import { lentMariadb, lentPostgres } from '../support/lent-server.ts';
import {
  createDatabase,
  createMysqlDatabase,
  mariadbMissing,
  postgresMissing,
} from '../support/servers.ts';
import { type ContractPlace, describeStore } from './store-contract.ts';
import { clock } from './store-fixtures.ts';

const placeAt = (url: string): ContractPlace => ({
  open: () => parseTargetUrl(url).open('default', { clock, history: 'status' }),
  [Symbol.asyncDispose]: async () => {},
});

describe.skipIf(postgresMissing())('over a server', () => {
  describeStore('PostgreSQL', async () => placeAt(await createDatabase(await lentPostgres())));
});

describe.skipIf(mariadbMissing())('over a server', () => {
  describeStore('MariaDB', async () => placeAt(await createMysqlDatabase(await lentMariadb())));
});
