import { type Clock, throwIfAborted } from '../../../base/clock.ts';

/** How many mutating jobs a table takes. */
export interface PacingLimits {
  /** At once; BigQuery runs two and queues some twenty more, which other programs may need. */
  readonly atOnce: number;
  /** Begun within any {@link WINDOW_MS}. */
  readonly perWindow: number;
}

/** Google's ("DML statements" in BigQuery's quotas): two run at once, 25 a table in ten seconds. */
export const BIGQUERY_PACE: PacingLimits = { atOnce: 2, perWindow: 25 };

const WINDOW_MS = 10_000;

interface Waiting {
  readonly tables: readonly string[];
  readonly begin: () => void;
}

/**
 * Keeps the mutating jobs of a process within what a table takes, in the order in which they come. Other processes are not
 * seen: what is too much with them BigQuery refuses for a moment, and is tried again.
 */
export class TablePacing {
  readonly #clock: Clock;
  readonly #limits: PacingLimits;
  readonly #running = new Map<string, number>();
  readonly #starts = new Map<string, number[]>();
  #waiting: Waiting[] = [];

  constructor(clock: Clock, limits: PacingLimits = BIGQUERY_PACE) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Waits for a place at all of these tables. Call what it resolves to once the job has ended. Rejects with CANCELLED. */
  async take(tables: readonly string[], signal?: AbortSignal): Promise<() => void> {
    throwIfAborted(signal);
    await this.#turn(tables, signal);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      for (const table of tables) this.#running.set(table, this.#runningAt(table) - 1);
      this.#goOn();
    };
    try {
      const waitMs = this.#register(tables);
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  async #turn(tables: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { tables, begin: resolve };
    const leave = (): void => {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
      try {
        throwIfAborted(signal);
      } catch (error) {
        reject(error);
      }
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.#waiting.push(waiting);
    this.#goOn();
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Begins whoever waits, unless one before it waits for a table of the same name. */
  #goOn(): void {
    const claimed = new Set<string>();
    this.#waiting = this.#waiting.filter(({ tables, begin }) => {
      const isFree = tables.every(
        (table) => !claimed.has(table) && this.#runningAt(table) < this.#limits.atOnce,
      );
      for (const table of tables) {
        if (isFree) this.#running.set(table, this.#runningAt(table) + 1);
        else claimed.add(table);
      }
      if (isFree) begin();
      return !isFree;
    });
  }

  /** Notes a start at each table; how long it has to wait until then, in ms. */
  #register(tables: readonly string[]): number {
    const now = this.#clock.now();
    const start = Math.max(
      now,
      ...tables.map((table) => {
        const starts = this.#starts.get(table) ?? [];
        const oldest = starts.length < this.#limits.perWindow ? undefined : starts[0];
        return oldest === undefined ? now : oldest + WINDOW_MS;
      }),
    );
    for (const table of tables) {
      const starts = [...(this.#starts.get(table) ?? []), start];
      this.#starts.set(table, starts.slice(-this.#limits.perWindow));
    }
    return Math.ceil(start - now);
  }

  readonly #runningAt = (table: string): number => this.#running.get(table) ?? 0;
}
