import { randomUUID } from 'node:crypto';
import type { bigquery_v2 } from 'googleapis/build/src/apis/bigquery/v2.js';
import {
  changedRows,
  checked,
  numberOf,
  type JobReference,
  type Progress,
  referenceOf,
} from './bigquery-answers.ts';
import { BigQueryCalls, type CallsOptions, JOB_WAIT_MS, SHORT_CALL_MS } from './bigquery-calls.ts';
import {
  BigQueryError,
  type BigQueryFault,
  endlessJob,
  isOverLimit,
  jobError,
} from './bigquery-errors.ts';
import { type PacingLimits, TablePacing } from './bigquery-pacing.ts';
import type { DaySpending, Spent } from './bigquery-spending.ts';
import { BigQueryTables } from './bigquery-tables.ts';
import { JobCosts } from './job-costs.ts';
import { DaySum } from './day-sum.ts';
import { JOB_LIMIT_MS, queryBody, type Request } from './bigquery-request.ts';
import { type JobParameter, readRows, type ResultRow } from './bigquery-values.ts';

/** What a job came to. */
export interface JobResult {
  /** Of the statement, or of the last SELECT or DML of a script. */
  readonly rows: readonly ResultRow[];
  /** Rows that a single DML statement changed; 0 of a script. */
  readonly changedRows: number;
  readonly statements: number;
  readonly bytesBilled: number;
}

/** A result that is read page by page. */
export interface OpenResult {
  pages(): AsyncIterable<readonly ResultRow[]>;
}

/** How a job is run. */
export interface RunOptions {
  /** The tables that it changes. None: it reads, and repeating it is harmless. */
  readonly mutates?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** Called with what each job was billed, also one that failed. */
  readonly onBilled?: (spent: Spent) => void;
  /** Most rows of a page, of what is opened. */
  readonly pageRows?: number;
}

/** Tables and views of a dataset by REST, and statements and scripts that are run there, each as one job. */
export interface BigQueryJobs extends Omit<BigQueryTables, 'location' | 'madeWithin'> {
  readonly project: string;
  readonly dataset: string;
  /** What all jobs of this process in this dataset were billed. */
  readonly spending: DaySpending;
  /**
   * Runs a statement or a script to its end and returns all pages of its result. Repeats what passes, a mutating request
   * under one request ID for as long as its fate is unknown, so that it takes effect once; but for a job that BigQuery
   * itself has lost, with its ID: what must not happen twice asserts that it has not happened. Keeps to the pace of the tables
   * that it changes, and to what may be billed a day. Names of tables in `sql` need no dataset. Rejects with BigQueryError or
   * CANCELLED, after which a mutating job may still take effect.
   */
  run(
    sql: string,
    parameters?: Readonly<Record<string, JobParameter>>,
    how?: RunOptions,
  ): Promise<JobResult>;
  /**
   * Runs a query as {@link run} does, and resolves once its result, of that instant, is there; the pages of it are fetched as
   * they are asked for. For results that memory does not hold (L14).
   */
  open(
    sql: string,
    parameters?: Readonly<Record<string, JobParameter>>,
    how?: Omit<RunOptions, 'mutates'>,
  ): Promise<OpenResult>;
  /**
   * Lets BigQuery read a statement and look up rights and tables, and changes and costs nothing. How many bytes it would read.
   * Rejects as {@link run} does.
   */
  dryRun(sql: string, signal?: AbortSignal): Promise<number>;
  /** Tells the dataset what was billed and not told yet. Never rejects. */
  close(): Promise<void>;
}

export interface JobsOptions extends CallsOptions {
  /** From the address; where the dataset is when undefined. */
  readonly location: string | undefined;
  readonly spending: DaySpending;
  readonly pace?: PacingLimits | undefined;
  /** For tests. */
  readonly newId?: (() => string) | undefined;
}

/** Opens a dataset for jobs. Makes no call yet. */
export const openJobs = (options: JobsOptions): BigQueryJobs => new Jobs(options);

const MINUTE_MS = 60_000;
/** No repetition under the same request ID begins later. */
const REQUEST_ID_MS = 14 * MINUTE_MS;
const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 5_000;
/** Rows of a page that is handed out by itself. */
const OPEN_PAGE_ROWS = 2_000;
/** The reason of a job that was not begun. */
const JOB_RATE = 'jobRateLimitExceeded';
/** A table that was just made is not known everywhere at once. */
const NEW_TABLE_MS = 2 * MINUTE_MS;

/** The fate of the job is unknown: the same request again, or nothing was sent at all. */
const SAME_REQUEST: ReadonlySet<BigQueryFault> = new Set(['unclear', 'unreachable', 'lost']);
/** The job ended without effect, or never began. */
const NEW_REQUEST: ReadonlySet<BigQueryFault> = new Set(['throttled', 'failed', 'conflict']);

/** A job that has taken effect: its first and last answers, and what it was billed. */
interface EndedJob {
  readonly request: Request;
  readonly first: Progress;
  readonly done: Progress;
  readonly spent: Spent;
}

class Jobs extends BigQueryTables implements BigQueryJobs {
  readonly project: string;
  readonly dataset: string;
  readonly spending: DaySpending;
  readonly #calls: BigQueryCalls;
  readonly #pacing: TablePacing;
  readonly #newId: () => string;
  readonly #daySum: DaySum;
  readonly #costs: JobCosts;

  constructor(options: JobsOptions) {
    const calls = new BigQueryCalls(options);
    super(calls, options.location);
    this.project = options.project;
    this.dataset = options.dataset;
    this.spending = options.spending;
    this.#calls = calls;
    this.#pacing = new TablePacing(options.clock, options.pace);
    this.#newId = options.newId ?? randomUUID;
    this.#daySum = new DaySum(this, options.spending, options.clock);
    this.#costs = new JobCosts(calls);
  }

  run(
    sql: string,
    parameters: Readonly<Record<string, JobParameter>> = {},
    { mutates = [], signal, onBilled }: RunOptions = {},
  ): Promise<JobResult> {
    const wanted = { sql, parameters, mutates, signal, ...(onBilled && { onBilled }) };
    return this.#repeated(wanted, async (ended) => {
      const rows: ResultRow[] = [];
      for await (const page of this.#pages(ended)) rows.push(...page);
      return { rows, changedRows: changedRows(ended.done), ...ended.spent };
    });
  }

  open(
    sql: string,
    parameters: Readonly<Record<string, JobParameter>> = {},
    { signal, pageRows = OPEN_PAGE_ROWS, onBilled }: Omit<RunOptions, 'mutates'> = {},
  ): Promise<OpenResult> {
    const billed = onBilled && { onBilled };
    const wanted = { sql, parameters, mutates: [], signal, pageRows, ...billed };
    return this.#repeated(wanted, async (ended) => ({ pages: () => this.#pages(ended) }));
  }

  /** Runs a job, and takes what came of it, until both went well or what is wrong does not pass. */
  #repeated<T>(
    wanted: Omit<Request, 'id' | 'isRunning' | 'allowance'>,
    take: (ended: EndedJob) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#calls.options;
    const { signal } = wanted;
    const request: Request = { ...wanted, id: this.#newId(), isRunning: false, allowance: null };
    const startMs = clock.now();
    return this.#calls.retrying(
      () => this.#paced(request, take),
      signal,
      (fault, error) => {
        if (clock.now() - startMs > REQUEST_ID_MS) return false;
        // What is throttled is the question for the result of a job that may well take effect.
        const isAsking = request.isRunning && fault === 'throttled' && error.reason !== JOB_RATE;
        if (SAME_REQUEST.has(fault) || isAsking) return true;
        if (!NEW_REQUEST.has(fault) && !this.#isNew(error)) return false;
        request.id = this.#newId();
        request.allowance = null;
        return true;
      },
    );
  }

  /** Whether an error says that something is absent that was made just now. */
  #isNew(error: BigQueryError): boolean {
    return error.fault === 'absent' && this.madeWithin(NEW_TABLE_MS);
  }

  async dryRun(sql: string, signal?: AbortSignal): Promise<number> {
    const location = await this.location(signal);
    const defaultDataset = { projectId: this.project, datasetId: this.dataset };
    const answer = await this.#calls.repeated(
      (client, options) =>
        client.jobs.query(
          {
            projectId: this.project,
            requestBody: {
              query: sql,
              useLegacySql: false,
              dryRun: true,
              defaultDataset,
              ...(location !== undefined && { location }),
            },
          },
          options,
        ),
      // In vain is what it says of the right to write.
      { writes: true, signal, timeoutMs: SHORT_CALL_MS, isJob: true },
    );
    return numberOf(answer.totalBytesProcessed) ?? 0;
  }

  async #paced<T>(request: Request, take: (ended: EndedJob) => Promise<T>): Promise<T> {
    if (request.mutates.length === 0) return take(await this.#once(request));
    const release = await this.#pacing.take(request.mutates, request.signal);
    try {
      return await take(await this.#once(request));
    } finally {
      release();
    }
  }

  async #once(request: Request): Promise<EndedJob> {
    request.isRunning = false;
    await this.#daySum.settle();
    if (request.allowance === null) request.allowance = this.spending.allowance();
    const location = await this.location(request.signal);
    const sentMs = this.#calls.options.clock.now();
    let first: Progress | undefined;
    try {
      first = await this.#send(request, location);
      request.isRunning = true;
      const done = first.jobComplete === true ? first : await this.#awaited(first, request);
      const spent = await this.#costs.ofEnded(first, done);
      this.#bill(request, spent);
      return { request, first, done, spent };
    } catch (error) {
      const { sql } = request;
      const reference = first && referenceOf(first);
      this.#bill(request, await this.#costs.ofFailed(error, { sql, reference, sentMs }));
      if (!isOverLimit(error)) throw error;
      throw this.spending.refused(request.allowance, await this.#needed(request, error));
    }
  }

  /** What a job would be billed that was refused for that, by Google's words or by a dry run; undefined where neither tells. */
  async #needed(request: Request, refused: BigQueryError): Promise<number | undefined> {
    const said = refused.numberAt(/(\d+) or higher required/i);
    if (said !== undefined) return said;
    const { project, dataset } = this;
    const location = await this.location(request.signal);
    const whole: Request = { ...request, mutates: [], allowance: undefined };
    const requestBody = { ...queryBody(whole, { project, dataset, location }), dryRun: true };
    const asked = this.#calls.once(
      (client, options) => client.jobs.query({ projectId: project, requestBody }, options),
      { signal: request.signal, timeoutMs: SHORT_CALL_MS, isJob: true },
    );
    const answer = await asked.catch(() => undefined);
    return numberOf(answer?.totalBytesProcessed);
  }

  #bill({ onBilled }: Request, spent: Spent): void {
    if (spent.statements === 0) return;
    this.spending.add(spent);
    onBilled?.(spent);
  }

  close(): Promise<void> {
    return this.#daySum.close();
  }

  async *#pages({ request, first, done }: EndedJob): AsyncIterable<readonly ResultRow[]> {
    yield readRows(done.schema, done.rows);
    for (let page = done; page.pageToken;) {
      page = await this.#page(referenceOf(first), request, page.pageToken);
      yield readRows(page.schema ?? done.schema, page.rows);
    }
  }

  async #send(request: Request, location: string | undefined): Promise<Progress> {
    const { project, dataset } = this;
    const writes = request.mutates.length > 0;
    const requestBody = queryBody(request, { project, dataset, location });
    const answer: Progress = await this.#calls.once(
      (client, options) => client.jobs.query({ projectId: project, requestBody }, options),
      { writes, signal: request.signal, isJob: true },
    );
    return checked(answer, writes);
  }

  /** Asks until the job has ended. */
  async #awaited(first: Progress, request: Request): Promise<Progress> {
    const { mutates, signal } = request;
    const { clock } = this.#calls.options;
    const reference = referenceOf(first);
    const endMs = clock.now() + JOB_LIMIT_MS;
    try {
      for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 2, MAX_POLL_MS)) {
        const answer = await this.#page(reference, request).catch(async (error: unknown) => {
          throw await this.#endOf(reference, error, mutates.length > 0);
        });
        if (answer.jobComplete === true) return answer;
        if (clock.now() > endMs) throw endlessJob(JOB_LIMIT_MS / MINUTE_MS);
        await clock.sleep(waitMs, signal);
      }
    } catch (error) {
      const isLeft = signal?.aborted === true || clock.now() > endMs;
      if (isLeft) this.#cancel(reference);
      throw error;
    }
  }

  /** One page of a result, or how far the job is. */
  async #page(
    { jobId, location }: JobReference,
    { signal, pageRows }: Request,
    pageToken?: string,
  ): Promise<Progress> {
    const answer: Progress = await this.#calls.repeated(
      (client, options) =>
        client.jobs.getQueryResults(
          {
            projectId: this.project,
            jobId,
            ...(location !== undefined && { location }),
            ...(pageToken !== undefined && { pageToken }),
            ...(pageRows !== undefined && { maxResults: pageRows }),
            timeoutMs: JOB_WAIT_MS,
            'formatOptions.useInt64Timestamp': true,
          },
          options,
        ),
      { signal },
    );
    return checked(answer, false);
  }

  /** A call for results that kept failing with 5xx may tell of the job's own end: its state says. */
  async #endOf(reference: JobReference, error: unknown, writes: boolean): Promise<unknown> {
    const isServer = error instanceof BigQueryError && error.status >= 500;
    if (!isServer) return error;
    const job = await this.#job(reference).catch(() => undefined);
    const result = job?.status?.errorResult;
    if (job?.status?.state !== 'DONE' || result === undefined || result === null) return error;
    const { project, dataset } = this;
    const { email } = this.#calls.options.account;
    return jobError(result, { project, dataset, email, writes });
  }

  #job({ jobId, location }: JobReference): Promise<bigquery_v2.Schema$Job> {
    return this.#calls.repeated((client, options) =>
      client.jobs.get(
        { projectId: this.project, jobId, ...(location !== undefined && { location }) },
        options,
      ),
    );
  }

  /** Nobody waits for the job any more. */
  #cancel({ jobId, location }: JobReference): void {
    const cancelling = this.#calls.once((client, options) =>
      client.jobs.cancel(
        { projectId: this.project, jobId, ...(location !== undefined && { location }) },
        options,
      ),
    );
    cancelling.catch(() => undefined);
  }
}
