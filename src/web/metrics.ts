import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Events } from '../base/events.ts';
import { HEALTH_STATES } from '../mirror/health-text.ts';
import type { SyncEvents } from '../sync/events.ts';
import type { FormHealth } from '../health/form-health.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import type { EndedPass } from '../health/pass-tracker.ts';
import { lagSeconds } from '../health/report.ts';

/** From a pass that finds nothing to a backfill of hours. */
const DURATION_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

/**
 * Everything for Prometheus, in a registry of its own. Labels hold form IDs, target names and words from fixed lists: no
 * field, no label, no answer (L11). Passes are counted from when this process began, whichever worker ran them.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #passes: Counter<'form' | 'target' | 'kind' | 'outcome'>;
  readonly #durations: Histogram<'target' | 'kind'>;
  readonly #changes: Counter<'form' | 'target' | 'change'>;
  readonly #requests: Counter<'form' | 'target'>;
  readonly #gauges: Gauges;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(events: Events<SyncEvents>, version: string) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    new Gauge({
      name: 'forms_mirror_build_info',
      help: 'Always 1; the labels say what runs.',
      labelNames: ['version', 'node'],
      registers,
    }).set({ version, node: process.version }, 1);
    this.#passes = new Counter({
      name: 'forms_mirror_passes_total',
      help: 'Passes that ended, by how.',
      labelNames: ['form', 'target', 'kind', 'outcome'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'forms_mirror_pass_duration_seconds',
      help: 'How long passes took.',
      labelNames: ['target', 'kind'],
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.#changes = new Counter({
      name: 'forms_mirror_row_changes_total',
      help: 'Rows that passes inserted, updated, marked deleted or met as rejected (again in each pass that meets them).',
      labelNames: ['form', 'target', 'change'],
      registers,
    });
    this.#requests = new Counter({
      name: 'forms_mirror_api_requests_total',
      help: 'Requests of passes to the Forms API, retries included.',
      labelNames: ['form', 'target'],
      registers,
    });
    this.#gauges = createGauges(registers);
    this.#unsubscribe = countEvents(events, registers);
  }

  /** The content type of {@link text}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Counts a pass. */
  count({ form: { id: form }, target, pass }: EndedPass): void {
    const { kind, outcome, inserted, updated, deleted, rejected, requests } = pass;
    this.#passes.inc({ form, target, kind, outcome });
    const seconds = (Date.parse(pass.endedAt) - Date.parse(pass.startedAt)) / 1_000;
    this.#durations.observe({ target, kind }, Math.max(0, seconds));
    for (const [change, number] of Object.entries({ inserted, updated, deleted, rejected })) {
      this.#changes.inc({ form, target, change }, number);
    }
    this.#requests.inc({ form, target }, requests);
  }

  /** All metrics in Prometheus' text format, with the mirror's health. */
  async text(health: MirrorHealth): Promise<string> {
    showForms(this.#gauges, health);
    const isWaiting = health.problems.some(({ code }) => code === 'SOURCE_WAITING');
    this.#gauges.sourceWaiting.set(isWaiting ? 1 : 0);
    showTargets(this.#gauges, health);
    showQueue(this.#gauges, health);
    return this.#registry.metrics();
  }

  /** Ends the subscriptions. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#registry.clear();
  }
}

/** Metrics that only events know; of this process. */
function countEvents(events: Events<SyncEvents>, registers: Registry[]): (() => void)[] {
  const retries = new Counter({
    name: 'forms_mirror_api_retries_total',
    help: 'Requests to the Forms API that failed and were tried again, by this process.',
    registers,
  });
  const marked = new Counter({
    name: 'forms_mirror_marks_total',
    help: 'Submissions whose status this process set, that the API refused to set, or that could not be tried.',
    labelNames: ['form', 'outcome'],
    registers,
  });
  const waiting = new Gauge({
    name: 'forms_mirror_marks_waiting',
    help: 'Submissions that marking left for later, because not every target holds them yet.',
    labelNames: ['form'],
    registers,
  });
  const refused = new Gauge({
    name: 'forms_mirror_marks_refused',
    help: 'Submissions that marking leaves alone, because the API refused the change within the last day.',
    labelNames: ['form'],
    registers,
  });
  const runs = new Counter({
    name: 'forms_mirror_marking_runs_total',
    help: 'Runs of marking that ended, by how.',
    labelNames: ['form', 'outcome'],
    registers,
  });
  return [
    events.on('forms.retry', () => retries.inc()),
    events.on('mark.ended', (ended) => {
      const form = ended.form.id;
      marked.inc({ form, outcome: 'marked' }, ended.marked);
      marked.inc({ form, outcome: 'refused' }, ended.refused);
      marked.inc({ form, outcome: 'failed' }, ended.failed);
      refused.set({ form }, ended.remembered);
      runs.inc({ form, outcome: ended.outcome });
      waiting.set({ form }, ended.waiting);
    }),
  ];
}

type Gauges = ReturnType<typeof createGauges>;

/** Gauges of what is read, not counted; set for each scrape. */
function createGauges(registers: Registry[]) {
  const gauge = <const L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name: `forms_mirror_${name}`, help, labelNames, registers });
  const formInTarget = ['form', 'target'] as const;
  return {
    lag: gauge(
      'lag_seconds',
      'Seconds since the beginning of the last pass or look that showed that nothing is missing.',
      formInTarget,
    ),
    proven: gauge(
      'last_proven_timestamp_seconds',
      'When the last pass of any kind, or look, began that showed that nothing is missing: which submissions there are is as of then.',
      formInTarget,
    ),
    fullProven: gauge(
      'last_full_proven_timestamp_seconds',
      'Since when everything has been compared row by row: answers are as of then.',
      formInTarget,
    ),
    statuses: gauge(
      'statuses_timestamp_seconds',
      'When the counts by status of the source were last seen to agree: statuses are as of then.',
      formInTarget,
    ),
    sourceWaiting: gauge(
      'source_waiting',
      '1 while requests to the source wait to be tried again.',
      [],
    ),
    rows: gauge('rows', 'Rows in the target.', [...formInTarget, 'state']),
    rejected: gauge('rejected_submissions', 'Submissions listed as rejected.', formInTarget),
    withheld: gauge('withheld_deletions', 'Absent rows that the brake holds back.', formInTarget),
    absent: gauge(
      'absent_rows',
      'Rows that the count of the source does not account for, to be looked for by the next full pass.',
      formInTarget,
    ),
    state: gauge('form_state', '1 for the state that the form is in, else 0.', [
      ...formInTarget,
      'state',
    ]),
    targetUp: gauge('target_up', '1 when the target could be read just now.', ['target']),
    queueUp: gauge('queue_up', '1 when the queue answers.', []),
    jobs: gauge('queue_jobs', 'Jobs in the queue.', ['step', 'target', 'kind', 'state']),
    paused: gauge('queue_paused', '1 when the queue hands out no jobs.', [
      'step',
      'target',
      'kind',
    ]),
    overdue: gauge('schedule_overdue', '1 when ticks should have come long ago.', ['kind']),
  };
}

function showForms(gauges: Gauges, { forms, nowMs }: MirrorHealth): void {
  const { lag, proven, fullProven, statuses, rows, rejected, withheld, absent, state } = gauges;
  const all = [lag, proven, fullProven, statuses, rows, rejected, withheld, absent, state];
  for (const gauge of all) gauge.reset();
  for (const health of forms) showForm(gauges, health, nowMs);
}

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

function showQueue({ queueUp, jobs, paused, overdue }: Gauges, { queue }: MirrorHealth): void {
  for (const gauge of [jobs, paused, overdue]) gauge.reset();
  const reachable = queue?.reachable === true;
  queueUp.set(reachable ? 1 : 0);
  if (queue === null || !reachable) return;
  for (const schedule of queue.schedules) {
    overdue.set({ kind: schedule.kind }, schedule.overdue ? 1 : 0);
  }
  for (const depth of queue.queues) {
    const labels = { step: depth.step, target: depth.target ?? '', kind: depth.kind ?? '' };
    const { waiting, active, delayed, waitingForPasses } = depth;
    const states = { waiting, active, delayed, waiting_for_passes: waitingForPasses };
    for (const [state, number] of Object.entries(states)) jobs.set({ ...labels, state }, number);
    paused.set(labels, depth.paused ? 1 : 0);
  }
}
