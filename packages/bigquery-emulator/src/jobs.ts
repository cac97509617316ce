import { createHash, randomUUID } from 'node:crypto';
import { ApiError, invalid, jobNotFound, notDone } from './api-error.ts';
import { LOCATION } from './catalog.ts';
import type { Job } from './job.ts';
import { runJob, type JobOrder, type JobWorld } from './job-run.ts';
import { flagAt, numberAt, objectAt, objectsAt, textAt, type Raw } from './json-object.ts';
import { parametersOf } from './parameters.ts';
import { Session } from './session.ts';
import type { Store } from './store.ts';

const MAX_QUERY_BYTES = 1_048_576;

/** All query jobs, with their sessions and request IDs. */
export class Jobs {
  readonly #world: JobWorld;
  readonly #store: Store;
  readonly #jobs = new Map<string, Job>();
  readonly #requests = new Map<string, { readonly content: string; readonly job: Job }>();
  readonly #sessions = new Map<string, Session>();
  readonly #running = new Set<Promise<void>>();

  constructor(world: JobWorld, store: Store) {
    this.#world = world;
    this.#store = store;
  }

  /** Starts a query from the body of `jobs.query`; the same request ID gives the same job. */
  async start(project: string, query: Raw): Promise<Job> {
    const requestId = requestIdOf(query);
    // Two requests are the same only if everything in them is the same except for the waiting time.
    const content = requestId === undefined ? '' : contentOf(query);
    if (requestId !== undefined) {
      const known = this.#requests.get(`${project} ${requestId}`);
      if (known?.content === content) return known.job;
    }
    const text = textAt(query, 'query');
    if (text === undefined || text.trim() === '') {
      throw new ApiError('required', 'Required parameter is missing: query');
    }
    if (query['useLegacySql'] !== false) {
      throw notDone('legacy SQL: useLegacySql has to be false');
    }
    if (Buffer.byteLength(text) > MAX_QUERY_BYTES) {
      throw invalid(
        `The query is too large. The maximum standard SQL query length is 1024.00K characters, including comments and white space characters.`,
      );
    }
    const parameters = parametersOf(query);
    const given = objectAt(query, 'defaultDataset');
    const dataset = given && {
      project: textAt(given, 'projectId') ?? project,
      name: textAt(given, 'datasetId') ?? '',
    };
    checkLocation(textAt(query, 'location'));
    const job: Job = {
      id: `job_${randomUUID().replaceAll('-', '')}`,
      project,
      query: text,
      isDone: false,
      error: undefined,
      result: {},
      bytesBilled: 0,
      sessionId: undefined,
      done: Promise.resolve(),
    };
    if (requestId !== undefined) {
      // At once, because a second request for it must find it.
      this.#requests.set(`${project} ${requestId}`, { content, job });
    }
    job.done = this.#run(job, query, {
      parameters,
      defaults: { project, dataset },
      maximumBytesBilled: numberAt(query, 'maximumBytesBilled'),
    });
    this.#jobs.set(`${project} ${job.id}`, job);
    this.#running.add(job.done);
    void job.done.finally(() => this.#running.delete(job.done));
    return job;
  }

  async #run(
    job: Job,
    query: Raw,
    rest: Pick<JobOrder, 'parameters' | 'defaults' | 'maximumBytesBilled'>,
  ): Promise<void> {
    let own: Session | undefined;
    try {
      const { session, isSession } = await this.#sessionFor(query, job);
      if (!isSession) own = session;
      await runJob(this.#world, { job, session, isSession, ...rest });
    } catch (error) {
      job.error =
        error instanceof ApiError ? error : new ApiError('internalError', messageOf(error));
    } finally {
      await own?.close();
      job.isDone = true;
    }
  }

  async #sessionFor(query: Raw, job: Job): Promise<{ session: Session; isSession: boolean }> {
    const [property, more] = objectsAt(query, 'connectionProperties');
    if (property !== undefined) {
      const key = textAt(property, 'key') ?? '';
      if (key !== 'session_id' || more !== undefined)
        throw notDone('connection properties other than session_id');
      const id = textAt(property, 'value') ?? '';
      const session = this.#sessions.get(id);
      if (session === undefined) throw invalid(`Session ${id} was not found or has expired.`);
      job.sessionId = id;
      return { session, isSession: true };
    }
    const session = await Session.open(this.#store, this.#world.locks);
    if (!flagAt(query, 'createSession')) return { session, isSession: false };
    job.sessionId = randomUUID();
    this.#sessions.set(job.sessionId, session);
    return { session, isSession: true };
  }

  /** The job; if it does not exist, a 404. */
  get(project: string, id: string): Job {
    const job = this.#jobs.get(`${project} ${id}`);
    if (job === undefined) throw jobNotFound(project, LOCATION, id);
    return job;
  }

  /** Waits for running jobs and ends the sessions. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    for (const session of this.#sessions.values()) await session.close();
    this.#sessions.clear();
  }
}

function requestIdOf(query: Raw): string | undefined {
  const id = textAt(query, 'requestId');
  if (id !== undefined && !/^\p{ASCII}{0,36}$/u.test(id)) {
    throw invalid('Invalid request ID: it is limited to up to 36 ASCII characters.');
  }
  return id;
}

function contentOf({ timeoutMs: _timeout, maxResults: _max, ...query }: Raw): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('hex');
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Throws for a location other than the emulator's. */
export function checkLocation(location = LOCATION): void {
  if (location !== LOCATION) throw notDone(`locations other than ${LOCATION}`);
}
