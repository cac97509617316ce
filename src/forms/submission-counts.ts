import { STATUSES } from '../mirror/types.ts';
import { FormsApiError } from './errors.ts';
import type { CallOptions, FormsClient, SubmissionQuery } from './client.ts';

/** Which submissions to count; without a form: those of the whole workspace. */
export type CountQuery = Pick<SubmissionQuery, 'formId' | 'status' | 'dateFrom' | 'dateTo'>;

/** How many submissions there are of each status, as far as the API can be asked. */
export interface CountsByStatus {
  /** Of any status. */
  readonly total: number;
  /** Of the documented statuses; one that no submission has is absent. */
  readonly statuses: ReadonlyMap<string, number>;
  /** With no documented status: what the others leave of `total`. */
  readonly other: number;
  /**
   * `fits`: they add up to no more than `total`. `moved`: to a little more, as when statuses change while
   * they are counted. `ignored`: to so much more that the API can't have looked at `status`, or it refuses to; then they mean nothing.
   */
  readonly verdict: 'fits' | 'moved' | 'ignored';
}

/**
 * Asks how many submissions there are without reading them: one item a request. What is counted one after the other may
 * change in between; a change that lasts shows in the next count. Rejects as the client does.
 */
export class SourceCounts {
  readonly #client: Pick<FormsClient, 'listSubmissions'>;
  readonly #call: CallOptions;

  constructor(client: Pick<FormsClient, 'listSubmissions'>, call: CallOptions) {
    this.#client = client;
    this.#call = call;
  }

  /** How many match, as the API says. One request. */
  async count(query: CountQuery): Promise<number> {
    const page = await this.#client.listSubmissions({ ...query, page: 1, limit: 1 }, this.#call);
    return page.total;
  }

  /**
   * Their number by status. Seven requests, side by side, and seven more where they add up to more than there are. Six, once,
   * where the caller has just read `total`, and is to read that again.
   */
  async byStatus(query: Omit<CountQuery, 'status'>, total?: number): Promise<CountsByStatus> {
    const first = await this.#read(query, total);
    return first.verdict === 'moved' && total === undefined ? this.#read(query) : first;
  }

  /** Of each documented status, side by side: six requests. Null where the API refuses to be asked for one. */
  async ofStatuses(query: Omit<CountQuery, 'status'>): Promise<readonly number[] | null> {
    const counts = await Promise.all(
      STATUSES.map((status) => this.#countOrNull({ ...query, status })),
    );
    return counts.every((count) => count !== null) ? counts : null;
  }

  /** Null where the API refuses to be asked for it. */
  async #countOrNull(query: CountQuery): Promise<number | null> {
    try {
      return await this.count(query);
    } catch (error) {
      if (error instanceof FormsApiError && error.code === 'FORMS_REFUSED') return null;
      throw error;
    }
  }

  async #read(query: Omit<CountQuery, 'status'>, known?: number): Promise<CountsByStatus> {
    const [total, counts] = await Promise.all([known ?? this.count(query), this.ofStatuses(query)]);
    return countsWith(total, counts);
  }
}

/** Counts of the statuses, as {@link SourceCounts.ofStatuses} has them, with a total that was read before or after them. */
export function countsWith(total: number, counts: readonly number[] | null): CountsByStatus {
  if (counts === null) return { total, statuses: new Map(), other: total, verdict: 'ignored' };
  const sum = counts.reduce((all, each) => all + each, 0);
  const some = STATUSES.map((status, at) => [status, counts[at] ?? 0] as const);
  return {
    total,
    statuses: new Map(some.filter(([, count]) => count > 0)),
    other: Math.max(0, total - sum),
    verdict: sum <= total ? 'fits' : isIgnored(total, counts) ? 'ignored' : 'moved',
  };
}

/** Whether counts that exceed `total` do so because the filter had no effect. */
function isIgnored(total: number, counts: readonly number[]): boolean {
  const sum = counts.reduce((all, each) => all + each, 0);
  return sum >= Math.max(2 * total, total + 2);
}
