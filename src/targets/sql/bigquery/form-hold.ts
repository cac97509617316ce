import { randomUUID } from 'node:crypto';
import type { FormIdentity } from '../../../mirror/types.ts';
import type { HeldTable } from './bigquery-tables.ts';
import { type FormState, stateFrom, stateText } from './form-state.ts';
import {
  commitScript,
  endLease,
  type HeldLease,
  LEASE_SECONDS,
  lostLock,
  renewLease,
} from './lease.ts';
import type { Statement } from './sql-text.ts';
import { isLostLock, type Store } from './store.ts';

/**
 * A form that is held for writing: its state as its last commit left it. Works go one after the other; each change is one job that
 * first asserts the lease, so that of two writers only one gets through.
 */
export class FormHold {
  readonly store: Store;
  readonly form: FormIdentity;
  /** The writer's epoch: distinguishes what its pass lists from what earlier ones listed. */
  readonly epoch: number;
  readonly #lease: HeldLease;
  #commit: number;
  #commits = 0;
  #state: FormState;
  #renewedMs: number;
  #isReleased = false;
  #turn: Promise<unknown> = Promise.resolve();
  #table: Promise<HeldTable | undefined> | undefined;

  constructor(store: Store, form: FormIdentity, lease: HeldLease, state: FormState) {
    this.store = store;
    this.form = form;
    this.epoch = lease.epoch;
    this.#lease = lease;
    this.#commit = lease.commit;
    this.#state = state;
    this.#renewedMs = store.clock.now();
  }

  /** As it was last committed. */
  get state(): FormState {
    return this.#state;
  }

  /** A number for what the next commit adds to a list: greater than that of any commit to the form before. */
  get entry(): string {
    return `${this.epoch}${String(this.#commits).padStart(6, '0')}`;
  }

  /** Now as ISO text. */
  now(): string {
    return new Date(this.store.clock.now()).toISOString();
  }

  /** Runs work after all that came before it; throws TARGET_LOST_LOCK once released. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isReleased) return Promise.reject(this.#lost());
    const turn = this.#turn.then(() => this.store.guarded(work));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Takes the state over as what is there, without a commit: what changed is of no use to others. */
  keep(state: FormState): void {
    this.#state = state;
  }

  /** Makes the state what `next` is, with what the statements do, in one atomic step. Throws TARGET_LOST_LOCK. */
  async commit(next: FormState, statements: readonly Statement[] = []): Promise<void> {
    const { store } = this;
    const nonce = randomUUID();
    const state = { ...next, nonce };
    const lease = { ...this.#lease, commit: this.#commit };
    const { sql, parameters, tables } = commitScript(store, lease, stateText(state), statements);
    try {
      await store.change(sql, parameters, tables);
    } catch (error) {
      // Its answer may have been lost, and the script run again, or not at all.
      const applied = await this.#isApplied(nonce).catch(() => false);
      if (!applied) throw isLostLock(error) ? this.#lost() : error;
    }
    this.#commit += 1;
    this.#commits += 1;
    this.#state = state;
    this.#renewedMs = store.clock.now();
  }

  /** Keeps others from taking the form over while it is read only. */
  async renewIfDue(): Promise<void> {
    const { clock } = this.store;
    if (clock.now() - this.#renewedMs < (LEASE_SECONDS * 1_000) / 2) return;
    if (!(await renewLease(this.store, this.#lease))) throw this.#lost();
    this.#renewedMs = clock.now();
  }

  /** The form's table as REST tells of it; read once, and again after {@link forgetTable}. */
  async table(): Promise<HeldTable | undefined> {
    const { table } = this.#state;
    if (table === null) return undefined;
    this.#table ??= this.store.jobs.table(table);
    try {
      return await this.#table;
    } catch (error) {
      this.#table = undefined;
      throw error;
    }
  }

  /** Has the table asked for again: it was changed. */
  forgetTable(): void {
    this.#table = undefined;
  }

  /** Waits for work in progress, and lets others have the form. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    await this.#turn;
    await endLease(this.store, this.#lease);
  }

  async #isApplied(nonce: string): Promise<boolean> {
    const text = await this.store.readText(this.#lease.key);
    return stateFrom(text)?.nonce === nonce;
  }

  #lost(): Error {
    return lostLock(this.store.place, this.form.id);
  }
}
