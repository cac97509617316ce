import { storedUnder } from '../mirror/picks.ts';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { isAbort, MirrorError, toMirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import { type Logger, withLogFields } from '../base/logger.ts';
import { sumOf } from '../mirror/form-state.ts';
import { countsFrom, recordOf } from '../sync/counts.ts';
import type { Mirroring } from '../sync/mirroring.ts';
import { poll, type SyncJob } from '../sync/poll.ts';
import { ProfileRecord } from '../sync/profile.ts';
import { runForm, type RunReport } from '../sync/run-form.ts';
import type { Joining } from '../sync/sink.ts';
import { Source } from '../sync/source.ts';
import { type Difference, verify } from '../sync/verify.ts';
import { startVerification, type VerifyReport } from '../sync/verify-form.ts';
import { NO_PATIENCE, type PassIntervals, patienceOf, withLook } from '../sync/patience.ts';
import {
  NOTHING_WRITTEN,
  wouldWriteBack,
  writeBack,
  type WriteBackReport,
  type WriteBackRule,
} from '../sync/write-back.ts';
import { noteWriteBack } from '../sync/write-back-records.ts';
import type { FormsClient } from '../forms/client.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import type { PassJob } from '../queue/handlers.ts';
import type { MarkReport, PassReport, PassSubject, SyncEvents } from '../sync/events.ts';
import { foreseenCells, type ForeseenChange } from '../sync/foreseen.ts';
import type { LookedPlan, LookReport } from '../sync/look.ts';
import type { FormPlan } from '../sync/planner.ts';
import { unopenedPass } from '../sync/unopened-pass.ts';
import { columnsChanged, markReportOf, passReportOf, settledReportOf } from './reports.ts';
import type { StoreCopy } from './store-copy.ts';

/** What runs of the new core share in a process. */
export interface StoreRunsParts {
  readonly client: FormsClient;
  readonly concurrency: number;
  /** Names the source, and the key that it is read with, without giving it away. */
  readonly sourceName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events<SyncEvents>;
  readonly maxDeleteFraction: number;
  readonly rule: WriteBackRule | null;
  /** Throws while nothing of the form may be stored in a target; `keep`: it is about to be. */
  readonly requireNames: (
    target: string,
    form: Form,
    signal: AbortSignal,
    keep: boolean,
  ) => Promise<void>;
  /** How answers are stored in a target. Throws SETTINGS while no fields are selected for it. */
  readonly joiningOf: (target: string) => Joining;
  /** The forms of the workspace as last listed. */
  readonly listedForms: (signal: AbortSignal) => Promise<readonly Form[]>;
}

/** How a comparison is asked for. `waitMs`: left out, as long as the schedule explains. */
export interface VerifyWishes {
  readonly waitMs?: number | undefined;
  readonly onWait?: (differing: number, untilMs: number) => void;
}

/** How a run is asked for. */
export interface StoreRunOptions {
  readonly acceptDeletes?: boolean | number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly onForeseen?: ((change: ForeseenChange) => void) | undefined;
  /** How long to wait for another process that writes the form. */
  readonly waitMs?: number | undefined;
}

/** How often a run that another process is in the way of is tried again. */
const BUSY_PAUSE_MS = 500;
/** So many runs tell how long one takes. */
const RECENT_RUNS = 400;
/** Up to so many deletions never wait for a person. */
const FEW_DELETIONS = 20;

/** Runs of the new core, in the words of the commands and the queue. */
export class StoreRuns {
  readonly #parts: StoreRunsParts;

  constructor(parts: StoreRunsParts) {
    this.#parts = parts;
  }

  /** One run. Never rejects: what goes wrong is in the report. */
  async run(
    copy: StoreCopy,
    form: FormIdentity,
    job: PassJob,
    options: StoreRunOptions,
    signal: AbortSignal,
  ): Promise<PassReport> {
    const { kind } = job;
    const subject: PassSubject = { form, target: copy.name, kind, passId: randomUUID() };
    return withLogFields({ passId: subject.passId }, async () => {
      const { events } = this.#parts;
      events.emit('pass.started', subject);
      const report =
        options.dryRun === true
          ? await this.#foresee(copy, subject, options, signal)
          : await this.#sync(copy, subject, job, options, signal);
      events.emit('pass.ended', report);
      return report;
    });
  }

  async #sync(
    copy: StoreCopy,
    subject: PassSubject,
    job: PassJob,
    { acceptDeletes = false, waitMs = 0 }: StoreRunOptions,
    signal: AbortSignal,
  ): Promise<PassReport> {
    const { events, clock } = this.#parts;
    const { kind, passId, form } = subject;
    const accepted = acceptDeletes === true ? Infinity : Number(acceptDeletes);
    const how = {
      isFull: kind === 'full',
      dueBeforeMs: await dueBefore(copy, job).catch(() => null),
      acceptDeletes: accepted,
      counts: job.counts === undefined ? null : countsFrom(job.counts),
      onProgress: (seen: number, total: number): void => {
        const found = { inserted: 0, updated: 0, unchanged: 0 };
        events.emit('pass.progress', { ...subject, seen, total, ...found });
      },
    };
    const untilMs = clock.now() + waitMs;
    let run: RunReport;
    for (;;) {
      run = await runForm(this.#mirroring(copy), form, how, signal);
      if (run.outcome !== 'busy' || clock.now() >= untilMs) break;
      await clock.sleep(BUSY_PAUSE_MS, signal).catch(() => {}); // The next try reports the stop.
    }
    const report = passReportOf(run, kind, passId);
    const changes = columnsChanged(run);
    const about = { ...subject, form: run.form };
    if (changes !== null) events.emit('columns.changed', { ...about, ...changes });
    if (run.reasons.length > 0) {
      const losses = run.reasons.map((text) => ({ what: 'other', text }) as const);
      events.emit('pass.widened', { ...about, reason: run.reasons.join(' '), losses });
    }
    return report;
  }

  /** What a run would change: compares everything, and writes nothing. */
  async #foresee(
    copy: StoreCopy,
    subject: PassSubject,
    { onForeseen = () => {}, acceptDeletes = false }: StoreRunOptions,
    signal: AbortSignal,
  ): Promise<PassReport> {
    const { client, concurrency, sourceName, clock, maxDeleteFraction } = this.#parts;
    const startedAtMs = clock.now();
    try {
      const source = new Source(client, concurrency, signal);
      const form = await client.getForm(subject.form.id, { signal });
      const joining = await this.#joining(copy.name, form, signal, false);
      const profile = await ProfileRecord.load(copy.store, sourceName, startedAtMs);
      const stored = await copy.store.forms();
      const losses = stored.find(({ state }) => state.formId === form.id)?.losses ?? [];
      await using held = await disposable(copy.store.open({ id: form.id }, 'read'));
      const deleted = new Map<string, ForeseenChange>();
      const found = new Map<string, ForeseenChange>();
      const onDifference = (difference: Difference): void => {
        const change = foreseenOf(difference, held.form?.fields ?? []);
        if (change.kind === 'deleted') deleted.set(change.submissionId, change);
        else found.set(change.submissionId, change);
      };
      const result = await verify(
        source,
        form,
        held.form,
        joining,
        profile.now,
        clock,
        onDifference,
      );
      const rows = sumOf(Object.values(held.form?.state.tally.rows ?? {}));
      const limit = Math.max(FEW_DELETIONS, maxDeleteFraction * rows, Number(acceptDeletes));
      const isHeld = acceptDeletes !== true && deleted.size > limit;
      for (const change of [...found.values(), ...(isHeld ? [] : deleted.values())])
        onForeseen(change);
      const many = (kind: ForeseenChange['kind']): number =>
        [...found.values()].filter((change) => change.kind === kind).length;
      const isProven = result.outcome !== 'unproven' || found.size + deleted.size > 0;
      const failure = isProven ? null : new MirrorError('RUN_INCOMPLETE', UNPROVEN);
      const identity = { id: form.id, slug: form.slug, name: form.name };
      return {
        ...unopenedPass({ ...subject, form: identity }, failure, startedAtMs),
        outcome: isHeld ? 'withheld' : failure === null ? 'ok' : 'incomplete',
        code: isHeld ? 'DELETIONS_HELD' : (failure?.code ?? null),
        error: isHeld
          ? `${deleted.size} deletions would wait for a person.`
          : (failure?.message ?? null),
        failure,
        kind: 'full',
        endedAt: new Date(clock.now()).toISOString(),
        ms: clock.now() - startedAtMs,
        requests: source.requests,
        total: result.compared,
        distinct: result.compared,
        inserted: many('inserted'),
        updated: many('updated') + many('restored'),
        unchanged: result.compared - found.size,
        deleted: isHeld ? 0 : deleted.size,
        withheld: isHeld ? deleted.size : 0,
        undecided: result.undecided.count,
        reason: losses.length === 0 ? null : losses.join(' '),
      };
    } catch (error) {
      return unopenedPass(subject, error, startedAtMs);
    }
  }

  /** Reads the source and compares it with what the target holds. Rejects as both do. */
  async startVerification(
    copy: StoreCopy,
    formId: string,
    intervals: PassIntervals | null,
    signal: AbortSignal,
  ): Promise<{ finish(wishes: VerifyWishes): Promise<VerifyReport> }> {
    const { client, concurrency, sourceName, clock } = this.#parts;
    const source = new Source(client, concurrency, signal);
    const startedAt = new Date(clock.now()).toISOString();
    const form = await client.getForm(formId, { signal });
    const joining = this.#parts.joiningOf(copy.name);
    const profile = (await ProfileRecord.load(copy.store, sourceName, clock.now())).now;
    const { store } = copy;
    const parts = { source, form, store, joining, profile, clock, signal };
    const started = await startVerification(parts);
    const reader = await copy.reader(formId);
    const recorded = (await reader?.passes(RECENT_RUNS)) ?? [];
    const passes = withLook(recorded, (await copy.lastLook())?.at ?? null);
    const [newest] = recorded;
    // What the target refuses is no lag, however young it is: no run is known to bring it (L6).
    const isRefused = newest?.outcome === 'failed' && newest.code?.startsWith('TARGET_') === true;
    return {
      finish: async ({ waitMs, onWait = () => {} }) => {
        const planned =
          intervals === null ? NO_PATIENCE : patienceOf(intervals, passes, clock.now(), waitMs);
        const patience = isRefused ? { ...planned, explainedMs: 0 } : planned;
        const verified = await started.finish({ ...patience, onWait });
        const held = await store.forms();
        return {
          ...verified,
          form: { id: form.id, slug: form.slug, name: form.name },
          target: copy.name,
          startedAt,
          endedAt: new Date(clock.now()).toISOString(),
          notices: held.find(({ state }) => state.formId === form.id)?.notices ?? [],
          lastPassAt: passes[0]?.endedAt ?? null,
          requests: source.requests,
        };
      },
    };
  }

  /** One poll of the workspace for these targets: which forms need a run, and which have not changed. */
  async poll(
    forms: readonly FormPlan[],
    copies: readonly StoreCopy[],
    signal: AbortSignal,
  ): Promise<LookReport> {
    const { client, concurrency, sourceName, clock, events, logger, rule } = this.#parts;
    const startedMs = clock.now();
    const source = new Source(client, concurrency, signal);
    const failed = new Map<string, unknown>();
    const targets = copies.map(({ name, store }) => {
      const chosen = new Set(
        forms.flatMap(({ form, targets: into }) => (into.includes(name) ? [form.id] : [])),
      );
      return {
        name,
        store,
        sourceName,
        isChosen: ({ id }: Pick<Form, 'id'>) => chosen.has(id),
        storedUnder: (form: Pick<Form, 'id' | 'slug'>) => this.#storedUnder(name, form),
        dueBeforeMs: null,
      };
    });
    const onFailure = (target: string, error: unknown): void => void failed.set(target, error);
    let found: Awaited<ReturnType<typeof poll>> = { syncs: [], settled: [], writeBacks: [] };
    try {
      const listed = await this.#parts.listedForms(signal);
      found = await poll(source, targets, listed, rule, clock, onFailure);
    } catch (error) {
      const { code } = toMirrorError(error);
      if (isAbort(error) || code === 'FORMS_UNAUTHORIZED') throw error;
      for (const { name } of copies) failed.set(name, error);
    }
    for (const [target, error] of failed)
      logger.debug({ target, err: error }, 'The poll failed; each form of the target is visited.');
    const isVisited = (target: string, formId: string): SyncJob | undefined =>
      failed.has(target)
        ? { formId, target, counts: null }
        : found.syncs.find((sync) => sync.target === target && sync.formId === formId);
    const plans = forms.map((plan): LookedPlan => {
      const jobs = copies.flatMap(({ name }) =>
        plan.targets.includes(name) ? (isVisited(name, plan.form.id) ?? []) : [],
      );
      const visits = jobs.map(visitOf);
      return { ...plan, visits, mark: found.writeBacks.includes(plan.form.id) };
    });
    const endedMs = clock.now();
    const settled = found.settled.map((each) => settledReportOf(each, randomUUID(), endedMs));
    for (const report of settled)
      withLogFields({ passId: report.passId }, () => events.emit('pass.ended', report));
    const { requests } = source;
    return { forms: plans, settled, knowsOthers: true, requests, ms: endedMs - startedMs };
  }

  /** Writes back until nothing is left to. */
  async writeBack(
    copies: readonly StoreCopy[],
    form: FormIdentity,
    rule: WriteBackRule,
    { dryRun = false, waitMs = 0 }: StoreRunOptions,
    signal: AbortSignal,
  ): Promise<MarkReport> {
    const { clock, events } = this.#parts;
    const stores = copies.map(({ store }) => store);
    if (dryRun) {
      const nothing: WriteBackReport = { ...NOTHING_WRITTEN, form };
      const wouldMark = await wouldWriteBack(stores, form.id, rule, clock.now());
      return { ...markReportOf(nothing, { to: rule.to, remembered: 0 }), wouldMark };
    }
    const mirrorings = copies.map((copy) => this.#mirroring(copy));
    let all: WriteBackReport = { ...NOTHING_WRITTEN, form };
    const untilMs = clock.now() + waitMs;
    do {
      const report = await writeBack(mirrorings, form, rule, signal);
      const isBusy = report.code === 'TARGET_BUSY' && clock.now() < untilMs;
      if (isBusy) await clock.sleep(BUSY_PAUSE_MS, signal).catch(() => {});
      all = isBusy ? { ...all, hasMore: true } : sumOfBoth(all, report);
    } while (all.hasMore);
    let remembered = 0;
    for (const store of stores) {
      const held = await store.open({ id: form.id }, 'read').catch(() => null);
      remembered = Math.max(remembered, (held?.state.tally.refused ?? 0) - all.refused);
      await held?.[Symbol.asyncDispose]();
    }
    const report = markReportOf(all, { to: rule.to, remembered: Math.max(0, remembered) });
    const { outcome, failure } = report;
    if (outcome !== 'elsewhere' && outcome !== 'paused' && outcome !== 'cancelled') {
      const refused = report.refused + report.remembered;
      const since = new Date(clock.now()).toISOString();
      const { code = null, message: error = null } = failure ?? {};
      const record = failure === null && refused === 0 ? null : { since, code, error, refused };
      // If it cannot be stored, the report still has it.
      for (const store of stores) await noteWriteBack(store, form.id, record).catch(() => {});
    }
    if (outcome !== 'paused') events.emit('mark.ended', report);
    return report;
  }

  #mirroring({ name, store }: StoreCopy): Mirroring {
    const { client, concurrency, sourceName, clock, maxDeleteFraction } = this.#parts;
    return {
      target: name,
      store,
      client,
      concurrency,
      clock,
      sourceName,
      maxDeleteFraction,
      joining: (form, signal) => this.#joining(name, form, signal, true),
    };
  }

  async #joining(target: string, form: Form, signal: AbortSignal, keep: boolean): Promise<Joining> {
    await this.#parts.requireNames(target, form, signal, keep);
    return this.#parts.joiningOf(target);
  }

  #storedUnder(target: string, form: Pick<Form, 'id' | 'slug'>) {
    try {
      return storedUnder(this.#parts.joiningOf(target), form);
    } catch {
      // No fields are selected: its runs say so.
      return null;
    }
  }
}

const visitOf = ({ target, counts }: SyncJob): LookedPlan['visits'][number] =>
  counts === null
    ? { target, compareCounts: true }
    : { target, compareCounts: true, counts: recordOf(counts) };

const UNPROVEN = 'The source gave no proof that it showed every submission.';

const sumOfBoth = (all: WriteBackReport, last: WriteBackReport): WriteBackReport => ({
  ...last,
  outcome: last.outcome === 'done' ? all.outcome : last.outcome,
  written: all.written + last.written,
  adopted: all.adopted + last.adopted,
  refused: all.refused + last.refused,
  failed: all.failed + last.failed,
  unwritten: [...all.unwritten, ...last.unwritten],
  code: last.code ?? all.code,
  error: last.error ?? all.error,
});

/** Of a comparison: when the youngest of its ranges was last read; those that are as old are read. Null for any other job. */
async function dueBefore(
  copy: StoreCopy,
  { formId, kind, windows }: PassJob,
): Promise<number | null> {
  if (kind !== 'compare' || windows === undefined) return null;
  const ranges = (await (await copy.reader(formId))?.windows()) ?? [];
  const wanted = ranges.filter(({ from }) => windows.some((window) => window.from === from));
  const times = wanted.flatMap(({ provenAt }) => (provenAt === null ? [] : [Date.parse(provenAt)]));
  return times.length === 0 ? null : Math.max(...times) + 1;
}

function foreseenOf(
  { id, stored, row, columns, fieldIds }: Difference,
  fields: readonly { readonly id: string; readonly label: string }[],
): ForeseenChange {
  if (row === null) return { kind: 'deleted', submissionId: id, cells: [] };
  if (stored === null) return { kind: 'inserted', submissionId: id, cells: [] };
  const labels = fields.map(({ id: fieldId, label }) => ({ id: fieldId, label }));
  const isRestored = stored.deletedAt !== null;
  const cells = foreseenCells(
    { columns: isRestored ? [...columns, '_deleted_at'] : columns, fieldIds },
    stored,
    row,
    labels,
  );
  return { kind: isRestored ? 'restored' : 'updated', submissionId: id, cells };
}

async function disposable<T extends AsyncDisposable>(
  opening: Promise<T | null>,
): Promise<AsyncDisposable & { readonly form: T | null }> {
  const form = await opening;
  return { form, [Symbol.asyncDispose]: async () => form?.[Symbol.asyncDispose]() };
}
