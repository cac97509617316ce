import { describe } from 'vitest';
import { askPostgres } from '../support/mirror-view.ts';
import { createDatabase, postgresMissing, startPostgres, stopProcess } from '../support/servers.ts';
import { describeQueue } from '../contract/queue.ts';
import type { QueuePlace, QueueServer } from './harness.ts';
import { FORGET_EVERYTHING, STORED_ROWS } from './stored-rows.ts';

/** One database; the tests' places differ in their prefix. */
async function openPostgresServer(): Promise<QueueServer> {
  const server = await startPostgres();
  const url = await createDatabase(server);
  let places = 0;
  const ask = (query: string) => askPostgres(url, query);
  const prefixOf = (place: QueuePlace): string =>
    `${new URL(place.queueUrl ?? '').searchParams.get('prefix') ?? ''}.`;
  const owned = server.process !== undefined;
  return {
    shared: true,
    newPlace: () =>
      Promise.resolve({ queueUrl: `${url}?prefix=t${places++}`, dataDir: '/nonexistent' }),
    stored: async (place) => {
      const names = (await ask(STORED_ROWS)).map((row) => String(row['name']));
      const prefix = prefixOf(place);
      return names
        .filter((name) => name.startsWith(prefix))
        .map((name) => name.slice(prefix.length));
    },
    wipe: async () => {
      await ask(FORGET_EVERYTHING);
    },
    dropLocks: async (place) => {
      await ask(
        `UPDATE bullmq.job SET lock_token = NULL, locked_until_ms = 0 WHERE state = 'active' AND starts_with(queue, '${prefixOf(place)}')`,
      );
    },
    ...(owned && {
      kill: () => stopProcess(server.process, 'SIGQUIT'),
      restart: () => server.restart(),
    }),
    close: () => server.stop(),
  };
}

describe.skipIf(postgresMissing())('PostgreSQL', () => {
  describeQueue('PostgreSQL', openPostgresServer, {
    about: ['schedule', 'jobs', 'outages'],
  });
});
