import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe } from 'vitest';
import type { PostgresDriver } from '../../src/targets/sql/postgres/postgres-driver.ts';
import { describeCatalogueDamage } from '../contract/sql-catalogue-damage.ts';
import { describeDamage } from '../contract/sql-damage.ts';
import { describeSqlTarget } from '../contract/sql-target.ts';
import { describeTarget } from '../contract/target.ts';
import { pgliteDriver } from '../support/pglite-driver.ts';
import { pglitePlace } from '../support/postgres-place.ts';
import { postgresMissing } from '../support/servers.ts';

// For machines without PostgreSQL, so that its SQL is tried there too: a real server tells all that this does, and more.
describe.runIf(postgresMissing())('PGlite', () => {
  let database: PGlite;
  let driver: PostgresDriver;
  beforeAll(async () => {
    database = await PGlite.create();
    driver = pgliteDriver(database);
  });
  afterAll(() => database.close());

  describeTarget('PGlite', () => pglitePlace(database, driver));
  describeSqlTarget('PGlite', () => pglitePlace(database, driver));
  describeDamage('PGlite', () => pglitePlace(database, driver));
  describeCatalogueDamage('PGlite', () => pglitePlace(database, driver));
});
