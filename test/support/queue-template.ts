import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { FakeHandlers } from '../queue/fake-handlers.ts';
import { startAt } from '../queue/harness.ts';
import { FORGET_EVERYTHING } from '../queue/stored-rows.ts';
import { scratchFolder } from './scratch.ts';

/** Space for a template, about 40 MB, and for the data that a test adds to a copy. */
const NEEDS_MB = 128;

/** A data directory with an empty queue of `start`, to be copied. */
export async function makeQueue(): Promise<{ url: string; stop: () => Promise<void> }> {
  const dataDir = scratchFolder('queue-template', NEEDS_MB);
  const first = await startAt({ queueUrl: undefined, dataDir }, new FakeHandlers([]));
  await first.stop();
  const database = await PGlite.create(join(dataDir, 'queue'));
  await database.exec(FORGET_EVERYTHING);
  await database.close();
  return { url: dataDir, stop: async () => rmSync(dataDir, { recursive: true, force: true }) };
}
