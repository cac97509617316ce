import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { redisMissing, startRedis, stopProcess } from '../support/servers.ts';
import { describeQueue } from '../contract/queue.ts';
import type { QueuePlace, QueueServer } from './harness.ts';

async function openRedisServer(): Promise<QueueServer> {
  const server = await startRedis();
  let places = 0;
  const ask = async <T>(query: (client: Redis) => Promise<T>): Promise<T> => {
    const client = new Redis(server.url);
    try {
      return await query(client);
    } finally {
      client.disconnect();
    }
  };
  const keysOf = (place: QueuePlace): string =>
    `{${new URL(place.queueUrl ?? '').searchParams.get('prefix') ?? ''}}:`;
  const owned = server.process !== undefined;
  return {
    shared: true,
    newPlace: () => {
      const queueUrl = `${server.url}?prefix=t${process.pid}-${places++}`;
      return Promise.resolve({ queueUrl, dataDir: '/nonexistent' });
    },
    stored: (place) =>
      ask(async (client) => {
        const prefix = keysOf(place);
        const keys = await client.keys(`${prefix}*`);
        return keys.map((key) => key.slice(prefix.length));
      }),
    dropLocks: (place) =>
      ask(async (client) => {
        const locks = await client.keys(`${keysOf(place)}*:lock`);
        if (locks.length > 0) await client.del(locks);
      }),
    ...(owned && {
      wipe: () => ask(async (client) => void (await client.flushall())),
      kill: () => stopProcess(server.process, 'SIGKILL'),
      restart: () => server.restart(),
    }),
    close: () => server.stop(),
  };
}

describe.skipIf(redisMissing())('Redis', () => {
  describeQueue('Redis', openRedisServer);
});
