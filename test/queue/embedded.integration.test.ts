import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { describeQueue } from '../contract/queue.ts';
import { FakeWork } from './fake-work.ts';
import { type QueueServer, startAt } from './harness.ts';
import { FORGET_EVERYTHING, STORED_ROWS } from './stored-rows.ts';

/** Making a directory takes seconds and copying one a second: the tests share one, one after another. */
async function openEmbeddedPlace(): Promise<QueueServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'forms-mirror-queue-'));
  const place = { queueUrl: undefined, dataDir };
  const first = await startAt(place, new FakeWork([]));
  await first.stop();
  const ask = async <Row>(query: string): Promise<Row[]> => {
    const db = await PGlite.create(join(dataDir, 'queue'));
    const results = await db.exec(query);
    await db.close();
    return (results.at(-1)?.rows ?? []) as Row[];
  };
  return {
    shared: false,
    newPlace: async () => {
      await ask(FORGET_EVERYTHING);
      return place;
    },
    stored: async () => (await ask<{ name: string }>(STORED_ROWS)).map((row) => row.name),
    close: () => {
      rmSync(dataDir, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

describeQueue('embedded PGlite', openEmbeddedPlace, { concurrent: false });
