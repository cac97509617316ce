import { type Clock } from '../base/clock.ts';
import { isAbort, toMirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { FormsClient } from '../forms/client.ts';
import { accounted, sumOf } from '../mirror/form-state.ts';
import { storedUnder } from '../mirror/picks.ts';
import type { CountsRecord, Form, FormIdentity } from '../mirror/types.ts';
import { countsFrom } from './counts.ts';
import type { SyncEvents } from './events.ts';
import { type ForeseenChange, foreseenOf } from './foreseen.ts';
import type { Mirroring } from './mirroring.ts';
import { NO_PATIENCE, patienceOf, type RunIntervals, withPoll } from './patience.ts';
import type { FormPlan } from './planner.ts';
import { poll, type SettledForm, type SyncJob } from './poll.ts';
import { claimWith, readAgreement } from './poll-records.ts';
import { ProfileRecord } from './profile.ts';
import { type RunReport, runForm, unopenedRun } from './run-form.ts';
import type { Joining } from '../mirror/picks.ts';
import { NOTHING_APPLIED } from './sink.ts';
import { Source } from './source.ts';
import { reading, type Target } from './target.ts';
import { type Difference, verify } from './verify.ts';
import { startVerification, type VerifyReport } from './verify-form.ts';
import {
  concluded,
  NOTHING_WRITTEN,
  wouldWriteBack,
  writeBack,
  type WriteBackReport,
  type WriteBackRule,
} from './write-back.ts';
import { noteWriteBack } from './write-back-records.ts';

/** What the runs of a process share. */
export interface RunnerParts {
  readonly client: FormsClient;
  readonly concurrency: number;
  /** Names the source, and the key that it is read with, without giving it away. */
  readonly sourceName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events<SyncEvents>;
  readonly maxDeleteFraction: number;
  /** RECONCILE_EVERY. */
  readonly compareEveryMs: number;
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

/** How a run is asked for. */
export interface RunOptions {
  /** Every range is read. */
  readonly isFull?: boolean;
  /** Ranges that are due by their age are read. */
  readonly isComparison?: boolean;
  readonly counts?: CountsRecord | undefined;
  /** How many deletions a person accepts; Infinity: all of them. */
  readonly acceptDeletes?: number | undefined;
  /** Compares, and writes nothing. */
  readonly dryRun?: boolean | undefined;
  readonly onForeseen?: ((change: ForeseenChange) => void) | undefined;
  /** How long to wait for another process that writes the form. */
  readonly waitMs?: number | undefined;
}

/** How a comparison is asked for. `waitMs`: left out, as long as the schedule explains. */
export interface VerifyWishes {
  readonly waitMs?: number | undefined;
  readonly onWait?: (differing: number, untilMs: number) => void;
}

/** What a poll found. */
export interface PollReport {
  readonly syncs: readonly SyncJob[];
  /** Forms that need no run, each reported as a run that found nothing new, without a request. */
  readonly settled: readonly RunReport[];
  /** IDs of forms with submissions that wait for write-back. */
  readonly writeBacks: readonly string[];
  readonly requests: number;
  readonly ms: number;
}

/** How often a run that another process is in the way of is tried again. */
const BUSY_PAUSE_MS = 500;
/** So many runs tell how long one takes. */
const RECENT_RUNS = 400;
/** Up to so many deletions never wait for a person. */
const FEW_DELETIONS = 20;

/** Polls, runs, write-backs and comparisons, with their events. */
export class Runner {
  readonly #parts: RunnerParts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** One run. Never rejects: what goes wrong is in the report. */
  async run(
    target: Target,
    form: FormIdentity,
    options: RunOptions,
    signal: AbortSignal,
  ): Promise<RunReport> {
    const { events } = this.#parts;
    const isFull = options.isFull === true;
    events.emit('run.started', { form, target: target.name, isFull });
    const report =
      options.dryRun === true
        ? await this.#foresee(target, form, options, signal)
        : await this.#sync(target, form, options, signal);
    events.emit('run.ended', report);
    return report;
  }

  async #sync(
    target: Target,
    form: FormIdentity,
    { isFull = false, isComparison = false, counts, acceptDeletes = 0, waitMs = 0 }: RunOptions,
    signal: AbortSignal,
  ): Promise<RunReport> {
    const { events, clock, compareEveryMs } = this.#parts;
    const subject = { form, target: target.name, isFull };
    const how = {
      isFull,
      compareEveryMs: isComparison ? compareEveryMs : null,
      acceptDeletes,
      counts: counts === undefined ? null : countsFrom(counts),
      onProgress: (seen: number, total: number): void =>
        events.emit('run.progress', { ...subject, seen, total }),
    };
    const untilMs = clock.now() + waitMs;
    for (;;) {
      const report = await runForm(this.#mirroring(target), form, how, signal);
      if (report.outcome !== 'busy' || clock.now() >= untilMs) return report;
      await clock.sleep(BUSY_PAUSE_MS, signal).catch(() => {}); // The next try reports the stop.
    }
  }

  /** What a run would change: compares everything, and writes nothing. */
  async #foresee(
    target: Target,
    identity: FormIdentity,
    { onForeseen = () => {}, acceptDeletes = 0 }: RunOptions,
    signal: AbortSignal,
  ): Promise<RunReport> {
    const { client, concurrency, sourceName, clock, maxDeleteFraction } = this.#parts;
    const startedAtMs = clock.now();
    const unopened = (error: unknown): RunReport =>
      unopenedRun(identity, target.name, error, startedAtMs, clock.now());
    try {
      const source = new Source(client, concurrency, signal);
      const form = await client.getForm(identity.id, { signal });
      const joining = await this.#joining(target.name, form, signal, false);
      const profile = await ProfileRecord.load(target.store, sourceName, startedAtMs);
      const stored = await target.store.forms();
      const losses = stored.find(({ state }) => state.formId === form.id)?.losses ?? [];
      await using opened = new AsyncDisposableStack();
      const held = await target.store.open({ id: form.id }, 'read');
      if (held !== null) opened.use(held);
      const deleted = new Map<string, ForeseenChange>();
      const found = new Map<string, ForeseenChange>();
      const result = await verify(
        source,
        form,
        held,
        joining,
        profile.now,
        clock,
        (difference: Difference): void => {
          const change = foreseenOf(difference, held?.fields ?? []);
          (change.kind === 'deleted' ? deleted : found).set(change.submissionId, change);
        },
      );
      const rows = sumOf(Object.values(held?.state.tally.rows ?? {}));
      const limit = Math.max(FEW_DELETIONS, maxDeleteFraction * rows, acceptDeletes);
      const isHeld = deleted.size > limit;
      for (const change of [...found.values(), ...(isHeld ? [] : deleted.values())])
        onForeseen(change);
      const many = (...kinds: readonly ForeseenChange['kind'][]): number =>
        [...found.values()].filter(({ kind }) => kinds.includes(kind)).length;
      const isProven = result.outcome !== 'unproven' || found.size + deleted.size > 0;
      const ending = isHeld
        ? { code: 'DELETIONS_HELD', error: `${deleted.size} deletions would wait for a person.` }
        : isProven
          ? { code: null, error: null }
          : { code: 'RUN_INCOMPLETE', error: UNPROVEN };
      return {
        ...unopened(null),
        ...NOTHING_APPLIED,
        ...ending,
        failure: null,
        outcome: isHeld ? 'held' : isProven ? 'ok' : 'incomplete',
        form: { id: form.id, slug: form.slug, name: form.name },
        isWhole: true,
        accounted: result.compared,
        requests: source.requests,
        inserted: many('inserted'),
        updated: many('updated', 'restored'),
        unchanged: result.compared - found.size,
        deleted: isHeld ? 0 : deleted.size,
        held: isHeld ? deleted.size : 0,
        reasons: losses,
      };
    } catch (error) {
      return unopened(error);
    }
  }

  /** Reads the source and compares it with what the target holds. Rejects as both do. `intervals`: null: no run is expected. */
  async startVerification(
    target: Target,
    formId: string,
    intervals: RunIntervals | null,
    signal: AbortSignal,
  ): Promise<{ finish(wishes: VerifyWishes): Promise<VerifyReport> }> {
    const { client, concurrency, sourceName, clock } = this.#parts;
    const { store } = target;
    const source = new Source(client, concurrency, signal);
    const startedAt = new Date(clock.now()).toISOString();
    const form = await client.getForm(formId, { signal });
    const joining = this.#parts.joiningOf(target.name);
    const profile = (await ProfileRecord.load(store, sourceName, clock.now())).now;
    const parts = { source, form, store, joining, profile, clock, signal };
    const started = await startVerification(parts);
    const recorded = (await reading(target, formId, (open) => open.runs(RECENT_RUNS))) ?? [];
    const runs = withPoll(recorded, (await readAgreement(store))?.atMs ?? null);
    const [newest] = recorded;
    // A row that the target refuses is not lag, at any age: no run is known to bring it (L6).
    const isRefused = newest?.outcome === 'failed' && newest.code?.startsWith('TARGET_') === true;
    return {
      finish: async ({ waitMs, onWait = () => {} }) => {
        const planned =
          intervals === null ? NO_PATIENCE : patienceOf(intervals, runs, clock.now(), waitMs);
        const patience = isRefused ? { ...planned, explainedMs: 0 } : planned;
        const verified = await started.finish({ ...patience, onWait });
        const held = await store.forms();
        const endedAtMs = runs[0]?.endedAtMs ?? null;
        return {
          ...verified,
          form: { id: form.id, slug: form.slug, name: form.name },
          target: target.name,
          startedAt,
          endedAt: new Date(clock.now()).toISOString(),
          notices: held.find(({ state }) => state.formId === form.id)?.notices ?? [],
          lastRunAt: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
          requests: source.requests,
        };
      },
    };
  }

  /**
   * One poll of the workspace for these targets: which forms need a run, and which have not changed. Rejects with CANCELLED, and
   * with FORMS_UNAUTHORIZED. After any other failure each form is to be visited, so that its run says why.
   */
  async poll(
    forms: readonly FormPlan[],
    targets: readonly Target[],
    signal: AbortSignal,
  ): Promise<PollReport> {
    const { client, concurrency, sourceName, clock, logger, rule, compareEveryMs } = this.#parts;
    const startedMs = clock.now();
    const source = new Source(client, concurrency, signal);
    const failed = new Map<string, unknown>();
    const chosenIn = (name: string): Set<string> =>
      new Set(forms.flatMap(({ form, targets: into }) => (into.includes(name) ? [form.id] : [])));
    const polled = targets.map(({ name, store }) => {
      const chosen = chosenIn(name);
      return {
        name,
        store,
        sourceName,
        isChosen: ({ id }: Pick<Form, 'id'>) => chosen.has(id),
        storedUnder: (form: Pick<Form, 'id' | 'slug'>) => this.#storedUnder(name, form),
        compareEveryMs,
        nowMs: startedMs,
      };
    });
    const onFailure = (target: string, error: unknown): void => void failed.set(target, error);
    let found: Awaited<ReturnType<typeof poll>> = { syncs: [], settled: [], writeBacks: [] };
    try {
      const listed = await this.#parts.listedForms(signal);
      found = await poll(source, polled, listed, rule, clock, onFailure);
    } catch (error) {
      const { code } = toMirrorError(error);
      if (isAbort(error) || code === 'FORMS_UNAUTHORIZED') throw error;
      for (const { name } of targets) failed.set(name, error);
    }
    for (const [target, error] of failed)
      logger.debug({ target, err: error }, 'The poll failed; each form of the target is visited.');
    const isPlanned = ({ formId, target }: SyncJob): boolean => chosenIn(target).has(formId);
    const visited = [...failed.keys()].flatMap((target) => visitsOf(target, chosenIn(target)));
    const endedMs = clock.now();
    const settled = found.settled.map((each) => settledReport(each, endedMs));
    return {
      syncs: [...found.syncs.filter(isPlanned), ...visited],
      settled,
      writeBacks: found.writeBacks,
      requests: source.requests,
      ms: endedMs - startedMs,
    };
  }

  /** Writes back until nothing is left to, and keeps in each target what could not be done. Never rejects. */
  async writeBack(
    targets: readonly Target[],
    form: FormIdentity,
    rule: WriteBackRule,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<WriteBackReport> {
    const { clock, events } = this.#parts;
    const mirrorings = targets.map((target) => this.#mirroring(target));
    let all: WriteBackReport = { ...NOTHING_WRITTEN, form };
    const untilMs = clock.now() + waitMs;
    do {
      const report = await writeBack(mirrorings, form, rule, signal);
      const isBusy = report.code === 'TARGET_BUSY' && clock.now() < untilMs;
      if (isBusy) await clock.sleep(BUSY_PAUSE_MS, signal).catch(() => {});
      all = isBusy ? { ...all, hasMore: true } : sumOfBoth(all, report);
    } while (all.hasMore);
    const remembered = await this.#remembered(targets, all);
    const report = concluded({ ...all, remembered }, rule);
    const { outcome, failure, refused } = report;
    if (outcome === 'done' || outcome === 'failed') {
      const since = new Date(clock.now()).toISOString();
      const { code = null, message: error = null } = failure ?? {};
      const isClean = failure === null && refused + remembered === 0;
      const record = isClean ? null : { since, code, error, refused: refused + remembered };
      // If it cannot be stored, the report still has it.
      for (const { store } of targets) await noteWriteBack(store, form.id, record).catch(() => {});
    }
    if (outcome !== 'paused') events.emit('write-back.ended', report);
    return report;
  }

  /** How many were not tried, as the source refused them lately. */
  async #remembered(
    targets: readonly Target[],
    { form, refused }: WriteBackReport,
  ): Promise<number> {
    let most = 0;
    for (const target of targets) {
      const held = await reading(target, form.id, async ({ state }) => state.tally.refused).catch(
        () => null,
      );
      most = Math.max(most, (held ?? 0) - refused);
    }
    return most;
  }

  /** The submissions that the next write-back would change. Changes nothing. */
  wouldWriteBack(
    targets: readonly Target[],
    formId: string,
    rule: WriteBackRule,
  ): Promise<{ id: string; status: string }[]> {
    const stores = targets.map(({ store }) => store);
    return wouldWriteBack(stores, formId, rule, this.#parts.clock.now());
  }

  #mirroring({ name, store }: Target): Mirroring {
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
      // No fields are selected: its runs report that.
      return null;
    }
  }
}

const UNPROVEN = 'The source gave no proof that it showed every submission.';

/** A run of each of these forms. */
export const visitsOf = (target: string, formIds: Iterable<string>): SyncJob[] =>
  [...formIds].map((formId) => ({ formId, target, counts: null, isComparison: false }));

/** A form in which a poll found no change. */
function settledReport(
  { target, stored, atMs, onStatuses }: SettledForm,
  endedAtMs: number,
): RunReport {
  const { state, notices } = stored;
  const { formId: id, slug, name, tally } = state;
  const agreement = { atMs, onStatuses, formIds: [id] };
  return {
    ...unopenedRun({ id, slug, name }, target, null, atMs, endedAtMs),
    outcome: 'ok',
    code: null,
    error: null,
    failure: null,
    accounted: sumOf(accounted(tally).values()),
    claim: claimWith(state, null, agreement),
    held: tally.held,
    notices,
  };
}

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
