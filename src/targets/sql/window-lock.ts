import type { Clock } from '../../base/clock.ts';
import type { FormWindow } from '../../mirror/window.ts';
import { loadForm } from './catalogue.ts';
import { hasCatalogue } from './catalogue-version.ts';
import type { SqlDialect } from './dialect.ts';
import { epochOf, type FormLock, lostLock, takeEpoch } from './form-lock.ts';
import type { FormContext } from './form-reader.ts';
import { type SqlSession, textOf } from './sql-session.ts';
import { SqlWindowWriter } from './window-writer.ts';

/** The name of the lock on a window of a form, which is also that of its epoch. */
export const windowLockName = (formId: string, { from, to }: FormWindow): string =>
  `window ${from ?? ''}..${to ?? ''} of ${formId}`;

const NAME = /^window \S*\.\.\S* of (.*)$/s;

/** A window whose lock was taken under `name`. */
export interface LockedWindow extends FormContext {
  readonly name: string;
  readonly lock: FormLock;
  readonly clock: Clock;
  /** Whether every version of its rows is to be kept. */
  readonly keepsVersions: boolean;
}

/**
 * Registers the holder of a window's lock. It rests on the form's epoch as well, which it leaves as it is: it writes for the
 * pass that holds the form, and for no later one. Releases the lock where that fails.
 */
export async function openWindow(locked: LockedWindow): Promise<SqlWindowWriter> {
  const { clock, dialect, formId, lock, name, place } = locked;
  const { connection } = lock;
  try {
    const at = new Date(clock.now()).toISOString();
    return await connection.transaction(async (tx) => {
      await dialect.enterForm?.(tx, formId, 'together');
      // Making and repairing the catalogue is the form's writer's.
      const epoch = (await hasCatalogue(tx, dialect))
        ? await epochOf(tx, dialect, formId)
        : undefined;
      const known = epoch === undefined ? undefined : await loadForm(tx, dialect, formId);
      if (epoch === undefined || known === undefined) throw lostLock(place, formId);
      const own = await takeEpoch(tx, dialect, name, at);
      const epochs = new Map([
        [formId, epoch],
        [name, own],
      ]);
      const release = async (): Promise<void> => {
        await dropLock(connection, dialect, name, own).catch(() => {});
        await lock.release();
      };
      return new SqlWindowWriter({
        ...locked,
        form: known.form,
        lock: { connection, release },
        epochs,
        epoch,
        known,
      });
    });
  } catch (error) {
    await lock.release().catch(() => {});
    throw error;
  }
}

/** What is not held needs no record; one that a killed process left goes with {@link dropWindowLocks}. */
async function dropLock(
  session: SqlSession,
  dialect: SqlDialect,
  name: string,
  epoch: number,
): Promise<void> {
  await session.query(
    `DELETE FROM ${dialect.relation('mirror_locks')} WHERE form_id = $1 AND epoch = $2`,
    [name, epoch],
  );
}

/** When a full pass over a form ends: nobody may write to a window for it any more (L13). */
export async function dropWindowLocks(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<void> {
  const locks = dialect.relation('mirror_locks');
  const rows = await tx.query(`SELECT form_id FROM ${locks} WHERE form_id LIKE 'window %'`);
  const own = rows
    .map((row) => textOf(row, 'form_id'))
    .filter((name) => NAME.exec(name)?.[1] === formId);
  if (own.length === 0) return;
  await tx.query(`DELETE FROM ${locks} WHERE ${dialect.isIn('form_id', '$1')}`, [
    dialect.list(own),
  ]);
}
