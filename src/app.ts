import { randomUUID } from 'node:crypto';
import type { Clock } from './base/clock.ts';
import { describeForm } from './bridge/overview.ts';
import { openCopy, type StoreCopy } from './bridge/store-copy.ts';
import { type StoreRunOptions, StoreRuns } from './bridge/store-runs.ts';
import { MirrorError, toMirrorError } from './base/errors.ts';
import { Events } from './base/events.ts';
import { type Logger, withLogFields } from './base/logger.ts';
import type { Config } from './config.ts';
import { FormsClient, ListedForms } from './forms/client.ts';
import { orNull } from './forms/errors.ts';
import { failedMarkReport } from './bridge/reports.ts';
import { type ReadingSettings, readOverview, type TargetOverview } from './health/facts.ts';
import { FailureFiles, type FailureStore } from './health/failure-store.ts';
import { refilledText } from './health/form-health.ts';
import { remedyFor } from './health/problem.ts';
import { describeHealth } from './health/recorded-health.ts';
import { sheetLimitMinutes } from './health/staleness.ts';
import type { FieldPicks } from './mirror/picks.ts';
import type { Copy } from './mirror/target.ts';
import { fingerprint, keyFingerprint } from './mirror/cells.ts';
import type { Form, FormIdentity } from './mirror/types.ts';
import type { JobPlace, PassJob } from './queue/handlers.ts';
import { longestGapMs } from './settings/sync-settings.ts';
import type { TargetSettings } from './settings/target-settings.ts';
import { fieldsInAnswers } from './sync/answer-search.ts';
import type { MarkReport, PassReport, SyncEvents } from './sync/events.ts';

import type { PassIntervals } from './sync/patience.ts';
import { choosesForm } from './sync/form-choice.ts';
import type { LookReport } from './sync/look.ts';
import {
  type FormPlan,
  type MirrorPlan,
  Planner,
  type PlanningOptions,
  type PlanStatus,
} from './sync/planner.ts';
import { unopenedPass } from './sync/unopened-pass.ts';
import { upkeep } from './sync/upkeep.ts';

/** What the app gets from its process. */
export interface AppOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Options of a pass that a person starts; `waitMs` is 0 by default. */
export type PassOptions = StoreRunOptions;

/**
 * The parts put together, as the settings say: one client, and targets that are opened when first needed. Used by the
 * commands and, through {@link jobHandlers}, by the queue. Dispose to close what was opened.
 */
export class App implements AsyncDisposable {
  readonly config: Config;
  readonly events: Events<SyncEvents>;
  readonly logger: Logger;
  /** Failures that no target holds. */
  readonly failures: FailureStore;
  readonly #clock: Clock;
  readonly #targets = new Map<string, Promise<StoreCopy>>();
  readonly #planner: Planner;
  #client: FormsClient | undefined;
  #storeRuns: StoreRuns | undefined;
  #listed: ListedForms | undefined;

  constructor(config: Config, options: AppOptions) {
    this.config = config;
    this.logger = options.logger;
    this.#clock = options.clock;
    this.failures = new FailureFiles(config.dataDir);
    this.events = new Events((error) => this.logger.error({ err: error }, 'A listener failed.'));
    this.#planner = new Planner({
      targets: config.targets,
      listForms: (signal, options) => this.forms(signal, options),
      searchAnswers: (forms, ids, signal) => fieldsInAnswers(this.client, forms, ids, signal),
      openTarget: (name) => this.target(name),
      clock: options.clock,
      logger: options.logger,
    });
  }

  /** The source. Throws SETTINGS when none is set up. */
  get client(): FormsClient {
    this.#client ??= this.#createClient();
    return this.#client;
  }

  /** Compares a form with its copy in a target; `intervals`: how often runs are made, null: none is to be expected. */
  async startVerification(
    target: string,
    formId: string,
    intervals: PassIntervals | null,
    signal: AbortSignal,
  ): ReturnType<StoreRuns['startVerification']> {
    return this.#runs.startVerification(await this.#open(target), formId, intervals, signal);
  }

  /** An open target. Throws TARGET_… errors; the next call tries again. */
  target(name: string): Promise<Copy> {
    return this.#open(name);
  }

  #open(name: string): Promise<StoreCopy> {
    const open = this.#targets.get(name);
    if (open !== undefined) return open;
    const { address, history } = this.settingsOf(name);
    const gapMs = longestGapMs(this.config.schedule, this.#clock.now());
    const describe = describeForm(describeHealth(name, sheetLimitMinutes(gapMs)));
    const google = { ...this.config.google, proxy: this.config.proxy, describe };
    const opening = openCopy(name, address, { clock: this.#clock, google, history });
    this.#targets.set(name, opening);
    opening.catch(() => this.#targets.delete(name));
    return opening;
  }

  /** The settings of a target. Throws USAGE for a name that the settings do not know. */
  settingsOf(name: string): TargetSettings {
    const settings = this.config.targets.find((target) => target.name === name);
    if (settings !== undefined) return settings;
    const names = this.config.targets.map((target) => target.name).join(', ');
    throw new MirrorError('USAGE', `There is no target ${name}. The settings name: ${names}.`);
  }

  /** The same, with each form by its ID where it is known which one its slug means (L11). */
  #settingsById(name: string): TargetSettings {
    return this.#planner.slugs.settingsById(this.settingsOf(name));
  }

  /** The fields that may leave the source for a target (L11). Throws SETTINGS when none are picked. */
  picksOf(name: string): FieldPicks {
    const { picks, variables } = this.#settingsById(name);
    if (picks !== undefined) return picks;
    const remedy = 'forms-mirror forms <form> lists the fields of a form';
    throw new MirrorError('SETTINGS', `${variables.fields} is missing: ${remedy}.`);
  }

  /** Asks a target which forms the slugs in its settings mean, before {@link isChosen} and {@link picksOf}. Rejects as the target does. */
  readSlugs(name: string): Promise<void> {
    return this.#planner.slugs.load(name);
  }

  /** SLUG_REUSED where the slug of a form means another one in the settings of a target, as far as is known; null otherwise. */
  slugProblem(target: string, form: FormIdentity): MirrorError | null {
    return this.#planner.slugs.problemOf(target, form);
  }

  /** What a target records, read under these settings. Rejects as the target does. */
  async overview(name: string): Promise<TargetOverview> {
    const target = await this.target(name);
    await this.readSlugs(name);
    return readOverview(target, this.readingOf(name));
  }

  /** How what a target records is read under these settings. */
  readingOf(name: string): ReadingSettings {
    const { hashKey, marking } = this.config;
    const { picks } = this.#settingsById(name);
    const isChosen = (form: FormIdentity): boolean => this.isChosen(name, form);
    const refills = (address: string): Promise<ReadonlyMap<string, string>> =>
      this.failures.refills(name, address).catch(() => new Map());
    const storing = picks && { picks, hashKey };
    return { marks: marking !== undefined, storing, isChosen, refills };
  }

  /**
   * Whether the settings choose a form for a target, or name it by a slug that means another one: that is told of it. False for
   * a target that they do not name.
   */
  isChosen(target: string, form: Pick<FormIdentity, 'id' | 'slug'>): boolean {
    if (!this.config.targets.some(({ name }) => name === target)) return false;
    return this.#isReused(target, form) || choosesForm(this.#settingsById(target).forms, form);
  }

  #isReused(target: string, form: Pick<FormIdentity, 'id' | 'slug'>): boolean {
    return this.#planner.slugs.reusedFrom(target, form) !== null;
  }

  /** Every form of the workspace, or, `inTurn`, as {@link ListedForms} has it. That it could not be listed is kept until it can. */
  async forms(signal: AbortSignal, { inTurn = false } = {}): Promise<Form[]> {
    this.#listed ??= new ListedForms(this.client);
    const listed = this.#listed;
    try {
      const forms = await (inTurn ? listed.inTurn({ signal }) : listed.all({ signal }));
      await this.#keep(this.failures.noteSource(null, this.#clock.now()));
      return forms;
    } catch (error) {
      await this.#keep(this.failures.noteSource(toMirrorError(error), this.#clock.now()));
      throw error;
    }
  }

  /** Decides which forms go into which targets now; see {@link Planner.plan}. Names that match nothing are kept, for `status`. */
  async plan(signal: AbortSignal, options: PlanningOptions = {}): Promise<MirrorPlan> {
    const plan = await this.#planner.plan(signal, options);
    await this.#keep(this.failures.noteUnmatched(plan.unmatched));
    await this.#forgetReuse();
    return plan;
  }

  /** A slug that belongs to its form again, or to no other one any more, has no pass that could say so. */
  async #forgetReuse(): Promise<void> {
    const kept = await this.failures.read().catch(() => undefined);
    for (const { target, form, last } of kept?.passes ?? []) {
      if (last.code !== 'SLUG_REUSED') continue;
      const now = this.planned.plan?.forms.find((plan) => plan.form.id === form.id);
      if (now?.targets.includes(target)) continue;
      await this.#keep(this.failures.notePass({ ...last, target, form, outcome: 'ok' }));
    }
  }

  /**
   * One poll of planned forms: asks the workspace as a whole, and finds which forms of which targets need a run. The
   * others are reported like runs that found nothing new. Rejects with CANCELLED, and with FORMS_UNAUTHORIZED.
   */
  async look(
    forms: readonly FormPlan[],
    signal: AbortSignal,
    { dryRun = false } = {},
  ): Promise<LookReport> {
    const names = [...new Set(forms.flatMap(({ targets }) => targets))];
    const copies: StoreCopy[] = [];
    const visited: string[] = [];
    for (const name of names) {
      const copy = dryRun ? null : await this.#open(name).catch(() => null);
      if (copy === null) visited.push(name);
      else copies.push(copy);
    }
    const report = await this.#runs.poll(forms, copies, signal);
    if (!dryRun) await this.#noteSettled(report.settled);
    // Of one that cannot be opened each form is visited, so that each run says why; a dry run compares everything.
    const more = (plan: FormPlan) =>
      visited
        .filter((name) => plan.targets.includes(name))
        .map((target) => ({ target, compareCounts: true }));
    const all = report.forms.map((plan) =>
      Object.assign({}, plan, { visits: [...plan.visits, ...more(plan)] }),
    );
    return { ...report, forms: all };
  }

  /** What a pass leaves behind that found nothing new: no failure kept of the form, and nothing erased in the files. */
  async #noteSettled(settled: readonly PassReport[]): Promise<void> {
    const kept = await this.failures.read().catch(() => undefined);
    for (const { target, form } of kept?.passes ?? []) {
      const same = settled.find((one) => one.target === target && one.form.id === form.id);
      if (same !== undefined) await this.#keep(this.failures.notePass(same));
    }
    for (const [first] of Map.groupBy(settled, ({ target }) => target).values()) {
      if (first !== undefined) await this.#scrub(first);
    }
  }

  /**
   * Whether the settings have a form mirrored into a target, or, for null, into any. Plans again where the last plan, which
   * may be older than the form, does not say so. Rejects as {@link plan} does.
   */
  async isPlanned({ formId, target }: JobPlace, signal: AbortSignal): Promise<boolean> {
    const names = ({ plan }: Pick<PlanStatus, 'plan'>): boolean =>
      plan?.forms.some(
        ({ form, targets }) =>
          form.id === formId && (target === null ? targets.length > 0 : targets.includes(target)),
      ) ?? false;
    const { planned } = this;
    if (names(planned)) return true;
    const ageMs = this.#clock.now() - Date.parse(planned.at ?? '');
    if (ageMs < FRESH_PLAN_MS) return false;
    return names({ plan: await this.plan(signal) });
  }

  /** What this process planned last. */
  get planned(): PlanStatus {
    return this.#planner.status;
  }

  /** One pass, now. Throws SETTINGS; every other failure is an outcome, and kept until a newer pass succeeds. */
  async pass(job: PassJob, signal: AbortSignal, options: PassOptions = {}): Promise<PassReport> {
    const { formId, target } = job;
    const report = await this.#run(job, signal, options);
    if (report.outcome === 'gone') this.#planner.dropGone(target, formId);
    if (options.dryRun === true) return report;
    await this.#keep(this.failures.notePass(report));
    await this.#keep(this.#noteCopy(report));
    if (report.outcome === 'paused') return report;
    if (report.failure?.code.startsWith('TARGET_') !== true) await this.#scrub(report);
    return report;
  }

  /** Keeps in DATA_DIR which target holds which forms, and says so where one that held a form was found empty. */
  async #noteCopy({ form, target, outcome, wasEmpty = false }: PassReport): Promise<void> {
    const isHeld = outcome === 'ok' || outcome === 'withheld';
    if (!isHeld && !wasEmpty) return;
    const { address } = await this.target(target);
    const nowMs = this.#clock.now();
    const seen = { target, address, formId: form.id, wasEmpty, isHeld };
    if (!(await this.failures.noteCopy(seen, nowMs))) return;
    const about = { form: form.id, slug: form.slug, target, code: 'COPY_REFILLED' };
    const text = refilledText(form, target, new Date(nowMs).toISOString());
    this.logger.warn(about, `${text} ${remedyFor('COPY_REFILLED')}`);
  }

  /** Takes out of the files of a target what a pass replaced there, or an erasure that died before its end. Never rejects. */
  async #scrub({ form, target: name }: PassReport): Promise<void> {
    try {
      await (await this.target(name)).scrub();
    } catch (error) {
      const about = { target: name, form: form.id, err: error };
      this.logger.warn(
        about,
        'Erased data may still be in files of the target. The next pass tries again.',
      );
    }
  }

  /** See {@link upkeep}: after a full pass or comparison. Never rejects. */
  async upkeep({ form, target, outcome }: PassReport, signal: AbortSignal): Promise<void> {
    const { config, logger } = this;
    const open = (): Promise<Copy> => this.target(target);
    await upkeep(
      { logger, ages: config, nowMs: this.#clock.now(), signal },
      { form, target, outcome, open },
    );
  }

  /**
   * Marks a form, when marking is on, the form is there and a target mirrors it; asks every target that mirrors it (L7). What goes wrong is in
   * the report.
   */
  async mark(
    formId: string,
    signal: AbortSignal,
    options: { dryRun?: boolean; waitMs?: number } = {},
  ): Promise<MarkReport | undefined> {
    const { marking } = this.config;
    if (marking === undefined) return undefined;
    let form: FormIdentity = { id: formId, slug: formId, name: formId };
    try {
      const found = await orNull(this.client.getForm(formId, { signal }));
      if (found === null) return undefined;
      form = { id: found.id, slug: found.slug, name: found.name };
      const named = this.config.targets.filter(({ forms }) => forms !== '*');
      for (const { name } of named) await this.readSlugs(name);
      const chosen = this.config.targets.filter(
        ({ name }) => this.isChosen(name, found) && !this.#isReused(name, found),
      );
      // Nothing of it is mirrored: there is nothing to mark, and no marking to report as done.
      if (chosen.length === 0) return undefined;
      const copies = await Promise.all(chosen.map(({ name }) => this.#open(name)));
      const rule = { from: marking.from, to: marking.status };
      return await this.#runs.writeBack(copies, form, rule, options, signal);
    } catch (error) {
      const report = failedMarkReport(form, toMirrorError(error));
      if (!options.dryRun) this.events.emit('mark.ended', report);
      return report;
    }
  }

  /** Closes what was opened; a target that cannot be closed holds up no other. */
  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#targets.values());
    const targets = opened.filter((target) => target.status === 'fulfilled');
    await Promise.allSettled([
      ...targets.map(({ value }) => value[Symbol.asyncDispose]()),
      this.#client?.[Symbol.asyncDispose](),
    ]);
  }

  async #run(job: PassJob, signal: AbortSignal, options: PassOptions): Promise<PassReport> {
    const { formId, kind, target: name } = job;
    const form = this.#identityOf(formId);
    let target: StoreCopy;
    try {
      target = await this.#open(name);
      await this.readSlugs(name);
    } catch (error) {
      const passId = randomUUID();
      const subject = { form, target: name, kind, passId };
      const report = unopenedPass(subject, error, this.#clock.now());
      withLogFields({ passId }, () => this.events.emit('pass.ended', report));
      return report;
    }
    return this.#runs.run(target, form, job, options, signal);
  }

  /** As last planned; the ID stands for slug and name before. */
  #identityOf(formId: string): FormIdentity {
    const planned = this.planned.plan?.forms.find(({ form }) => form.id === formId);
    return planned?.form ?? { id: formId, slug: formId, name: formId };
  }

  /** Waits until a failure is kept; when it cannot be, that is logged. Never rejects. */
  async #keep(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      const where = this.config.dataDir;
      this.logger.warn(
        { err: error },
        `What failed cannot be kept in DATA_DIR (${where}): status will not know of it. Make the folder writable.`,
      );
    }
  }

  /** Runs of the new core. Throws SETTINGS when no source is set up. */
  get #runs(): StoreRuns {
    this.#storeRuns ??= this.#createRuns();
    return this.#storeRuns;
  }

  #createRuns(): StoreRuns {
    const { source, maxDeleteFraction, marking, hashKey } = this.config;
    const named = source === undefined ? [] : [source.url, keyFingerprint(source.key)];
    return new StoreRuns({
      client: this.client,
      concurrency: source?.concurrency ?? 1,
      sourceName: fingerprint(named),
      clock: this.#clock,
      logger: this.logger,
      events: this.events,
      maxDeleteFraction,
      rule: marking === undefined ? null : { from: marking.from, to: marking.status },
      requireNames: (target, form, signal, keep) =>
        this.#planner.requireNames(target, form, signal, keep),
      joiningOf: (target) => ({ picks: this.picksOf(target), hashKey }),
      listedForms: (signal) => this.#planner.listedForms(signal),
    });
  }

  #createClient(): FormsClient {
    const { source, proxy } = this.config;
    if (source === undefined) {
      throw new MirrorError('SETTINGS', 'FORMS_API_URL and FORMS_API_KEY are not set.');
    }
    return new FormsClient({
      baseUrl: source.url,
      apiKey: source.key,
      auth: source.auth,
      concurrency: source.concurrency,
      perMinute: source.perMinute,
      onRate: (notice) => this.events.emit('forms.rate', notice),
      proxy,
      clock: this.#clock,
      onRetry: (notice) => this.events.emit('forms.retry', notice),
      onSilence: (notice) => this.events.emit('forms.silent', notice),
      onSettled: (request) => this.events.emit('forms.settled', request),
      onSent: (sent) => this.events.emit('forms.sent', sent),
    });
  }
}

/** A plan of this age shows every form that a job can be about: jobs that nobody planned must not have us ask on and on. */
const FRESH_PLAN_MS = 1_000;
