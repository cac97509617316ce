import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Events } from '../base/events.ts';
import type { Costs } from '../mirror/costs.ts';
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
  /** What targets that bill billed this process since it began, by their names; absent: none does. */
  readonly billed?: (() => readonly (readonly [target: string, costs: Costs])[]) | undefined;
}

/** From a count in memory to a source that takes as long as it may. */
const REQUEST_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * For Prometheus what each process of the mirror knows of itself: its memory and event loop, its requests to the source, its
 * jobs, its marks, what it was billed. Sums over all processes are true. Labels as {@link Metrics} has them.
 */
export class ProcessMetrics {
  /** Of this process alone; {@link Metrics} adds to it. */
  readonly registry = new Registry();
  readonly #queueUp: Gauge;
  readonly #unsubscribe: readonly (() => void)[];

  constructor({ events, version, role, jobs, billed = () => [] }: ProcessMetricsOptions) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'forms_mirror_build_info',
      help: 'Always 1; the labels say what runs.',
      labelNames: ['version', 'node', 'role'],
      registers,
    }).set({ version, node: process.version, role }, 1);
    this.#queueUp = new Gauge({
      name: 'forms_mirror_queue_up',
      help: '1 when the queue answers this process.',
      registers,
    });
    tellBilled(billed, registers);
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
  registered(): { name: string; type: string; labels: readonly string[] }[] {
    return this.registry.getMetricsAsArray().map((metric) => {
      // Its type leaves these out.
      const {
        name,
        type,
        labelNames = [],
      } = metric as unknown as {
        name: string;
        type?: string;
        labelNames?: readonly string[];
      };
      return {
        name,
        type: (type ?? metric.constructor.name).toLowerCase(),
        labels: labelNames,
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
    help: 'Requests to the Forms API that failed and were tried again, by this process.',
    registers,
  });
  const responses = new Counter({
    name: 'forms_mirror_source_responses_total',
    help: 'Requests of this process to the Forms API, retries included, by what was answered: 2xx, 3xx, 4xx, 5xx, 429 (fewer requests, please), or none in time.',
    labelNames: ['status'],
    registers,
  });
  const durations = new Histogram({
    name: 'forms_mirror_source_request_duration_seconds',
    help: 'How long requests of this process to the Forms API took, from sending to the end of the response.',
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const waits = new Counter({
    name: 'forms_mirror_source_wait_seconds_total',
    help: 'How long requests of this process waited, added up: for their turn (others in flight, FORMS_API_RATE, a pause that the source asked for), or for another try.',
    labelNames: ['for'],
    registers,
  });
  const rate = new Gauge({
    name: 'forms_mirror_source_rate_per_minute',
    help: 'Requests to the Forms API that this process may send in a minute; absent where there is no limit.',
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

/** All jobs that targets billed, whatever for: each scrape reads the sums. */
function tellBilled(
  billed: NonNullable<ProcessMetricsOptions['billed']>,
  registers: Registry[],
): void {
  const tell = (name: string, help: string, of: keyof Costs): void =>
    void new Counter({
      name: `forms_mirror_process_${name}_total`,
      help: `${help} of this process since it began, whatever for: passes, looks, pages, and scripts that failed; none of targets that bill nothing.`,
      labelNames: ['target'],
      registers,
      collect() {
        this.reset();
        for (const [target, costs] of billed()) this.inc({ target }, costs[of]);
      },
    });
  tell('billed_bytes', 'Bytes that targets billed for all jobs', 'billedBytes');
  tell('billed_statements', 'Statements that targets billed in all jobs', 'statements');
}

function countMarks(events: Events<SyncEvents>, registers: Registry[]): (() => void)[] {
  const marked = new Counter({
    name: 'forms_mirror_marks_total',
    help: 'Submissions whose status this process set, that the API refused to set, or that could not be tried.',
    labelNames: ['form', 'outcome'],
    registers,
  });
  const runs = new Counter({
    name: 'forms_mirror_marking_runs_total',
    help: 'Runs of marking that ended, by how.',
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
    help: 'Jobs of the queue that this process ended, by how.',
    labelNames: [...place, 'outcome'],
    registers,
  });
  const seconds = new Counter({
    name: 'forms_mirror_job_seconds_total',
    help: 'How long they took, added up.',
    labelNames: place,
    registers,
  });
  const failures = new Counter({
    name: 'forms_mirror_job_failures_total',
    help: 'Those that failed, by the code of the error.',
    labelNames: ['step', 'target', 'code'],
    registers,
  });
  const recovered = new Counter({
    name: 'forms_mirror_jobs_recovered_total',
    help: 'Jobs of a worker that died, which this process put back into the queue.',
    registers,
  });
  const errors = new Counter({
    name: 'forms_mirror_queue_errors_total',
    help: 'Errors of the connection to the queue; the same one counts once in half a minute.',
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
