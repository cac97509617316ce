import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../src/base/clock.ts';
import { parseRetryAfter, type RetryPolicy, withRetry } from '../../../src/base/retry.ts';
import { credentialsFailure, factsOf } from '../../../src/targets/google/call-failure.ts';
import { BigQueryError } from './errors.ts';

/** About two minutes: longer than a conflict with other writers, shorter than an outage. */
const RETRY: RetryPolicy = {
  attempts: 8,
  baseDelayMs: 1_000,
  maxDelayMs: 32_000,
};
/** After this time, BigQuery answers that a job is still running. */
const JOB_WAIT_MS = 25_000;
/** Longer than any response takes. */
const CALL_LIMIT_MS = 90_000;
/** Rows in one response, which has at most 10 MB. */
const PAGE_ROWS = 20_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/** How to connect to the service. */
export interface ApiOptions {
  readonly project: string;
  readonly dataset: string;
  /** The location of the dataset; undefined: where it exists, and `US` for a new one. */
  readonly location: string | undefined;
  /** The address of the service, without a slash at its end. */
  readonly endpoint: string;
  /** The most bytes that one job may be billed. */
  readonly maxBytes: number;
  /** Sends a request in the name of the account. Rejects only if there is no response. */
  readonly send: (request: HttpRequest) => Promise<HttpAnswer>;
  readonly clock: Clock;
  /** Called with the bytes that a job was billed. */
  readonly onBilled?: ((bytes: number) => void) | undefined;
}

/** A parameter of a statement, by its name. */
export type NamedParam = readonly [
  name: string,
  value: string | number | bigint | readonly string[],
];

/** A value of a result: null, or its text from the service. */
type Wire = string | null;

interface QueryAnswer {
  readonly jobComplete?: boolean;
  readonly jobReference?: { readonly jobId: string; readonly location?: string };
  readonly schema?: {
    readonly fields?: readonly { readonly name: string; readonly type: string }[];
  };
  readonly rows?: readonly { readonly f: readonly { readonly v: Wire }[] }[];
  readonly pageToken?: string;
  readonly numDmlAffectedRows?: string;
  readonly totalBytesBilled?: string;
  readonly totalBytesProcessed?: string;
  readonly sessionInfo?: { readonly sessionId?: string };
}

/** A piece of a result. */
export interface Page {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Rows that a statement changed; 0 for a query. */
  readonly changed: number;
  readonly sessionId: string | undefined;
}

/** How a statement is run. */
export interface JobOptions {
  readonly sessionId?: string | undefined;
  readonly opensSession?: boolean;
  readonly pageRows?: number;
}

interface CallOptions {
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly ifMatch?: string;
}

/** Calls of the BigQuery API, with our own retries. Rejects with {@link BigQueryError}. */
export class BigQueryApi {
  readonly options: ApiOptions;

  constructor(options: ApiOptions) {
    this.options = options;
  }

  /** The path of a resource of the dataset. */
  datasetPath(more = ''): string {
    const { project, dataset } = this.options;
    return `/bigquery/v2/projects/${project}/datasets/${dataset}${more}`;
  }

  /** The common part of requests that run a statement, with the limit on billed bytes. */
  queryBody(sql: string): object {
    const { project: projectId, dataset: datasetId, location, maxBytes } = this.options;
    return {
      query: sql,
      useLegacySql: false,
      defaultDataset: { projectId, datasetId },
      ...(location !== undefined && { location }),
      maximumBytesBilled: String(maxBytes),
      labels: { app: 'forms-mirror' },
    };
  }

  /** A call that can be repeated without harm. */
  call<T>(method: HttpRequest['method'], path: string, options: CallOptions = {}): Promise<T> {
    return this.#retried(() => this.#once<T>(method, path, options));
  }

  /**
   * Runs a statement or script, and reads its result piece by piece. If a response is lost, the request is sent again with its ID,
   * so that it runs once. If it was rolled back because another transaction was faster, it gets another ID.
   */
  async *pages(
    sql: string,
    params: readonly NamedParam[],
    { sessionId, opensSession = false, pageRows = PAGE_ROWS }: JobOptions = {},
  ): AsyncGenerator<Page> {
    const body = {
      ...this.queryBody(sql),
      ...(params.length > 0 && { parameterMode: 'NAMED', queryParameters: params.map(wireParam) }),
      timeoutMs: JOB_WAIT_MS,
      maxResults: pageRows,
      formatOptions: { useInt64Timestamp: true },
      ...(opensSession && { createSession: true }),
      ...(sessionId !== undefined && {
        connectionProperties: [{ key: 'session_id', value: sessionId }],
      }),
    };
    const results = `/bigquery/v2/projects/${this.options.project}/queries/`;
    let requestId = randomUUID();
    let answer = await this.#retried(async () => {
      try {
        return await this.#once<QueryAnswer>('POST', results.slice(0, -1), {
          body: { ...body, requestId },
        });
      } catch (error) {
        // Nothing was done: the service would answer the same ID with the same failure.
        if (error instanceof BigQueryError && (error.isThrottled || error.isConflict))
          requestId = randomUUID();
        throw error;
      }
    });
    const job = answer.jobReference;
    const next = (pageToken?: string): Promise<QueryAnswer> =>
      this.call('GET', `${results}${job?.jobId}`, {
        query: {
          maxResults: pageRows,
          timeoutMs: JOB_WAIT_MS,
          'formatOptions.useInt64Timestamp': 'true',
          ...(job?.location !== undefined && { location: job.location }),
          ...(pageToken !== undefined && { pageToken }),
        },
      });
    while (answer.jobComplete !== true) answer = await next();
    this.options.onBilled?.(Number(answer.totalBytesBilled ?? answer.totalBytesProcessed ?? 0));
    const fields = answer.schema?.fields ?? [];
    const session = answer.sessionInfo?.sessionId;
    for (;;) {
      const rows = (answer.rows ?? []).map(({ f }) =>
        Object.fromEntries(
          fields.map(({ name, type }, at) => [name, readValue(f[at]?.v ?? null, type)]),
        ),
      );
      yield { rows, changed: Number(answer.numDmlAffectedRows ?? 0), sessionId: session };
      if (answer.pageToken === undefined || answer.pageToken === '') return;
      answer = await next(answer.pageToken);
    }
  }

  #retried<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.options;
    return withRetry(work, {
      policy: RETRY,
      clock,
      decide: (error) =>
        error instanceof BigQueryError
          ? {
              retry: error.passes || error.isConflict,
              serverDelayMs: parseRetryAfter(error.retryAfter, clock.now()),
            }
          : { retry: false },
    });
  }

  async #once<T>(
    method: HttpRequest['method'],
    path: string,
    { query, body, ifMatch }: CallOptions,
  ): Promise<T> {
    const { endpoint, send } = this.options;
    const url = new URL(endpoint + path);
    for (const [name, value] of Object.entries(query ?? {}))
      url.searchParams.set(name, String(value));
    let answer: HttpAnswer;
    try {
      answer = await send({
        method,
        url: url.href,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        timeoutMs: CALL_LIMIT_MS,
      });
    } catch (error) {
      const facts = factsOf(error);
      // The errors of Google's client when it gets no token are described where they are shown.
      if (credentialsFailure(facts) !== undefined) throw error;
      throw new BigQueryError({ status: 0, reason: facts.code || 'no answer', text: '' });
    }
    const { status } = answer;
    const isFine = status >= 200 && status < 300;
    const data = parsed(answer.text);
    if (isFine && data !== undefined) return data as T;
    const { reason, text: said } = factsOf({ response: { status, data } });
    throw new BigQueryError({
      // A response that is not JSON comes from a gateway.
      status: isFine ? 502 : status,
      reason,
      text: said,
      retryAfter: answer.retryAfter,
    });
  }
}

function parsed(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wireParam([name, value]: NamedParam): object {
  if (typeof value === 'object')
    return {
      name,
      parameterType: { type: 'ARRAY', arrayType: { type: 'STRING' } },
      parameterValue: { arrayValues: value.map((each) => ({ value: each })) },
    };
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value);
  const type = typeof value === 'string' ? 'STRING' : isWhole ? 'INT64' : 'FLOAT64';
  return { name, parameterType: { type }, parameterValue: { value: String(value) } };
}

/** A value for the store: times as canonical text, FLOAT64 as numbers, booleans as 1 or 0, otherwise the text. */
function readValue(value: Wire, type: string): unknown {
  if (value === null) return null;
  if (type === 'TIMESTAMP') return timeOfMicros(BigInt(value));
  if (type === 'FLOAT' || type === 'FLOAT64') return Number(value);
  return type === 'BOOLEAN' || type === 'BOOL' ? (value === 'true' ? '1' : '0') : value;
}

/** `2026-01-01T00:00:00.123456Z`, with three digits at least. */
function timeOfMicros(micros: bigint): string {
  const rest = ((micros % 1_000n) + 1_000n) % 1_000n;
  const iso = new Date(Number((micros - rest) / 1_000n)).toISOString();
  return rest === 0n
    ? iso
    : `${iso.slice(0, -1)}${String(rest).padStart(3, '0').replace(/0+$/, '')}Z`;
}
