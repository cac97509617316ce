import type { Clock } from '../../base/clock.ts';
import type { SqlDialect } from './dialect.ts';
import { checkEpochs, type FormLock, lostLock } from './form-lock.ts';
import { translateError } from './sql-errors.ts';
import type { SqlSession } from './sql-session.ts';

/*
 * Several writers of one form, where its windows are written side by side, take what they lock in this order, so that no
 * two ever wait for each other:
 *
 * 1. the form (`enterForm`): together with others to store rows, alone for anything that changes its columns or speaks of
 *    the form as a whole;
 * 2. the catalogue of all forms (`lockCatalogue`), only alone;
 * 3. rows, in the order of their IDs; then what is remembered of them; then listings, in the order of their keys;
 * 4. the form's record in `mirror_forms`, which counts its rows, at the very end: it is held for the time of a commit.
 */

/** `together`: with other writers of the form, to store rows. `alone`: with nobody else. */
export type Entry = 'together' | 'alone';

/** One transaction of a writer. */
export interface WriterTransaction {
  readonly tx: SqlSession;
  /** The time of its changes (ISO). */
  readonly at: string;
  /** Call it before the first change that is made alone: where others may be storing rows, everything begins again, alone. */
  requireAlone(): void;
}

/** What the transactions of a writer need. */
export interface TransactionsContext {
  readonly dialect: SqlDialect;
  readonly formId: string;
  readonly place: string;
  readonly clock: Clock;
  readonly lock: FormLock;
  /** The epochs that must still be the newest, by the names of their locks (L13). */
  readonly epochs: ReadonlyMap<string, number>;
  /** Called in each transaction once the form is entered. */
  readonly onEntered: (tx: SqlSession) => Promise<void>;
  /** What takes back the changes to the writer's memory. */
  readonly keep: () => () => void;
}

/** The transactions of a writer, one at a time; each checks the fencing epochs first (L13). */
export class WriterTransactions {
  readonly #context: TransactionsContext;
  #released = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(context: TransactionsContext) {
    this.#context = context;
  }

  /**
   * When `work` or the commit fails, what the writer holds in memory is as before, too. `reads`: what is read as soon as the
   * form is entered, together with the epochs, so that one wait is enough. Rejects with MirrorErrors.
   */
  async run<T, R = undefined>(
    entry: Entry,
    work: (transaction: WriterTransaction, read: R) => Promise<T>,
    reads?: (tx: SqlSession) => Promise<R>,
  ): Promise<T> {
    const { dialect, formId, place } = this.#context;
    if (this.#released) throw lostLock(place, formId);
    const turn = this.#turn
      .catch(() => {})
      .then(() => this.#runNow(entry, work, reads))
      .catch((error: unknown) => {
        if (!(error instanceof NotAlone)) throw error;
        return this.#runNow('alone', work, reads);
      })
      .catch((error: unknown) => {
        throw translateError(error, dialect.describeError, place);
      });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Waits for transactions in progress. */
  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#turn.catch(() => {});
    await this.#context.lock.release();
  }

  async #runNow<T, R>(
    entry: Entry,
    work: (transaction: WriterTransaction, read: R) => Promise<T>,
    reads: ((tx: SqlSession) => Promise<R>) | undefined,
  ): Promise<T> {
    const { clock, dialect, epochs, formId, keep, lock, onEntered, place } = this.#context;
    const restore = keep();
    const isShared = entry === 'together' && dialect.enterForm !== undefined;
    const requireAlone = (): void => {
      if (isShared) throw new NotAlone();
    };
    try {
      return await lock.connection.transaction(async (tx) => {
        // Others may take long to leave it: what is asked meanwhile would be given up for want of an answer.
        await dialect.enterForm?.(tx, formId, entry);
        const [, , read] = await inOneWait([
          checkEpochs(tx, dialect, { formId, epochs, place }),
          onEntered(tx),
          reads?.(tx),
        ]);
        const transaction = { tx, at: new Date(clock.now()).toISOString(), requireAlone };
        return work(transaction, read as R);
      });
    } catch (error) {
      restore();
      throw error;
    }
  }
}

/** What these come to, all of which have ended then; rejects as the first of them that failed: it may be why others did. */
async function inOneWait<T extends readonly unknown[]>(
  asked: readonly [...T],
): Promise<{ -readonly [N in keyof T]: Awaited<T[N]> }> {
  const all = Promise.all(asked);
  await Promise.allSettled([all, ...asked]);
  return all;
}

/** Thrown to leave a transaction that turned out to need the form for itself. */
class NotAlone extends Error {}
