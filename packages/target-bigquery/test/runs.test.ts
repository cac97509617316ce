import { afterAll, expect, it } from 'vitest';
import { billedBytes, withBill } from '../../../src/targets/billing.ts';
import { runCli } from '../../../test/support/cli-host.ts';
import { openPlace } from '../../../test/support/cli-sandbox.ts';
import { clock } from '../../../test/core/store-fixtures.ts';
import { ask, lentEmulator, newPlace, stopEmulator, storeAt } from './place.ts';

afterAll(stopEmulator);

it('lists the billed bytes of each run, and has no such column if nothing is billed', async () => {
  const { env, rows } = await openPlace({ submissions: 12 });
  const { url, dataset } = await newPlace();
  const { statements } = await lentEmulator();
  statements.clear();
  const targets = { TARGETS: 'here,billed', TARGET_BILLED_URL: url };
  expect(await runCli(['sync'], { ...env, ...targets })).toMatchObject({ code: 0 });
  const { bytesBilled } = statements.totals();
  const runs = await ask(dataset, 'SELECT inserted, bytes_billed FROM mirror_runs');
  const bytes = runs.map((run) => Number(run['bytes_billed']));
  expect(bytes).toHaveLength(3);
  expect(Math.min(...bytes)).toBeGreaterThan(0);
  // The statements for the views come after the record.
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(bytesBilled);
  const [run] = rows('SELECT * FROM mirror_runs');
  expect(run).toHaveProperty('inserted');
  expect(run).not.toHaveProperty('bytes_billed');
});

it('bills each of two concurrent runs for its own jobs', async () => {
  const { url } = await newPlace();
  await using store = await storeAt(url, clock);
  await store.putRecord('one', 1, null);
  // The first access of a process also reads which build wrote the tables.
  await store.record('one');
  const reads = (many: number): Promise<number> =>
    withBill(async () => {
      for (let n = 0; n < many; n++) await store.record('one');
      return billedBytes();
    });
  const once = await reads(1);
  expect(once).toBeGreaterThan(0);
  expect(await Promise.all([reads(3), reads(1)])).toEqual([3 * once, once]);
});
