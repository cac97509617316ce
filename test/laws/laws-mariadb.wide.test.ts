import { describe, expect, it } from 'vitest';
import { lentMariadb } from '../support/lent-server.ts';
import { mariadbMissing } from '../support/servers.ts';
import { mysqlLawPlace } from './law-places.ts';
import { liveRandomly } from './random-lives.ts';
import { PROPERTY_MS } from '../support/property.ts';

describe.skipIf(mariadbMissing())('the laws over MariaDB', () => {
  it(
    'L1–L10: hold during and after random readings, changes, faults and crashes',
    async () => {
      const server = await lentMariadb();
      const totals = await liveRandomly(4, () => mysqlLawPlace(server), { busyLives: true });
      expect(totals.cases).toBeGreaterThan(0);
      process.stdout.write(`laws over MariaDB: ${JSON.stringify(totals)}\n`);
    },
    PROPERTY_MS,
  );
});
