import { inject } from 'vitest';

/**
 * The PostgreSQL that all files of a run share. Take a database of your own from it (`createDatabase`), leave the
 * server's roles and settings alone, and kill only what `startPostgres` gave you.
 */
export async function lentPostgres(): Promise<{ readonly url: string }> {
  const answer = await fetch(`${inject('lender')}/postgres`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return { url: text };
}
