import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { describeQueue } from '../contract/queue.ts';
import { layQueue } from '../support/lent-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import type { QueueServer } from './harness.ts';
import { STORED_ROWS } from './stored-rows.ts';

/** A copy of an empty queue, about 40 MB, and the data of a test. */
const NEEDS_MB = 256;

async function openEmbeddedPlace(): Promise<QueueServer> {
  const root = scratchFolder('queue', NEEDS_MB);
  let places = 0;
  return {
    shared: false,
    async newPlace() {
      const dataDir = join(root, String(places++));
      mkdirSync(dataDir);
      await layQueue(dataDir);
      return { queueUrl: undefined, dataDir };
    },
    stored: async ({ dataDir }) =>
      (await ask<{ name: string }>(dataDir, STORED_ROWS)).map((row) => row.name),
    remove: ({ dataDir }) => {
      rmSync(dataDir, { recursive: true, force: true });
      return Promise.resolve();
    },
    close: () => {
      rmSync(root, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

async function ask<Row>(dataDir: string, query: string): Promise<Row[]> {
  const db = await PGlite.create(join(dataDir, 'queue'));
  const results = await db.exec(query);
  await db.close();
  return (results.at(-1)?.rows ?? []) as Row[];
}

describeQueue('embedded PGlite', openEmbeddedPlace, {
  concurrent: false,
  about: ['people', 'outages'],
});
