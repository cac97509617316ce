import type { Clock } from '../../base/clock.ts';
import type { SqlDialect } from './dialect.ts';
import { checkEpoch, type FormLock, lostLock } from './form-lock.ts';
import { translateError } from './sql-errors.ts';
import type { SqlSession } from './sql-session.ts';

/*
 * A writer takes what it locks in this order, so that no two ever wait for each other:
 *
 * 1. the form (`enterForm`);
 * 2. the catalogue of all forms (`lockCatalogue`);
 * 3. rows, in the order of their IDs; then what is remembered of them; then listings, in the order of their keys;
 * 4. the form's record in `mirror_forms`, which counts its rows, at the very end: it is held for the time of a commit.
 */

/** One transaction of a writer. */
export interface WriterTransaction {
  readonly tx: SqlSession;
  /** The time of its changes (ISO). */
  readonly at: string;
}

/** What the transactions of a writer need. */
export interface TransactionsContext {
  readonly dialect: SqlDialect;
  readonly formId: string;
  readonly place: string;
  readonly clock: Clock;
  readonly lock: FormLock;
  /** The epoch that must still be the newest (L13). */
  readonly epoch: number;
  /** Called in each transaction once the form is entered. */
  readonly onEntered: (tx: SqlSession) => Promise<void>;
  /** What takes back the changes to the writer's memory. */
  readonly keep: () => () => void;
}

/** The transactions of a writer, one at a time; each checks the fencing epoch first (L13). */
export class WriterTransactions {
  readonly #context: TransactionsContext;
  #released = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(context: TransactionsContext) {
    this.#context = context;
  }

  /**
   * When `work` or the commit fails, what the writer holds in memory is as before, too. `reads`: what is read as soon as the
   * form is entered, together with the epoch, so that one wait is enough. Rejects with MirrorErrors.
   */
  async run<T, R = undefined>(
    work: (transaction: WriterTransaction, read: R) => Promise<T>,
    reads?: (tx: SqlSession) => Promise<R>,
  ): Promise<T> {
    const { dialect, formId, place } = this.#context;
    if (this.#released) throw lostLock(place, formId);
    const turn = this.#turn
      .catch(() => {})
      .then(() => this.#runNow(work, reads))
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
    work: (transaction: WriterTransaction, read: R) => Promise<T>,
    reads: ((tx: SqlSession) => Promise<R>) | undefined,
  ): Promise<T> {
    const { clock, dialect, epoch, formId, keep, lock, onEntered, place } = this.#context;
    const restore = keep();
    try {
      return await lock.connection.transaction(async (tx) => {
        // Another one may take long to leave it: what is asked meanwhile would be given up for want of an answer.
        await dialect.enterForm?.(tx, formId);
        const [, , read] = await inOneWait([
          checkEpoch(tx, dialect, { formId, epoch, place }),
          onEntered(tx),
          reads?.(tx),
        ]);
        const transaction = { tx, at: new Date(clock.now()).toISOString() };
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
