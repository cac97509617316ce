import { systemClock } from '../../src/base/clock.ts';
import { parsePostgresUrl } from '../../src/targets/sql/postgres/postgres-address.ts';
import { DEFAULT_TIMEOUTS } from '../../src/targets/sql/postgres/postgres-connection.ts';
import { PostgresDatabase } from '../../src/targets/sql/postgres/postgres-database.ts';
import { postgresDriver } from '../../src/targets/sql/postgres/postgres-driver.ts';
import { SqlTarget } from '../../src/targets/sql/sql-target.ts';
import { FORM, NAME, row } from '../contract/target-harness.ts';

// A process of its own that writes to a window of a form until it is killed or loses it:
// node test/support/window-child.ts <url> <end of the window> <lease, ms>
// It says `stored <n>` after each batch, and `lost <code>` when it may write no more.

const [url = '', to = '', leaseMs = '60000'] = process.argv.slice(2);

const say = (text: string): Promise<void> =>
  new Promise((done) => process.stdout.write(`${text}\n`, () => done()));

const address = parsePostgresUrl(url);
const driver = postgresDriver(address.connectionString);
const timeouts = { ...DEFAULT_TIMEOUTS, leaseMs: Number(leaseMs) };
await using target = new SqlTarget(
  'child',
  new PostgresDatabase(address, driver, systemClock, timeouts),
  systemClock,
);
await using writer = await target.openWindowWriter(FORM.id, { from: null, to }, { waitMs: 0 });
await writer.prepare([NAME]);
for (let batch = 0; ; batch++) {
  const rows = Array.from({ length: 20 }, (_, n) => row(`b${batch}_${n}`, { field_1_a: 'child' }));
  try {
    await writer.apply(rows, []);
  } catch (error) {
    await say(`lost ${(error as { code?: string }).code}`);
    break;
  }
  await say(`stored ${batch}`);
}
