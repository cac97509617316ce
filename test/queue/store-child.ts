import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/logger.ts';
import { openEmbeddedStore } from '../../src/queue/backends/embedded.ts';

// Opens the embedded store of a directory, has it do what a busy hour of the queue does, and closes it.

const ROUNDS = 300;

const [, , dataDir = ''] = process.argv;
const store = await openEmbeddedStore({
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
await store.close();
