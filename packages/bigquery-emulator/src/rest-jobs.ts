import { ApiError, invalid, notDone } from './api-error.ts';
import { numberParameter, pageOf, part, type Call, type Method } from './call.ts';
import { resultOf, type Job } from './job.ts';
import { flagAt, numberAt, objectAt, textAt, textsIn, type Raw } from './json-object.ts';
import { checkedLabels } from './labels.ts';
import { checkFields, JOB, QUERY_REQUEST } from './request-fields.ts';
import { resultSchema } from './table-schema.ts';
import { cellOf } from './values.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 200_000;
const MAX_PAGE_BYTES = 10 * 1_048_576;
/** Where the rows of a script with several statements are looked for. */
type Name = 'query' | 'insert' | 'get' | 'list' | 'getQueryResults' | 'cancel';

/** The methods of `jobs`. */
export const JOB_METHODS: Readonly<Record<Name, Method>> = {
  query: {
    name: 'jobs.query',
    async run(call) {
      const { body } = call;
      checkFields(body, QUERY_REQUEST, '');
      const labels = objectAt(body, 'labels') ?? {};
      checkedLabels(textsIn(labels));
      const job = await call.jobs.start(part(call, 'projectId'), body, {
        requestId: requestId(body),
        location: textAt(body, 'location'),
        jobId: undefined,
        configuration: { query: body, labels },
        isDryRun: flagAt(body, 'dryRun'),
      });
      await wait(call, job, numberAt(body, 'timeoutMs'));
      if (job.isDryRun && job.error !== undefined) throw job.error;
      const format = objectAt(body, 'formatOptions') ?? {};
      return answer(job, 'bigquery#queryResponse', {
        maxResults: numberAt(body, 'maxResults'),
        pageToken: undefined,
        startIndex: undefined,
        microsAsWhole: flagAt(format, 'useInt64Timestamp'),
      });
    },
  },
  insert: {
    name: 'jobs.insert',
    async run(call) {
      checkFields(call.body, JOB, 'job');
      const configuration = objectAt(call.body, 'configuration') ?? {};
      const query = objectAt(configuration, 'query');
      if (query === undefined) throw notDone('jobs that load, copy or extract');
      checkedLabels(textsIn(objectAt(configuration, 'labels') ?? {}));
      const reference = objectAt(call.body, 'jobReference') ?? {};
      const job = await call.jobs.start(part(call, 'projectId'), query, {
        requestId: undefined,
        location: textAt(reference, 'location'),
        jobId: textAt(reference, 'jobId'),
        configuration,
        isDryRun: flagAt(configuration, 'dryRun'),
      });
      if (job.isDryRun) await job.done;
      if (job.isDryRun && job.error !== undefined) throw job.error;
      return jobResource(job);
    },
  },
  get: {
    name: 'jobs.get',
    run: async (call) => jobResource(jobOf(call)),
  },
  list: {
    name: 'jobs.list',
    async run(call) {
      const parent = call.query.get('parentJobId') ?? undefined;
      const all = call.jobs.list(part(call, 'projectId'), parent);
      const token = call.query.get('pageToken') ?? undefined;
      const page = pageOf(all, numberParameter(call, 'maxResults'), token);
      return {
        kind: 'bigquery#jobList',
        etag: String(all.length),
        jobs: page.items.map((job) => ({
          ...jobResource(job),
          state: job.state,
          ...(job.error !== undefined && { errorResult: job.error.proto() }),
        })),
        ...(page.nextPageToken !== undefined && { nextPageToken: page.nextPageToken }),
      };
    },
  },
  getQueryResults: {
    name: 'jobs.getQueryResults',
    async run(call) {
      const job = jobOf(call);
      await wait(call, job, numberParameter(call, 'timeoutMs'));
      return answer(job, 'bigquery#getQueryResultsResponse', {
        maxResults: numberParameter(call, 'maxResults'),
        pageToken: call.query.get('pageToken') ?? undefined,
        startIndex: numberParameter(call, 'startIndex'),
        microsAsWhole: call.query.get('formatOptions.useInt64Timestamp') === 'true',
      });
    },
  },
  cancel: {
    name: 'jobs.cancel',
    async run(call) {
      const job = jobOf(call);
      job.cancelled = true;
      return { kind: 'bigquery#jobCancelResponse', job: jobResource(job) };
    },
  },
};

function requestId(body: Raw): string | undefined {
  const id = textAt(body, 'requestId');
  if (id !== undefined && !/^\p{ASCII}{0,36}$/u.test(id)) {
    throw invalid('Invalid request ID: it is limited to up to 36 ASCII characters.');
  }
  return id;
}

const jobOf = (call: Call): Job =>
  call.jobs.get(
    part(call, 'projectId'),
    part(call, 'jobId'),
    call.query.get('location') ?? undefined,
  );

/** Until the job is done, the time is over, or the client has gone. */
async function wait(call: Call, job: Job, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<void> {
  if (job.pendingPolls > 0) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((done) => {
    timer = setTimeout(done, Math.min(Math.max(0, timeoutMs), MAX_TIMEOUT_MS));
    call.signal.addEventListener('abort', () => done(), { once: true });
  });
  await Promise.race([job.done, timeout]);
  clearTimeout(timer);
}

interface Page {
  readonly maxResults: number | undefined;
  readonly pageToken: string | undefined;
  readonly startIndex: number | undefined;
  readonly microsAsWhole: boolean;
}

/** The answer of `jobs.query` and `jobs.getQueryResults`: rows when it is done, its error when it failed. */
function answer(job: Job, kind: string, page: Page): object {
  const head = {
    kind,
    jobReference: reference(job),
    ...(job.sessionId !== undefined && { sessionInfo: { sessionId: job.sessionId } }),
    ...(kind === 'bigquery#queryResponse' && { location: job.location, queryId: job.id }),
  };
  if (job.state !== 'DONE' || job.pendingPolls > 0) {
    if (job.pendingPolls > 0) job.pendingPolls--;
    return { ...head, jobComplete: false };
  }
  if (job.error !== undefined) throw job.error;
  const result = resultOf(job);
  const changed = result.dml;
  const rows = result.rows;
  return {
    ...head,
    jobComplete: true,
    cacheHit: false,
    totalBytesProcessed: String(job.bytesProcessed),
    totalBytesBilled: String(job.bytesBilled),
    statementType: job.statementType,
    creationTime: String(job.createdMs),
    startTime: String(job.createdMs),
    endTime: String(job.endedMs),
    ...(changed !== undefined && {
      numDmlAffectedRows: String(changed.inserted + changed.updated + changed.deleted),
      dmlStats: dmlStats(result),
    }),
    ...(rows === undefined
      ? { schema: { fields: [] }, totalRows: '0' }
      : rowsPage(result, rows, page)),
  };
}

function rowsPage(job: Job, { fields, rows }: NonNullable<Job['rows']>, page: Page): object {
  if (page.maxResults !== undefined && page.maxResults < 0) throw invalid('maxResults is negative');
  const start = page.startIndex ?? tokenPlace(job, page.pageToken);
  const shown: object[] = [];
  let bytes = 0;
  for (const row of rows.slice(start)) {
    if (shown.length >= (page.maxResults ?? Infinity)) break;
    const cells = {
      f: fields.map(({ type }, index) => cellOf(row[index] ?? null, type, page.microsAsWhole)),
    };
    bytes += JSON.stringify(cells).length;
    // Google ends a page at ten megabytes; a row that is larger comes alone.
    if (shown.length > 0 && bytes > MAX_PAGE_BYTES) break;
    shown.push(cells);
  }
  const next = start + shown.length;
  return {
    schema: resultSchema(fields),
    totalRows: String(rows.length),
    ...(shown.length > 0 && { rows: shown }),
    ...(next < rows.length && {
      pageToken: Buffer.from(`${job.id} ${next}`).toString('base64url'),
    }),
  };
}

function tokenPlace(job: Job, token: string | undefined): number {
  if (token === undefined || token === '') return 0;
  const [id, place] = Buffer.from(token, 'base64url').toString().split(' ');
  if (id !== job.id) throw invalid('Invalid page token');
  return Number(place);
}

const reference = (job: Job): object => ({
  projectId: job.project,
  jobId: job.id,
  location: job.location,
});

function dmlStats({ dml }: Job): object {
  return {
    insertedRowCount: String(dml?.inserted ?? 0),
    updatedRowCount: String(dml?.updated ?? 0),
    deletedRowCount: String(dml?.deleted ?? 0),
  };
}

function jobResource(job: Job): object {
  return {
    kind: 'bigquery#job',
    id: `${job.project}:${job.location}.${job.id}`,
    etag: job.state,
    selfLink: `https://bigquery.googleapis.com/bigquery/v2/projects/${job.project}/jobs/${job.id}?location=${job.location}`,
    user_email: 'emulator@example.com',
    jobReference: reference(job),
    configuration: configurationOf(job),
    status: {
      state: job.pendingPolls > 0 ? 'RUNNING' : job.state,
      ...(job.error !== undefined && {
        errorResult: job.error.proto(),
        errors: [job.error.proto()],
      }),
    },
    statistics: statistics(job),
    principal_subject: 'user:emulator@example.com',
  };
}

/** What a job tells again of how it was asked for: its parameters, with their values, too. */
const SHOWN = [
  'parameterMode',
  'queryParameters',
  'defaultDataset',
  'maximumBytesBilled',
  'useQueryCache',
  'connectionProperties',
] as const;

function configurationOf(job: Job): Raw {
  const labels = objectAt(job.configuration, 'labels');
  // Of the children of a script nobody has said what the service tells besides their text.
  const asked = job.parent === undefined ? (objectAt(job.configuration, 'query') ?? {}) : {};
  const shown = SHOWN.filter((field) => asked[field] !== undefined);
  return {
    jobType: 'QUERY',
    query: {
      ...Object.fromEntries(shown.map((field) => [field, asked[field]])),
      query: job.query,
      useLegacySql: false,
      priority: 'INTERACTIVE',
    },
    ...(labels !== undefined && { labels }),
    ...(job.isDryRun && { dryRun: true }),
  };
}

function statistics(job: Job): object {
  const { ddl } = job;
  return {
    creationTime: String(job.createdMs),
    startTime: String(job.createdMs),
    ...(job.endedMs !== undefined && { endTime: String(job.endedMs) }),
    totalBytesProcessed: String(job.bytesProcessed),
    ...(job.parent !== undefined && { parentJobId: job.parent.id }),
    ...(job.children.length > 0 && { numChildJobs: String(job.children.length) }),
    ...(job.sessionId !== undefined && { sessionInfo: { sessionId: job.sessionId } }),
    ...(job.transactionId !== undefined && {
      transactionInfo: { transactionId: job.transactionId },
    }),
    ...(job.parent !== undefined && {
      scriptStatistics: { evaluationKind: 'STATEMENT', stackFrames: [{ text: job.query }] },
    }),
    query: {
      statementType: job.statementType,
      totalBytesProcessed: String(job.bytesProcessed),
      totalBytesBilled: String(job.bytesBilled),
      cacheHit: false,
      billingTier: 1,
      referencedTables: job.referenced.map((name) => {
        const [projectId = '', datasetId = '', ...rest] = name.split('.');
        return { projectId, datasetId, tableId: rest.join('.') };
      }),
      ...(job.rows !== undefined && { schema: resultSchema(job.rows.fields) }),
      ...(job.dml !== undefined && {
        numDmlAffectedRows: String(job.dml.inserted + job.dml.updated + job.dml.deleted),
        dmlStats: dmlStats(job),
      }),
      ...(ddl !== undefined && {
        ddlOperationPerformed: ddl.operation,
        ddlTargetTable: {
          projectId: ddl.target.project,
          datasetId: ddl.target.dataset,
          tableId: ddl.target.name,
        },
      }),
    },
  };
}

/** A method that is there only to say that it is not. */
export const undone = (name: string, what: string): Method => ({
  name,
  run: () => Promise.reject(notDone(what)),
});

/** What an address without a method gets. */
export const unknownAddress = (): ApiError => new ApiError('notFound', 'Not Found');
