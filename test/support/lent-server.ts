import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/**
 * The PostgreSQL server that all files of a run share. Create your own database in it (`createDatabase`), leave the
 * server's roles and settings unchanged, and kill only servers from `startPostgres`.
 */
export async function lentPostgres(): Promise<{ readonly url: string }> {
  return { url: await lent('postgres') };
}

/** The same for MariaDB. Create your own database in it (`createMysqlDatabase`). */
export async function lentMariadb(): Promise<{ readonly url: string }> {
  return { url: await lent('mariadb') };
}

/**
 * Puts an empty queue of `start` into a data directory that has none, as an earlier `start` would have left it. Creating one
 * takes more than four seconds of computing, and opening this one less than one.
 */
export async function layQueue(dataDir: string): Promise<void> {
  const template = await lent('queue');
  // With the rights of its folders, which cpSync does not copy.
  if (!existsSync(join(dataDir, 'queue'))) execFileSync('cp', ['-a', `${template}/.`, dataDir]);
}

async function lent(name: string): Promise<string> {
  const answer = await fetch(`${inject('lender')}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
