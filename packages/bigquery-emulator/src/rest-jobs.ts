import { invalid, notDone } from './api-error.ts';
import { numberParameter, part, type Call, type Method } from './call.ts';
import { LOCATION } from './catalog.ts';
import type { Rows } from './execution.ts';
import type { Job } from './job.ts';
import { flagAt, numberAt, objectAt, textAt, textsIn } from './json-object.ts';
import { checkedLabels } from './labels.ts';
import { checkFields, QUERY_REQUEST } from './request-fields.ts';
import { resultSchema } from './table-schema.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 200_000;
const MAX_PAGE_BYTES = 10 * 1_048_576;

/** The methods of `jobs`. */
export const JOB_METHODS: Readonly<Record<'query' | 'getQueryResults', Method>> = {
  query: {
    name: 'jobs.query',
    async run(call) {
      const { body } = call;
      checkFields(body, QUERY_REQUEST, 'jobs');
      if ((textAt(body, 'parameterMode') ?? 'NAMED') !== 'NAMED')
        throw notDone('parameters without a name');
      checkedLabels(textsIn(objectAt(body, 'labels') ?? {}));
      const job = await call.jobs.start(part(call, 'projectId'), body);
      await wait(call, job, numberAt(body, 'timeoutMs'));
      return answer(job, 'bigquery#queryResponse', {
        maxResults: numberAt(body, 'maxResults'),
        pageToken: undefined,
        hasWholeTimes: flagAt(objectAt(body, 'formatOptions') ?? {}, 'useInt64Timestamp'),
      });
    },
  },
  getQueryResults: {
    name: 'jobs.getQueryResults',
    async run(call) {
      const { query } = call;
      const job = call.jobs.get(part(call, 'projectId'), part(call, 'jobId'));
      await wait(call, job, numberParameter(call, 'timeoutMs'));
      return answer(job, 'bigquery#getQueryResultsResponse', {
        maxResults: numberParameter(call, 'maxResults'),
        pageToken: query.get('pageToken') ?? undefined,
        hasWholeTimes: query.get('formatOptions.useInt64Timestamp') === 'true',
      });
    },
  },
};

/** Until the job is done, the time is over, or the client has disconnected. */
async function wait(call: Call, job: Job, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<void> {
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
  /** Times in microseconds. */
  readonly hasWholeTimes: boolean;
}

/** The response of `jobs.query` and `jobs.getQueryResults`: rows if the job is done, its error if it failed. */
function answer(job: Job, kind: string, page: Page): object {
  const head = {
    kind,
    jobReference: { projectId: job.project, jobId: job.id, location: LOCATION },
    ...(job.sessionId !== undefined && { sessionInfo: { sessionId: job.sessionId } }),
  };
  if (!job.isDone) return { ...head, jobComplete: false };
  if (job.error !== undefined) throw job.error;
  const { rows, changed } = job.result;
  return {
    ...head,
    jobComplete: true,
    totalBytesBilled: String(job.bytesBilled),
    ...(changed !== undefined && { numDmlAffectedRows: String(changed) }),
    ...(rows === undefined
      ? { schema: { fields: [] }, totalRows: '0' }
      : rowsPage(job, rows, page)),
  };
}

function rowsPage(job: Job, { fields, rows }: Rows, page: Page): object {
  if (page.maxResults !== undefined && page.maxResults < 0) throw invalid('maxResults is negative');
  if (!page.hasWholeTimes && fields.some(({ type }) => type.kind === 'TIMESTAMP'))
    throw notDone('times in seconds: useInt64Timestamp has to be true');
  const start = tokenPlace(job, page.pageToken);
  const shown: object[] = [];
  let bytes = 0;
  for (const row of rows.slice(start)) {
    if (shown.length >= (page.maxResults ?? Infinity)) break;
    const cells = { f: row.map((value) => ({ v: value })) };
    bytes += JSON.stringify(cells).length;
    // Google ends a page at ten megabytes; a larger row gets its own page.
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
