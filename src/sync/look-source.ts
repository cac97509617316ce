import { isAbort, MirrorError } from '../base/errors.ts';
import type { CallOptions } from '../forms/client.ts';
import { FormsApiError } from '../forms/errors.ts';
import { type CountsByStatus, countsWith, SourceCounts } from '../forms/submission-counts.ts';
import { NO_COUNTS, type StatusCounts } from '../mirror/status-counts.ts';
import type { SyncContext } from './context.ts';
import { askedCounts } from './look-counts.ts';
import type { FormCounted, LookSource, WorkspaceAgain } from './look-judgement.ts';
import type { NewestPage } from './look-page.ts';
import { Turns } from './turns.ts';

/** The workspace as a whole, as one look reads it. */
export interface Workspace {
  /** By status; null where the API does not count so without `formId`. */
  readonly counts: StatusCounts | null;
  /** Its list, newest first: the newest page, read after the counts, and those that were read on. None where it can't be had. */
  readonly pages: readonly NewestPage[];
}

/** The documented order; an API may ignore it, or refuse it with a 400. */
const NEWEST_FIRST = { sortBy: 'submittedAt', sortOrder: 'desc' } as const;
/** What a form shows that is not there. */
const NO_PAGE: NewestPage = { items: [], total: 0, limit: 100 };
/** Forms of a workspace without submissions that are asked whether they have any: with that a look costs what a quiet one does. */
const EMPTY_FORMS_A_LOOK = 6;
/** How often counts are read anew because statuses changed meanwhile. */
const ROUNDS = 3;
/** After so many questions in a row without an answer none is asked any more: each has been tried several times. */
const MOST_SILENT = 3;

/**
 * What a look asks the source: each question once, however many targets want to know. What the API does not answer is no
 * failure of the look: forms that can't be judged are visited. Rejects with CANCELLED, and where the key is refused.
 */
export class SourceReading implements LookSource {
  readonly width: number;
  /** Requests so far, retries included. */
  requests = 0;
  readonly #client: SyncContext['client'];
  readonly #counts: SourceCounts;
  readonly #call: CallOptions;
  readonly #asked = new Map<string, Promise<number | undefined>>();
  readonly #pages = new Map<string, Promise<NewestPage | undefined>>();
  readonly #turns: Turns | undefined;
  readonly #forms = new Map<string, Promise<FormCounted | 'unasked' | undefined>>();
  #silent = 0;
  #isUnasked = false;

  /** `turns`: of forms, over the looks of a process; absent: it is everybody's turn. */
  constructor({ client, readAhead }: SyncContext, signal: AbortSignal, turns?: Turns) {
    this.#client = client;
    this.#turns = turns;
    this.width = readAhead;
    this.#call = { signal, onAttempt: () => this.requests++ };
    this.#counts = new SourceCounts(client, this.#call);
  }

  /**
   * The counts, and then the newest page: so that it shows every newcomer that they count. Seven requests, where nothing changes
   * meanwhile; one where nothing is expected (`isEmpty`), and nothing is there. What forms were asked before is asked again.
   */
  async workspace(isEmpty: boolean): Promise<Workspace> {
    for (const asked of [this.#asked, this.#pages, this.#forms]) asked.clear();
    if (isEmpty) {
      const page = await this.#answer(() => this.#page(1));
      if (page === undefined) return { counts: null, pages: [] };
      if (page.total === 0 && page.items.length === 0) return { counts: NO_COUNTS, pages: [page] };
    }
    const read = await this.#answer(() => this.#countedWithPage());
    if (read === undefined) return { counts: null, pages: [] };
    const { counts, page } = read;
    return { counts: counts.verdict === 'ignored' ? null : askedCounts(counts), pages: [page] };
  }

  /** `more` further pages of the workspace's list, side by side, but no more at once than may be; undefined where one can't be had. */
  async readOn(
    pages: readonly NewestPage[],
    more: number,
  ): Promise<readonly NewestPage[] | undefined> {
    const numbers = Array.from({ length: Math.min(more, this.width) }, (_, nth) => nth + 1);
    const read = await Promise.all(
      numbers.map((nth) => this.#answer(() => this.#page(pages.length + nth))),
    );
    const further = read.filter((page) => page !== undefined);
    return further.length < read.length ? undefined : [...pages, ...further];
  }

  async workspaceAgain(statuses: readonly string[]): Promise<WorkspaceAgain | undefined> {
    return this.#answer(async () => {
      const count = async (status: string) =>
        [status, await this.#counts.count({ status })] as const;
      const counts = new Map(await Promise.all(statuses.map(count)));
      return { counts, page: await this.#page(1) };
    });
  }

  count(formId: string, status: string | null): Promise<number | undefined> {
    const key = JSON.stringify([formId, status]);
    const query = { formId, ...(status === null ? {} : { status }) };
    const asked = this.#asked.get(key) ?? this.#answer(() => this.#counts.count(query), 0);
    this.#asked.set(key, asked);
    return asked;
  }

  countsOf(formId: string): Promise<FormCounted | 'unasked' | undefined> {
    const asked = this.#forms.get(formId) ?? this.#countsOf(formId);
    this.#forms.set(formId, asked);
    return asked;
  }

  formPage(formId: string): Promise<NewestPage | undefined> {
    const asked = this.#pages.get(formId) ?? this.#answer(() => this.#page(1, formId), NO_PAGE);
    this.#pages.set(formId, asked);
    return asked;
  }

  emptyFormsInTurn(formIds: readonly string[], hadSome: boolean): readonly string[] {
    if (this.#turns === undefined && !hadSome) return formIds;
    const turns = this.#turns ?? new Turns();
    return [...turns.next('empty', formIds, EMPTY_FORMS_A_LOOK)];
  }

  /** By status, and then the newest page, which says how many there are. */
  async #countedWithPage(formId?: string): Promise<{ counts: CountsByStatus; page: NewestPage }> {
    for (let round = 1; ; round++) {
      const statuses = await this.#counts.ofStatuses({ formId });
      const page = await this.#page(1, formId);
      const counts = countsWith(page.total, statuses);
      if (counts.verdict !== 'moved' || round === ROUNDS) return { counts, page };
    }
  }

  async #countsOf(formId: string): Promise<FormCounted | 'unasked' | undefined> {
    if (this.#isUnasked) return 'unasked';
    try {
      const read = async (): Promise<FormCounted | 'unasked'> => {
        const { counts, page } = await this.#countedWithPage(formId);
        return counts.verdict === 'ignored' ? 'unasked' : { counts: askedCounts(counts), page };
      };
      const counts = await this.#answer(read, { counts: NO_COUNTS, page: NO_PAGE }, true);
      if (counts === 'unasked') this.#isUnasked = true;
      return counts;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#isUnasked = true;
      return 'unasked';
    }
  }

  async #page(page: number, formId?: string) {
    const query = { page, limit: 100, ...(formId !== undefined && { formId }) };
    try {
      return await this.#client.listSubmissions({ ...query, ...NEWEST_FIRST }, this.#call);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#client.listSubmissions(query, this.#call);
    }
  }

  /** Undefined for a question that the API does not answer; `missing` for one about what is not there. */
  async #answer<T>(
    ask: () => Promise<T>,
    missing?: T,
    throwsRefusals = false,
  ): Promise<T | undefined> {
    if (this.#silent >= MOST_SILENT) return undefined;
    try {
      const answer = await ask();
      this.#silent = 0;
      return answer;
    } catch (error) {
      if (isAbort(error) || !(error instanceof MirrorError)) throw error;
      if (error.code === 'FORMS_UNAUTHORIZED' || !error.code.startsWith('FORMS_')) throw error;
      if (error.code === 'FORMS_NOT_FOUND') return missing;
      if (throwsRefusals && isRefusal(error)) throw error;
      // A refusal is an answer: the next question may be understood.
      this.#silent = isRefusal(error) ? 0 : this.#silent + 1;
      return undefined;
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof FormsApiError && error.code === 'FORMS_REFUSED';
