import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Target } from '../../../mirror/target.ts';
import { SqlTarget } from '../sql-target.ts';
import { parsePostgresUrl } from './postgres-address.ts';
import { PostgresDatabase } from './postgres-database.ts';
import { postgresDriver } from './postgres-driver.ts';

/**
 * A target in a schema of a PostgreSQL database: `postgres://user:password@host:5432/database?schema=forms`; the schema
 * is `public` when not named, and made when missing. Throws SETTINGS when `url` can't be used. Connects at first use.
 */
export function openPostgres(name: string, url: string, clock: Clock = systemClock): Target {
  const address = parsePostgresUrl(url);
  const driver = postgresDriver(address.connectionString);
  return new SqlTarget(name, new PostgresDatabase(address, driver, clock), clock);
}
