import type { Clock } from '../../base/clock.ts';
import { MirrorError } from '../../base/errors.ts';
import type { MarkingLock } from '../../mirror/target.ts';
import type { SqlDialect } from './dialect.ts';
import { type FormLock, takeEpoch } from './form-lock.ts';
import { translateError } from './sql-errors.ts';
import { numberOf } from './sql-session.ts';

/** The form that is marked, and where. */
export interface MarkedForm {
  readonly dialect: SqlDialect;
  readonly formId: string;
  /** The target, for messages. */
  readonly place: string;
  readonly clock: Clock;
}

/** The name of the lock on marking: another one than that on writing, so that neither holds up the other. */
export const markingLockName = (formId: string): string => `marking of ${formId}`;

/**
 * Registers the holder of a lock taken under {@link markingLockName}. Its epoch is asked for on the connection that
 * holds the lock: no answer means that the lock went with the connection, another epoch that someone took over.
 */
export async function holdMarkingLock(
  lock: FormLock,
  { dialect, formId, place, clock }: MarkedForm,
): Promise<MarkingLock> {
  const name = markingLockName(formId);
  const { connection } = lock;
  const at = new Date(clock.now()).toISOString();
  const epoch = await connection.transaction((tx) => takeEpoch(tx, dialect, name, at));
  return {
    async assertHeld() {
      const rows = await connection
        .query(`SELECT epoch FROM ${dialect.relation('mirror_locks')} WHERE form_id = $1`, [name])
        .catch((error: unknown) => {
          throw translateError(error, dialect.describeError, place);
        });
      const [row] = rows;
      if (row !== undefined && numberOf(row, 'epoch') === epoch) return;
      throw new MirrorError(
        'TARGET_LOST_LOCK',
        `${place}: another process took over marking form ${formId} while this one was stalled; this one changed no status any more. The next run goes on.`,
      );
    },
    [Symbol.asyncDispose]: () => lock.release(),
  };
}
