import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/logger.ts';
import { openEmbedded } from '../../src/queue/embedded.ts';

// Opens the embedded store of a directory, has it do what a busy hour of the queue does, and closes it.

const ROUNDS = 300;

const [, , dataDir = ''] = process.argv;
const store = await openEmbedded({
  url: undefined,
  workers: 0,
  dataDir,
  upkeepMs: 60_000,
  clock: systemClock,
  logger: createLogger('warn', process.stderr),
  onError: (error) => {
    throw error;
  },
});
for (let round = 0; round < ROUNDS; round++) {
  await store.pool.query(
    `SELECT c.relname, count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
     WHERE c.relname LIKE $1 GROUP BY c.relname ORDER BY 2 DESC LIMIT 5`,
    [`%${round % 10}%`],
  );
}
// When V8 collects what nobody holds any more, and gives it back, is its own affair.
setFlagsFromString('--expose-gc');
(runInNewContext('gc') as () => void)();
await systemClock.sleep(300);
console.log(`rest-mb: ${Math.round(process.memoryUsage.rss() / 1e6)}`);
await store.close(false);
