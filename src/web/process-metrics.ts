import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Events } from '../base/events.ts';
import type { SyncEvents } from '../sync/events.ts';

/** A job that this process took from the queue and that has ended. IDs of targets and words of fixed lists only (L11). */
export interface EndedJob {
  readonly step: string;
  /** Null for planning and marking, which serve all. */
  readonly target: string | null;
  readonly kind: string | null;
  /** That of the pass, `done`, `superseded`, or `failed`. */
  readonly outcome: string;
  /** Why it failed; null when it did not. */
  readonly code: string | null;
  readonly ms: number;
}

/** Tells of the jobs of this process, until the returned function is called. */
export type JobFeed = (listener: {
  readonly ended: (job: EndedJob) => void;
  /** A worker died while it ran a job, here or elsewhere; this process has put it back. */
  readonly recovered: () => void;
  readonly queueFailed: () => void;
}) => () => void;

/** What {@link ProcessMetrics} counts. */
export interface ProcessMetricsOptions {
  readonly events: Events<SyncEvents>;
  /** Of the program. */
  readonly version: string;
  readonly role: 'start' | 'worker';
  /** Absent: nothing of jobs is counted. */
  readonly jobs?: JobFeed | undefined;
}

/** A metric as it is registered. */
export interface RegisteredMetric {
  readonly name: string;
  /** `counter`, `gauge` or `histogram`. */
  readonly type: string;
  readonly labels: readonly string[];
  /** What it counts, in a sentence. */
  readonly help: string;
}

/** From a count in memory to a source that takes as long as it may. */
const REQUEST_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * For Prometheus what each process of the mirror knows of itself: its memory and event loop, its requests to the source, its
 * jobs, its marks. Sums over all processes are true. Labels as {@link Metrics} has them.
 */
export class ProcessMetrics {
  /** Of this process alone; {@link Metrics} adds to it. */
  readonly registry = new Registry();
  readonly #queueUp: Gauge;
  readonly #unsubscribe: readonly (() => void)[];

  constructor({ events, version, role, jobs }: ProcessMetricsOptions) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'forms_mirror_build_info',
      help: 'Always 1. The labels are the version, the Node version and the role.',
      labelNames: ['version', 'node', 'role'],
      registers,
    }).set({ version, node: process.version, role }, 1);
    this.#queueUp = new Gauge({
      name: 'forms_mirror_queue_up',
      help: '1 if the queue answers this process.',
      registers,
    });
    this.#unsubscribe = [
      ...countRequests(events, registers),
      ...countMarks(events, registers),
      ...(jobs === undefined ? [] : [countJobs(jobs, registers)]),
    ];
  }

  /** The content type of {@link text}. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics in Prometheus' text format; `queueAnswers`: as was found just now. */
  async text(queueAnswers: boolean): Promise<string> {
    this.#queueUp.set(queueAnswers ? 1 : 0);
    return this.registry.metrics();
  }

  /** See {@link Metrics.registered}. */
  registered(): RegisteredMetric[] {
    return this.registry.getMetricsAsArray().map((metric) => {
      // Its type leaves these out.
      const {
        name,
        type,
        help,
        labelNames = [],
      } = metric as unknown as {
        name: string;
        type?: string;
        help: string;
        labelNames?: readonly string[];
      };
      return {
        name,
        type: (type ?? metric.constructor.name).toLowerCase(),
        labels: labelNames,
        help,
      };
    });
  }

  /** Ends the subscriptions. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.registry.clear();
  }
}

function countRequests(events: Events<SyncEvents>, registers: Registry[]): (() => void)[] {
  const retries = new Counter({
    name: 'forms_mirror_api_retries_total',
    help: 'Requests of this process to the Forms API that failed and were retried.',
    registers,
  });
  const responses = new Counter({
    name: 'forms_mirror_source_responses_total',
    help: 'Requests of this process to the Forms API, including retries, by response: 2xx, 3xx, 4xx, 5xx, 429, or none.',
    labelNames: ['status'],
    registers,
  });
  const durations = new Histogram({
    name: 'forms_mirror_source_request_duration_seconds',
    help: 'Duration of requests of this process to the Forms API.',
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const waits = new Counter({
    name: 'forms_mirror_source_wait_seconds_total',
    help: 'Seconds that requests of this process waited for their turn (other requests, FORMS_API_RATE, Retry-After) or for a retry.',
    labelNames: ['for'],
    registers,
  });
  const rate = new Gauge({
    name: 'forms_mirror_source_rate_per_minute',
    help: 'Requests per minute that this process may send to the Forms API; absent without a limit.',
    labelNames: [],
    registers,
  });
  // A rate that has never been seen is zero, and not absent, to whoever divides by it.
  for (const status of STATUS_CLASSES) responses.inc({ status }, 0);
  for (const what of ['turn', 'retry']) waits.inc({ for: what }, 0);
  rate.remove();
  return [
    events.on('forms.retry', ({ delayMs }) => {
      retries.inc();
      waits.inc({ for: 'retry' }, delayMs / 1_000);
    }),
    events.on('forms.sent', ({ status, ms, waitedMs, perMinute }) => {
      responses.inc({ status: statusClass(status) });
      durations.observe(ms / 1_000);
      waits.inc({ for: 'turn' }, waitedMs / 1_000);
      if (perMinute === null) rate.remove();
      else rate.set(perMinute);
    }),
  ];
}

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '429', '5xx', 'none'] as const;

/** One of a few words, whatever a server makes up. */
function statusClass(status: number | null): (typeof STATUS_CLASSES)[number] {
  if (status === null) return 'none';
  if (status === 429) return '429';
  if (status < 300) return '2xx';
  if (status < 400) return '3xx';
  return status < 500 ? '4xx' : '5xx';
}

function countMarks(events: Events<SyncEvents>, registers: Registry[]): (() => void)[] {
  const marked = new Counter({
    name: 'forms_mirror_marks_total',
    help: 'Status changes of this process at the source: made, refused, or not possible.',
    labelNames: ['form', 'outcome'],
    registers,
  });
  const runs = new Counter({
    name: 'forms_mirror_marking_runs_total',
    help: 'Jobs that change statuses at the source, by outcome.',
    labelNames: ['form', 'outcome'],
    registers,
  });
  return [
    events.on('mark.ended', (ended) => {
      const form = ended.form.id;
      marked.inc({ form, outcome: 'marked' }, ended.marked);
      marked.inc({ form, outcome: 'refused' }, ended.refused);
      marked.inc({ form, outcome: 'failed' }, ended.failed);
      runs.inc({ form, outcome: ended.outcome });
    }),
  ];
}

function countJobs(jobs: JobFeed, registers: Registry[]): () => void {
  const place = ['step', 'target', 'kind'] as const;
  const ended = new Counter({
    name: 'forms_mirror_jobs_total',
    help: 'Jobs that this process ended, by outcome.',
    labelNames: [...place, 'outcome'],
    registers,
  });
  const seconds = new Counter({
    name: 'forms_mirror_job_seconds_total',
    help: 'Seconds that these jobs took.',
    labelNames: place,
    registers,
  });
  const failures = new Counter({
    name: 'forms_mirror_job_failures_total',
    help: 'Failed jobs, by problem code.',
    labelNames: ['step', 'target', 'code'],
    registers,
  });
  const recovered = new Counter({
    name: 'forms_mirror_jobs_recovered_total',
    help: 'Jobs of a dead worker that this process put back into the queue.',
    registers,
  });
  const errors = new Counter({
    name: 'forms_mirror_queue_errors_total',
    help: 'Errors of the connection to the queue. The same error counts once in 30 seconds.',
    registers,
  });
  return jobs({
    ended: ({ step, target, kind, outcome, code, ms }) => {
      const labels = { step, target: target ?? '', kind: kind ?? '' };
      ended.inc({ ...labels, outcome });
      seconds.inc(labels, Math.max(0, ms) / 1_000);
      if (code !== null) failures.inc({ step, target: labels.target, code });
    },
    recovered: () => recovered.inc(),
    queueFailed: () => errors.inc(),
  });
}
