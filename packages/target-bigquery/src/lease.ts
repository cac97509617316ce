import { createHash, randomBytes } from 'node:crypto';
import type { BigQueryApi } from './api.ts';
import { BigQueryError } from './errors.ts';

/** The empty table whose labels are the leases. Changing a label costs nothing, and succeeds only if no one has changed one since. */
const TABLE = '_mirror_lease';
/** A lease that was not renewed for this long has expired. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
/** How often others may be faster. */
const TRIES = 10;

interface TableResource {
  readonly etag: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The labels to write; null removes one. Undefined: there is nothing to do. */
type Labels = Readonly<Record<string, string | null>>;

/**
 * Leases by name, over all processes that write to the dataset. They keep work from being done twice; the revision of a form's
 * state keeps two writers apart. A process renews its leases until it gives them back; 30 seconds after it was killed, others can
 * take them.
 */
export class Leases {
  readonly #api: BigQueryApi;
  readonly #holder = randomBytes(6).toString('hex');
  readonly #held = new Set<string>();
  #renewal: AbortController | undefined;

  constructor(api: BigQueryApi) {
    this.#api = api;
  }

  /** Takes a lease. Returns a function that gives it back; null if another holder has it. */
  async take(name: string): Promise<(() => Promise<void>) | null> {
    const key = `lease-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
    if (this.#held.has(key)) return null;
    const isTaken = await this.#change((labels) => {
      // A lease of our own that we do not hold comes from an attempt whose response was lost.
      if (this.#isLive(labels[key]) && !this.#isOwn(labels[key])) return undefined;
      const dead = Object.keys(labels).filter((each) => !this.#isLive(labels[each]));
      return { ...Object.fromEntries(dead.map((each) => [each, null])), [key]: this.#value() };
    });
    if (!isTaken) return null;
    this.#held.add(key);
    if (this.#renewal === undefined) {
      this.#renewal = new AbortController();
      void this.#renewUntil(this.#renewal.signal);
    }
    return () => this.#give(key);
  }

  async #give(key: string): Promise<void> {
    this.#held.delete(key);
    if (this.#held.size === 0) {
      this.#renewal?.abort();
      this.#renewal = undefined;
    }
    await this.#change((labels) => (this.#isOwn(labels[key]) ? { [key]: null } : undefined));
  }

  async #renewUntil(stop: AbortSignal): Promise<void> {
    const { clock } = this.#api.options;
    const isStopped = (): Promise<boolean> =>
      clock.sleep(RENEW_MS, stop).then(
        () => stop.aborted,
        () => true,
      );
    // If a renewal fails, the next one makes up for it, or others take the lease.
    while (!(await isStopped())) await this.#renew().catch(() => {});
  }

  async #renew(): Promise<void> {
    await this.#change((labels) => {
      const own = [...this.#held].filter((key) => this.#isOwn(labels[key]));
      return own.length === 0
        ? undefined
        : Object.fromEntries(own.map((key) => [key, this.#value()]));
    });
  }

  #value(): string {
    return `${this.#holder}-${Math.floor(this.#api.options.clock.now() / 1_000)}`;
  }

  #isOwn(value: string | undefined): boolean {
    return value?.startsWith(`${this.#holder}-`) === true;
  }

  #isLive(value: string | undefined): boolean {
    const atMs = Number(value?.split('-')[1] ?? Number.NaN) * 1_000;
    return this.#api.options.clock.now() - atMs < LEASE_MS;
  }

  /** Changes the current labels; false if `next` wants nothing changed. */
  async #change(
    next: (labels: Readonly<Record<string, string>>) => Labels | undefined,
  ): Promise<boolean> {
    const path = this.#api.datasetPath(`/tables/${TABLE}`);
    for (let left = TRIES; ; left--) {
      try {
        const { etag, labels = {} } = await this.#api.call<TableResource>('GET', path);
        const changed = next(labels);
        if (changed === undefined) return false;
        const body = { labels: { ...labels, ...changed } };
        await this.#api.call('PATCH', path, { body, ifMatch: etag });
        return true;
      } catch (error) {
        if (!(error instanceof BigQueryError) || left === 1) throw error;
        if (error.isAbsent) await this.#make();
        else if (!error.isOutdated) throw error;
      }
    }
  }

  async #make(): Promise<void> {
    const { project: projectId, dataset: datasetId } = this.#api.options;
    const body = {
      tableReference: { projectId, datasetId, tableId: TABLE },
      schema: { fields: [{ name: 'name', type: 'STRING' }] },
      description: 'Leases of the mirror, as labels. It has no rows.',
    };
    await this.#api
      .call('POST', this.#api.datasetPath('/tables'), { body })
      .catch((error: unknown) => {
        if (!(error instanceof BigQueryError) || !error.exists) throw error;
      });
  }
}
