import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Events } from '../base/events.ts';
import { printable } from '../base/printable.ts';
import { type FormReport, HEALTH_STATES, type Problem, type Report } from '../health/report.ts';
import type { SyncEvents } from '../sync/events.ts';

const CHANGES = ['inserted', 'updated', 'deleted', 'rejected'] as const;

/** From a run that finds nothing to a first copy of hours. */
const RUN_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400];
/** From a count in memory to a source that takes as long as it may. */
const REQUEST_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The maximum length of a name, because a label is stored with every sample. */
const MAX_NAME = 120;

/**
 * Everything for Prometheus, in a registry of its own. Each process counts its own runs, requests and jobs, so sums over all
 * processes are correct; `start` also shows the report of the whole mirror. Labels contain form IDs, target names and words from
 * fixed lists. Names of forms are in one gauge, for joins. No fields, field labels or answers (L11).
 */
export class Metrics {
  /** The metrics of this process. */
  readonly registry = new Registry();
  readonly #counters: ReturnType<typeof createCounters>;
  readonly #gauges: ReturnType<typeof createGauges> | null;

  constructor({ version, role }: { readonly version: string; readonly role: 'start' | 'worker' }) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#counters = createCounters(registers);
    this.#counters.info.set({ version, node: process.version, role }, 1);
    this.#gauges = role === 'start' ? createGauges(registers) : null;
  }

  /** Counts what happens in this process from now on. */
  count(events: Events<SyncEvents>): void {
    const { runs, durations, changes, statusChanges, responses, requestSeconds } = this.#counters;
    const { waits, billedBytes, jobFailures, recovered } = this.#counters;
    events.on('run.ended', ({ form: { id: form }, target, ...run }) => {
      runs.inc({ form, target, outcome: run.outcome });
      durations.observe({ target }, Math.max(0, run.endedAtMs - run.startedAtMs) / 1_000);
      for (const change of CHANGES) changes.inc({ form, target, change }, run[change]);
    });
    events.on('write-back.ended', ({ form: { id: form }, written, refused, failed }) => {
      for (const [outcome, number] of Object.entries({ written, refused, failed }))
        statusChanges.inc({ form, outcome }, number);
    });
    events.on('forms.sent', ({ status, ms, waitedMs }) => {
      responses.inc({ status: statusClass(status) });
      requestSeconds.observe(ms / 1_000);
      waits.inc({ for: 'turn' }, waitedMs / 1_000);
    });
    events.on('forms.retry', ({ delayMs }) => waits.inc({ for: 'retry' }, delayMs / 1_000));
    events.on('target.billed', ({ target, bytes }) => billedBytes.inc({ target }, bytes));
    events.on('job.ended', ({ step, target, code }) => {
      if (code !== null) jobFailures.inc({ step, target: target ?? '', code });
    });
    events.on('job.recovered', () => recovered.inc());
  }

  /** All metrics in Prometheus' text format. `queueAnswers`: whether the queue answered just now; `report`: for `start`. */
  async text(queueAnswers: boolean, report: Report | null = null): Promise<string> {
    this.#counters.queueUp.set(queueAnswers ? 1 : 0);
    if (this.#gauges !== null && report !== null) {
      // A counter that appears with its first run would hide that run from a rate query.
      for (const { form, target } of report.forms)
        for (const change of CHANGES)
          this.#counters.changes.inc({ form: form.id, target, change }, 0);
      show(this.#gauges, report);
    }
    return this.registry.metrics();
  }
}

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '429', '5xx', 'none'] as const;

/** One of a few words, because a server may return any number. */
function statusClass(status: number | null): string {
  if (status === null) return 'none';
  return status === 429 ? '429' : `${Math.trunc(status / 100)}xx`;
}

const PLACE = ['form', 'target'] as const;

/** The counters of each process. */
function createCounters(registers: Registry[]) {
  const counter = <const L extends string>(name: string, labelNames: readonly L[], help: string) =>
    new Counter<L>({ name: `forms_mirror_${name}`, help, labelNames, registers });
  const { gauge } = gaugesIn(registers);
  const counters = {
    info: gauge(
      'build_info',
      ['version', 'node', 'role'],
      'Always 1: version, Node version and role of the process.',
    ),
    queueUp: gauge('queue_up', [], '1 if the queue answers this process.'),
    responses: counter(
      'source_responses_total',
      ['status'],
      'Requests to the source by response: 2xx, 3xx, 4xx, 5xx, 429 or none.',
    ),
    requestSeconds: new Histogram({
      name: 'forms_mirror_source_request_duration_seconds',
      help: 'Duration of requests to the source.',
      buckets: REQUEST_BUCKETS,
      registers,
    }),
    waits: counter(
      'source_wait_seconds_total',
      ['for'],
      'Seconds that requests waited for their turn (other requests, FORMS_API_RATE, Retry-After) or for a retry.',
    ),
    runs: counter('runs_total', [...PLACE, 'outcome'], 'Runs that ended.'),
    durations: new Histogram({
      name: 'forms_mirror_run_duration_seconds',
      help: 'Duration of runs.',
      labelNames: ['target'],
      buckets: RUN_BUCKETS,
      registers,
    }),
    changes: counter(
      'row_changes_total',
      [...PLACE, 'change'],
      'Rows that runs inserted, updated, marked deleted or rejected (counted again by each run).',
    ),
    statusChanges: counter(
      'status_changes_total',
      ['form', 'outcome'],
      'Status changes at the source: written, refused or failed.',
    ),
    billedBytes: counter(
      'target_billed_bytes_total',
      ['target'],
      'Bytes that BigQuery billed; absent for other targets.',
    ),
    jobFailures: counter('job_failures_total', ['step', 'target', 'code'], 'Jobs that failed.'),
    recovered: counter(
      'jobs_recovered_total',
      [],
      'Jobs of a dead worker, put back into the queue.',
    ),
  };
  // For a query that divides by it, a series that was never set is absent, not zero.
  for (const status of STATUS_CLASSES) counters.responses.inc({ status }, 0);
  for (const what of ['turn', 'retry'] as const) counters.waits.inc({ for: what }, 0);
  return counters;
}

function gaugesIn(registers: Registry[]) {
  const gauge = <const L extends string>(name: string, labelNames: readonly L[], help: string) =>
    new Gauge<L>({ name: `forms_mirror_${name}`, help, labelNames, registers });
  /** A gauge per form and target. */
  const ofForm = (name: string, help: string) => gauge(name, PLACE, help);
  return { gauge, ofForm };
}

/** The report as gauges, for `start`; set for each scrape. */
function createGauges(registers: Registry[]) {
  const { gauge, ofForm } = gaugesIn(registers);
  return {
    info: gauge(
      'form_info',
      ['form', 'slug', 'name'],
      'Always 1: slug and name of a form, by its ID.',
    ),
    problem: gauge(
      'problem',
      ['code', ...PLACE],
      '1 for each problem, by its code. A problem of a whole target has no form; a general one has neither form nor target.',
    ),
    state: gauge('form_state', [...PLACE, 'state'], '1 for the state of the form, otherwise 0.'),
    submissions: ofForm('submissions_timestamp_seconds', 'Submissions are as of this time.'),
    statuses: ofForm('statuses_timestamp_seconds', 'Statuses are as of this time.'),
    answers: ofForm('answers_timestamp_seconds', 'Answers are as of this time.'),
    rows: gauge('rows', [...PLACE, 'state'], 'Rows in the target.'),
    rejected: ofForm('rejected_submissions', 'Submissions that could not be stored unchanged.'),
    held: ofForm('held_deletions', 'Deletions that wait until a person accepts them.'),
    undecided: ofForm(
      'undecided_rows',
      'Undecided rows: the source does not show them, and answers neither 404 nor 410 for them.',
    ),
    targetUp: gauge('target_up', ['target'], '1 if the target could be read just now.'),
    jobs: gauge('queue_jobs', ['state'], 'Jobs that wait, and jobs in progress.'),
  };
}

function show(gauges: ReturnType<typeof createGauges>, report: Report): void {
  for (const gauge of Object.values(gauges)) gauge.reset();
  const { forms, targets, queue } = report;
  for (const form of forms) showForm(gauges, form);
  // One series per form, because a join would otherwise find two: the targets of a renamed form may not agree yet.
  const byId = new Map(forms.map(({ form }) => [form.id, form]));
  for (const [form, { slug, name }] of byId)
    gauges.info.set({ form, slug: shown(slug), name: shown(name) }, 1);
  const note = (problems: readonly Problem[], form: string, target: string): void => {
    for (const { code } of problems) gauges.problem.set({ code, form, target }, 1);
  };
  note(report.problems, '', '');
  for (const target of targets) {
    gauges.targetUp.set({ target: target.name }, target.isReadable ? 1 : 0);
    note(target.problem === null ? [] : [target.problem], '', target.name);
  }
  for (const { form, target, problems } of forms) note(problems, form.id, target);
  if (queue?.isReachable !== true) return;
  gauges.jobs.set({ state: 'waiting' }, queue.waiting);
  gauges.jobs.set({ state: 'active' }, queue.active);
}

const shown = (text: string): string => printable(text.slice(0, MAX_NAME));

function showForm(gauges: ReturnType<typeof createGauges>, report: FormReport): void {
  const { form, target, state, claim } = report;
  const labels = { form: form.id, target };
  for (const one of HEALTH_STATES)
    gauges.state.set({ ...labels, state: one }, state === one ? 1 : 0);
  for (const [gauge, time] of [
    [gauges.submissions, claim.submissionsAsOf],
    [gauges.statuses, claim.statusesAsOf],
    [gauges.answers, claim.answersAsOf],
  ] as const) {
    if (time !== null) gauge.set(labels, Date.parse(time) / 1_000);
  }
  gauges.held.set(labels, claim.held);
  gauges.undecided.set(labels, claim.undecided);
  if (report.rejected !== null) gauges.rejected.set(labels, report.rejected);
  if (report.rows !== null) gauges.rows.set({ ...labels, state: 'live' }, report.rows);
  if (report.deletedRows !== null)
    gauges.rows.set({ ...labels, state: 'deleted' }, report.deletedRows);
}
