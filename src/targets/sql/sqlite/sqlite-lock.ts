import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../../../base/folder.ts';
import { isBusy } from './sqlite-errors.ts';

/**
 * Takes the lock on a form: an exclusive transaction on an empty SQLite file of its own, in a folder beside the
 * database. The operating system releases it when the process dies, however it dies. Undefined when another holds it.
 */
export function tryLockFile(databasePath: string, formId: string): Disposable | undefined {
  const folder = `${databasePath}-locks`;
  makeFolder(folder);
  const name = createHash('sha256').update(formId).digest('hex').slice(0, 24);
  const file = new DatabaseSync(join(folder, `${name}.lock`), { timeout: 0 });
  try {
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => file.close() };
}
