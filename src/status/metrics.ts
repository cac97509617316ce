import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Events } from '../base/events.ts';
import type { SyncEvents } from '../sync/events.ts';
import { type MirrorView, type PairView, STATES } from './mirror-view.ts';
import type { TellsPass } from './pass-book.ts';
import { lagSeconds } from './report.ts';

/** From a pass that finds nothing to a backfill of hours. */
const DURATION_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

/**
 * Everything for Prometheus, in a registry of its own. Labels hold form IDs, target names and words of a fixed list: no
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
  count({ pair, pass }: TellsPass): void {
    const [form, { target }] = [pair.form.id, pair];
    const { kind, outcome, inserted, updated, deleted, rejected, requests } = pass;
    this.#passes.inc({ form, target, kind, outcome });
    const seconds = (Date.parse(pass.endedAt) - Date.parse(pass.startedAt)) / 1_000;
    this.#durations.observe({ target, kind }, Math.max(0, seconds));
    for (const [change, number] of Object.entries({ inserted, updated, deleted, rejected })) {
      this.#changes.inc({ form, target, change }, number);
    }
    this.#requests.inc({ form, target }, requests);
  }

  /** All metrics in Prometheus' text format, with the mirror as it stands in `view`. */
  async text(view: MirrorView): Promise<string> {
    showPairs(this.#gauges, view);
    showTargets(this.#gauges, view);
    showQueue(this.#gauges, view);
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
    help: 'Submissions whose status this process set, or that the API refused to set.',
    labelNames: ['form', 'outcome'],
    registers,
  });
  const waiting = new Gauge({
    name: 'forms_mirror_marks_waiting',
    help: 'Submissions that marking left for later, because not every target holds them yet.',
    labelNames: ['form'],
    registers,
  });
  return [
    events.on('forms.retry', () => retries.inc()),
    events.on('mark.ended', (ended) => {
      const form = ended.form.id;
      marked.inc({ form, outcome: 'marked' }, ended.marked);
      marked.inc({ form, outcome: 'refused' }, ended.refused);
      waiting.set({ form }, ended.waiting);
    }),
  ];
}

type Gauges = ReturnType<typeof createGauges>;

/** Gauges of what is read, not counted; written anew for each scrape. */
function createGauges(registers: Registry[]) {
  const gauge = <const L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name: `forms_mirror_${name}`, help, labelNames, registers });
  const pair = ['form', 'target'] as const;
  return {
    lag: gauge('lag_seconds', 'Seconds since the last proven pass.', pair),
    proven: gauge('last_proven_timestamp_seconds', 'When the last proven pass ended.', pair),
    rows: gauge('rows', 'Rows in the target.', [...pair, 'state']),
    rejected: gauge('rejected_submissions', 'Submissions listed as rejected.', pair),
    withheld: gauge('withheld_deletions', 'Absent rows that the brake holds back.', pair),
    state: gauge('form_state', '1 for the state that the form is in, else 0.', [...pair, 'state']),
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

function showPairs(gauges: Gauges, { pairs, nowMs }: MirrorView): void {
  const { lag, proven, rows, rejected, withheld, state } = gauges;
  for (const gauge of [lag, proven, rows, rejected, withheld, state]) gauge.reset();
  for (const view of pairs) showPair(gauges, view, nowMs);
}

function showPair(gauges: Gauges, view: PairView, nowMs: number): void {
  const { pair, overview, memory, provenAt } = view;
  const labels = { form: pair.form.id, target: pair.target };
  const seconds = lagSeconds(provenAt, nowMs);
  if (seconds !== null && provenAt !== null) {
    gauges.proven.set(labels, Date.parse(provenAt) / 1_000);
    // What is no longer mirrored falls behind for ever; nobody wants to be called for that.
    if (view.state !== 'ended') gauges.lag.set(labels, seconds);
  }
  gauges.withheld.set(labels, memory.withheld);
  for (const state of STATES) gauges.state.set({ ...labels, state }, view.state === state ? 1 : 0);
  if (overview === null) return;
  gauges.rows.set({ ...labels, state: 'live' }, overview.rows);
  gauges.rows.set({ ...labels, state: 'deleted' }, overview.deletedRows);
  gauges.rejected.set(labels, overview.rejected);
}

function showTargets({ targetUp }: Gauges, { targets }: MirrorView): void {
  for (const { name, readable, readAtMs } of targets) {
    targetUp.set({ target: name }, readable && readAtMs > 0 ? 1 : 0);
  }
}

function showQueue({ queueUp, jobs, paused, overdue }: Gauges, { queue }: MirrorView): void {
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
