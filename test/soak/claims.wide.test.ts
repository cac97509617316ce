import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePostgresUrl } from '../../src/targets/sql/postgres/postgres-address.ts';
import { openPostgres } from '../../src/targets/sql/postgres/postgres-database.ts';
import { lentPostgres } from '../support/lent-server.ts';
import { propertyRuns } from '../support/property.ts';
import { createDatabase, postgresMissing } from '../support/servers.ts';
import { FORM } from './stand-in.ts';
import { newTally, SoakLife, soakCases } from './soak-case.ts';

describe.skipIf(postgresMissing())('what a pass claims when it ends ok', () => {
  it('L2, L17: is true at that moment, under dense changes, on PostgreSQL', async () => {
    const database = await createDatabase(await lentPostgres());
    const tally = newTally();
    await using target = openPostgres('soak', parsePostgresUrl(database));
    let forms = 0;
    const run = fc.asyncProperty(soakCases, async (given) => {
      // A form of its own for each case: a schema of its own takes longer to make than its case takes.
      const form = { ...FORM, id: `form-${++forms}`, slug: `contact-${forms}` };
      const life = new SoakLife(given, { form });
      await life.run(target, tally);
      expect(life.breaches).toEqual([]);
    });
    await fc.assert(run, propertyRuns(20));
    process.stdout.write(`claims: ${JSON.stringify(tally)}\n`);
  });
});
