import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { describeQueue } from '../contract/queue.ts';
import { scratchFolder } from '../support/scratch.ts';
import { FakeHandlers } from './fake-handlers.ts';
import { type QueueServer, startAt } from './harness.ts';
import { FORGET_EVERYTHING, STORED_ROWS } from './stored-rows.ts';

/** A template and a copy of it, some 40 MB each, and what a test adds. */
const NEEDS_MB = 256;

/** Making a directory takes two seconds of work, and opening one a third of a second: each test gets a copy of an empty one. */
async function openEmbeddedPlace(): Promise<QueueServer> {
  const root = scratchFolder('queue', NEEDS_MB);
  const template = join(root, 'template');
  const first = await startAt({ queueUrl: undefined, dataDir: template }, new FakeHandlers([]));
  await first.stop();
  await ask(template, FORGET_EVERYTHING);
  let places = 0;
  return {
    shared: false,
    newPlace: () => {
      const dataDir = join(root, String(places++));
      cpSync(template, dataDir, { recursive: true });
      return Promise.resolve({ queueUrl: undefined, dataDir });
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

describeQueue('embedded PGlite', openEmbeddedPlace, { concurrent: false });
