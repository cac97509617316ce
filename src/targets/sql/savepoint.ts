import type { Session } from './database.ts';

/** The code of the error of rows that were written and are not there. */
export const SWALLOWED = 'MIRROR_SWALLOWED';

let savepoints = 0;

/** A failure in it leaves the transaction unchanged. */
export async function inSavepoint<T>(tx: Session, work: () => Promise<T>): Promise<T> {
  const name = `mirror_${++savepoints}`;
  await tx.run(`SAVEPOINT ${name}`);
  try {
    const result = await work();
    await tx.run(`RELEASE SAVEPOINT ${name}`);
    return result;
  } catch (error) {
    // Something that people added may have rolled back everything.
    await tx.run(`ROLLBACK TO SAVEPOINT ${name}`).catch(() => {});
    await tx.run(`RELEASE SAVEPOINT ${name}`).catch(() => {});
    throw error;
  }
}
