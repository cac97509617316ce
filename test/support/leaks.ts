import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** Texts or bytes that may contain nothing secret, by their origin. */
export type Places = Map<string, string | Buffer>;

/**
 * The places in which secrets are in clear text, percent-encoded or as base64 (L11, L15); empty if there are none.
 * `secrets`: by their kind. The result names both and quotes nothing.
 */
export function leaksIn(places: Places, secrets: Readonly<Record<string, string>>): string[] {
  const leaks: string[] = [];
  for (const [place, content] of places) {
    for (const [name, secret] of Object.entries(secrets)) {
      const forms = [secret, encodeURIComponent(secret), base64Core(secret)];
      if (forms.some((form) => content.includes(form))) leaks.push(`${name} in ${place}`);
    }
  }
  return leaks;
}

/** The part of a secret's base64 that does not depend on its neighbors if it begins at a multiple of three bytes. */
function base64Core(secret: string): string {
  const bytes = Buffer.from(secret);
  return bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
}

/** Every file below a folder, byte by byte, without files that vanish during the reading. */
export function filesBelow(folder: string): Places {
  const places: Places = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    try {
      if (entry.isFile()) places.set(path, readFileSync(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return places;
}

/** The files below a folder whose bytes contain one of these texts. */
export const filesWith = (folder: string, texts: readonly string[]): string[] =>
  [...filesBelow(folder)].flatMap(([file, bytes]) =>
    texts.some((text) => bytes.includes(text)) ? [file] : [],
  );

/** Every key of a Redis server with its content. */
export async function keysOfRedis(url: string): Promise<Places> {
  const client = new Redis(url);
  try {
    const places: Places = new Map();
    for (const key of await client.keys('*')) {
      places.set(`Redis key ${key}`, `${key} ${JSON.stringify(await contentOf(client, key))}`);
    }
    return places;
  } finally {
    client.disconnect();
  }
}

async function contentOf(client: Redis, key: string): Promise<unknown> {
  switch (await client.type(key)) {
    case 'string':
      return client.get(key);
    case 'hash':
      return client.hgetall(key);
    case 'list':
      return client.lrange(key, 0, -1);
    case 'set':
      return client.smembers(key);
    case 'zset':
      return client.zrange(key, '0', '-1');
    case 'stream':
      return client.xrange(key, '-', '+');
    case 'none':
      return null;
    default:
      throw new Error(`a key of a type unknown to this test: ${key}`);
  }
}
