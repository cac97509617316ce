import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { printable } from '../base/printable.ts';
import { HEALTH_STATES } from '../mirror/health-text.ts';
import type { FormHealth } from '../health/form-health.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import type { EndedPass } from '../health/pass-tracker.ts';
import { lagSeconds } from '../health/report.ts';
import {
  ProcessMetrics,
  type ProcessMetricsOptions,
  type RegisteredMetric,
} from './process-metrics.ts';

/** From a pass that finds nothing to a backfill of hours. */
const DURATION_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

const CHANGES = ['inserted', 'updated', 'deleted', 'rejected'] as const;

/** A name is cut off there: a label is kept with every sample. */
const MAX_NAME = 120;

/**
 * Everything for Prometheus, in a registry of its own: what {@link ProcessMetrics} counts, and what one process, `start`, tells
 * of the whole mirror. Labels hold form IDs, target names and words from fixed lists; names of forms stand in one gauge, to be
 * joined. No field, no label of one, no answer (L11). Passes are counted from when this process began, whichever worker ran them.
 */
export class Metrics {
  readonly #process: ProcessMetrics;
  readonly #passes: Counter<'form' | 'target' | 'kind' | 'outcome'>;
  readonly #durations: Histogram<'target' | 'kind'>;
  readonly #changes: Counter<'form' | 'target' | 'change'>;
  readonly #requests: Counter<'form' | 'target'>;
  readonly #gauges: Gauges;

  constructor(options: Omit<ProcessMetricsOptions, 'role'>) {
    this.#process = new ProcessMetrics({ ...options, role: 'start' });
    const registers = [this.#process.registry];
    this.#passes = new Counter({
      name: 'forms_mirror_passes_total',
      help: 'Runs that ended, by outcome.',
      labelNames: ['form', 'target', 'kind', 'outcome'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'forms_mirror_pass_duration_seconds',
      help: 'Duration of runs.',
      labelNames: ['target', 'kind'],
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.#changes = new Counter({
      name: 'forms_mirror_row_changes_total',
      help: 'Rows that runs inserted, updated, marked deleted or found rejected (counted again by each run that finds them).',
      labelNames: ['form', 'target', 'change'],
      registers,
    });
    this.#requests = new Counter({
      name: 'forms_mirror_api_requests_total',
      help: 'Requests of runs to the Forms API, including retries.',
      labelNames: ['form', 'target'],
      registers,
    });
    this.#gauges = createGauges(registers);
  }

  /** The content type of {@link text}. */
  get contentType(): string {
    return this.#process.contentType;
  }

  /** Counts a pass. */
  count({ form: { id: form }, target, pass }: EndedPass): void {
    const { kind, outcome, requests } = pass;
    this.#passes.inc({ form, target, kind, outcome });
    const seconds = (Date.parse(pass.endedAt) - Date.parse(pass.startedAt)) / 1_000;
    this.#durations.observe({ target, kind }, Math.max(0, seconds));
    for (const change of CHANGES) this.#changes.inc({ form, target, change }, pass[change]);
    this.#requests.inc({ form, target }, requests);
  }

  /** All metrics in Prometheus' text format, with the mirror's health. */
  async text(health: MirrorHealth): Promise<string> {
    this.#countFromZero(health);
    showForms(this.#gauges, health);
    const isWaiting = health.problems.some(({ code }) => code === 'SOURCE_WAITING');
    this.#gauges.sourceWaiting.set(isWaiting ? 1 : 0);
    showTargets(this.#gauges, health);
    showQueue(this.#gauges, health);
    return this.#process.text(health.queue?.reachable === true);
  }

  /** A counter that begins with its first pass would show none of it to whoever asks for a rate. */
  #countFromZero({ forms }: MirrorHealth): void {
    for (const { form, target } of forms) {
      const labels = { form: form.id, target };
      for (const change of CHANGES) this.#changes.inc({ ...labels, change }, 0);
      this.#requests.inc(labels, 0);
    }
  }

  /** Every metric that can exist, with its labels: what dashboards and alert rules may use. */
  registered(): RegisteredMetric[] {
    return this.#process.registered();
  }

  /** Ends the subscriptions. */
  stop(): void {
    this.#process.stop();
  }
}

type Gauges = ReturnType<typeof createGauges>;

/** Gauges of what is read, not counted; set for each scrape. */
function createGauges(registers: Registry[]) {
  const gauge = <const L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name: `forms_mirror_${name}`, help, labelNames, registers });
  const formInTarget = ['form', 'target'] as const;
  const queueNames = ['step', 'target', 'kind'] as const;
  return {
    info: gauge('form_info', 'Always 1. The labels are the slug and name of a form.', [
      'form',
      'slug',
      'name',
    ]),
    lag: gauge(
      'lag_seconds',
      'Seconds since the start of the last run or poll that showed that nothing is missing.',
      formInTarget,
    ),
    proven: gauge(
      'last_proven_timestamp_seconds',
      'Start of the last run or poll that showed that nothing is missing. Submissions are as of this time.',
      formInTarget,
    ),
    fullProven: gauge(
      'last_full_proven_timestamp_seconds',
      'Answers are as of this time: since then, every row has been compared.',
      formInTarget,
    ),
    statuses: gauge(
      'statuses_timestamp_seconds',
      'Statuses are as of this time: the counts by status last agreed.',
      formInTarget,
    ),
    sourceWaiting: gauge('source_waiting', '1 while requests to the source wait for a retry.', []),
    rows: gauge('rows', 'Rows in the target.', [...formInTarget, 'state']),
    rejected: gauge('rejected_submissions', 'Submissions that could not be stored.', formInTarget),
    withheld: gauge('withheld_deletions', 'Held deletions.', formInTarget),
    absent: gauge(
      'absent_rows',
      'Rows that the source no longer counts and that are not settled yet.',
      formInTarget,
    ),
    state: gauge('form_state', '1 for the current state of the form, otherwise 0.', [
      ...formInTarget,
      'state',
    ]),
    marksRefused: gauge(
      'marks_refused',
      'Submissions whose status change the source refused within the last day.',
      ['form'],
    ),
    targetUp: gauge('target_up', '1 if the target could be read just now.', ['target']),
    jobs: gauge('queue_jobs', 'Jobs in the queue.', [...queueNames, 'state']),
    oldest: gauge(
      'queue_oldest_waiting_timestamp_seconds',
      'When the next waiting job was added; absent if none waits.',
      queueNames,
    ),
    overdue: gauge('schedule_overdue', '1 if polls are overdue.', ['kind']),
  };
}

function showForms(gauges: Gauges, { forms, nowMs }: MirrorHealth): void {
  const { lag, proven, fullProven, statuses, rows, rejected, withheld, absent, state } = gauges;
  const all = [lag, proven, fullProven, statuses, rows, rejected, withheld, absent, state];
  for (const gauge of [...all, gauges.info, gauges.marksRefused]) gauge.reset();
  for (const health of forms) showForm(gauges, health, nowMs);
  showRefused(gauges, forms);
  // One a form, or a join would find two; the targets of a form that was renamed may not agree yet.
  const byId = new Map(forms.map(({ form }) => [form.id, form]));
  for (const { id: form, slug, name } of byId.values()) {
    gauges.info.set({ form, slug: shown(slug), name: shown(name) }, 1);
  }
}

/** As the target says that has most of them: which process marked last does not matter. */
function showRefused({ marksRefused }: Gauges, forms: readonly FormHealth[]): void {
  const most = new Map<string, number>();
  for (const { form, overview } of forms) {
    const { refused } = overview?.marking ?? { refused: null };
    if (refused !== null) most.set(form.id, Math.max(refused, most.get(form.id) ?? 0));
  }
  for (const [form, refused] of most) marksRefused.set({ form }, refused);
}

const shown = (text: string): string => printable(text.slice(0, MAX_NAME));

function showForm(gauges: Gauges, health: FormHealth, nowMs: number): void {
  const { form, target, overview, summary, provenAt } = health;
  const labels = { form: form.id, target };
  const seconds = lagSeconds(provenAt, nowMs);
  if (seconds !== null && provenAt !== null) {
    gauges.proven.set(labels, Date.parse(provenAt) / 1_000);
    // What is no longer mirrored falls behind for ever; nobody wants an alert for that.
    if (health.state !== 'ended') gauges.lag.set(labels, seconds);
  }
  const { statuses, answers } = health.covers;
  if (statuses !== null) gauges.statuses.set(labels, Date.parse(statuses) / 1_000);
  if (answers !== null) gauges.fullProven.set(labels, Date.parse(answers) / 1_000);
  gauges.withheld.set(labels, summary.withheld);
  gauges.absent.set(labels, health.covers.absent);
  for (const state of HEALTH_STATES)
    gauges.state.set({ ...labels, state }, health.state === state ? 1 : 0);
  if (overview === null) return;
  gauges.rows.set({ ...labels, state: 'live' }, overview.rows);
  gauges.rows.set({ ...labels, state: 'deleted' }, overview.deletedRows);
  gauges.rejected.set(labels, overview.rejected);
}

function showTargets({ targetUp }: Gauges, { targets }: MirrorHealth): void {
  for (const { name, readable, readAtMs } of targets) {
    targetUp.set({ target: name }, readable && readAtMs > 0 ? 1 : 0);
  }
}

function showQueue({ jobs, oldest, overdue }: Gauges, { queue }: MirrorHealth): void {
  for (const gauge of [jobs, oldest, overdue]) gauge.reset();
  if (queue?.reachable !== true) return;
  for (const schedule of queue.schedules) {
    overdue.set({ kind: schedule.kind }, schedule.overdue ? 1 : 0);
  }
  for (const depth of queue.queues) {
    const labels = { step: depth.step, target: depth.target ?? '', kind: depth.kind ?? '' };
    const { waiting, active, delayed, waitingForPasses } = depth;
    const states = { waiting, active, delayed, waiting_for_passes: waitingForPasses };
    for (const [state, number] of Object.entries(states)) jobs.set({ ...labels, state }, number);
    const { waitingSinceMs = null } = depth;
    if (waitingSinceMs !== null) oldest.set(labels, waitingSinceMs / 1_000);
  }
}
