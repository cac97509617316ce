import { createHash, randomUUID } from 'node:crypto';
import { ApiError, invalid, jobNotFound, notDone } from './api-error.ts';
import { newJob, type Job } from './job.ts';
import { runJob, type JobWorld } from './job-run.ts';
import { flagAt, numberAt, objectAt, objectsAt, textAt, type Raw } from './json-object.ts';
import { parametersOf } from './parameters.ts';
import { Session } from './session.ts';
import type { Store } from './store.ts';

const MAX_QUERY_BYTES = 1_048_576;
const REQUEST_ID_LIVES_MS = 900_000;

/** All query jobs, with the sessions and request IDs that they go by. */
export class Jobs {
  readonly #world: JobWorld;
  readonly #store: Store;
  readonly #jobs = new Map<string, Job>();
  readonly #requests = new Map<
    string,
    { readonly atMs: number; readonly content: string; readonly job: Job }
  >();
  readonly #sessions = new Map<string, Session>();
  readonly #running = new Set<Promise<void>>();
  readonly #homeLocation: string;
  /** Faults: answers that say a job still runs, for the next jobs. */
  polls: { times: number; pending: number } = { times: 0, pending: 0 };

  constructor(world: JobWorld, store: Store, homeLocation: string) {
    this.#world = world;
    this.#store = store;
    this.#homeLocation = homeLocation;
  }

  /** Starts a query as `jobs.query` and `jobs.insert` order it; the same request ID gives the same job. */
  async start(project: string, query: Raw, given: Given): Promise<Job> {
    const requestId = given.requestId;
    // Two requests are one only when everything that they ask for is the same, but for how long to wait for it.
    const content = requestId === undefined ? '' : contentOf(query);
    const now = this.#world.now();
    if (requestId !== undefined) {
      const known = this.#requests.get(`${project} ${requestId}`);
      const isSame = known?.content === content;
      if (known !== undefined && isSame && now - known.atMs <= REQUEST_ID_LIVES_MS)
        return known.job;
    }
    const text = textAt(query, 'query');
    if (text === undefined || text.trim() === '') {
      throw new ApiError('required', 'Required parameter is missing: query');
    }
    if (query['useLegacySql'] !== false && query['useLegacySql'] !== 'false') {
      throw notDone('legacy SQL: useLegacySql has to be false');
    }
    if (Buffer.byteLength(text) > MAX_QUERY_BYTES) {
      throw invalid(
        `The query is too large. The maximum standard SQL query length is 1024.00K characters, including comments and white space characters.`,
      );
    }
    const dataset = objectAt(query, 'defaultDataset');
    const home = dataset && {
      project: textAt(dataset, 'projectId') ?? project,
      name: textAt(dataset, 'datasetId') ?? '',
    };
    const known = home && this.#world.catalog.findDataset(home.project, home.name);
    const location = placeName(given.location) ?? known?.location ?? this.#homeLocation;
    const id = given.jobId ?? `job_${randomUUID().replaceAll('-', '')}`;
    if (this.#jobs.has(`${project} ${id}`)) {
      throw new ApiError('duplicate', `Already Exists: Job ${project}:${location}.${id}`);
    }
    const parameters = parametersOf(query);
    const job = newJob({
      id,
      project,
      location,
      parent: undefined,
      query: text,
      configuration: given.configuration,
      createdMs: now,
      isDryRun: given.isDryRun,
    });
    if (requestId !== undefined && !given.isDryRun) {
      this.#requests.set(`${project} ${requestId}`, { atMs: now, content, job });
    }
    // At once, as a second request for it has to meet it.
    if (!job.isDryRun) this.#register(job);
    const { session, isSession } = await this.#sessionFor(query, job).catch((error: unknown) => {
      this.lose(job.id);
      throw error;
    });
    if (this.polls.times > 0) {
      this.polls.times--;
      job.pendingPolls = this.polls.pending;
    }
    job.state = 'RUNNING';
    const run = this.#run(job, session, isSession, {
      parameters,
      defaults: { project, dataset: home, location, prefixes: [] },
      maximumBytesBilled: numberAt(query, 'maximumBytesBilled'),
    });
    job.done = run;
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
    return job;
  }

  async #run(
    job: Job,
    session: Session,
    isSession: boolean,
    rest: Pick<Parameters<typeof runJob>[1], 'parameters' | 'defaults' | 'maximumBytesBilled'>,
  ): Promise<void> {
    const register = (child: Job): void => this.#register(child);
    try {
      await runJob(this.#world, { job, session, isSession, register, ...rest });
    } catch (error) {
      job.error =
        error instanceof ApiError ? error : new ApiError('internalError', messageOf(error));
    } finally {
      if (!isSession) await session.close();
      job.endedMs = this.#world.now();
      job.state = 'DONE';
    }
  }

  #register(job: Job): void {
    this.#jobs.set(`${job.project} ${job.id}`, job);
  }

  async #sessionFor(query: Raw, job: Job): Promise<{ session: Session; isSession: boolean }> {
    const properties = objectsAt(query, 'connectionProperties');
    for (const property of properties) {
      const key = textAt(property, 'key') ?? '';
      if (key !== 'session_id' && key !== 'time_zone')
        throw notDone(`the connection property ${key}`);
      if (key === 'time_zone' && textAt(property, 'value') !== 'UTC') {
        throw notDone('time zones other than UTC');
      }
    }
    const wanted = properties.find((property) => textAt(property, 'key') === 'session_id');
    const id = wanted === undefined ? undefined : (textAt(wanted, 'value') ?? '');
    if (id !== undefined) {
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

  /** The job; one that is not there, or elsewhere, is a 404. */
  get(project: string, id: string, location: string | undefined): Job {
    const job = this.#jobs.get(`${project} ${id}`);
    const place = placeName(location);
    if (job === undefined || (place !== undefined && place !== job.location)) {
      throw jobNotFound(project, place ?? this.#homeLocation, id);
    }
    return job;
  }

  /** Forgets a job as if the service had lost it. What it did stays done. */
  lose(id: string): void {
    for (const [key, job] of this.#jobs) if (job.id === id) this.#jobs.delete(key);
    for (const [key, { job }] of this.#requests) if (job.id === id) this.#requests.delete(key);
  }

  /** Newest first; a script's children only when the parent is asked for. */
  list(project: string, parentId: string | undefined): Job[] {
    const all = [...this.#jobs.values()].filter((job) => job.project === project);
    return all.filter((job) => job.parent?.id === parentId).reverse();
  }

  /** Waits for what runs and ends the sessions. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    for (const session of this.#sessions.values()) await session.close();
    this.#sessions.clear();
  }
}

function contentOf({ timeoutMs: _timeout, maxResults: _max, ...query }: Raw): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('hex');
}

/** What comes with a query besides its own fields. */
export interface Given {
  readonly requestId: string | undefined;
  readonly location: string | undefined;
  readonly jobId: string | undefined;
  readonly configuration: Raw;
  readonly isDryRun: boolean;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Multi-regions are written in capitals, regions in small letters. */
export function placeName(location: string | undefined): string | undefined {
  if (location === undefined || location === '') return undefined;
  return /^(us|eu)$/i.test(location) ? location.toUpperCase() : location.toLowerCase();
}
