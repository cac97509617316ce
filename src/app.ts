import { randomUUID } from 'node:crypto';
import type { Clock } from './base/clock.ts';
import { MirrorError, safeText, toMirrorError } from './base/errors.ts';
import { Events } from './base/events.ts';
import { type Logger, withLogFields } from './base/logger.ts';
import { PROBLEMS } from './base/catalogue.ts';
import type { Config } from './settings/config.ts';
import { FormsHttp } from './forms/http.ts';
import { ListedForms } from './forms/listed-forms.ts';
import { Source } from './forms/source.ts';
import { DataDir } from './health/data-dir.ts';
import { type TargetContent, readTarget } from './health/facts.ts';
import { refilledText } from './health/judge-form.ts';
import { describeForm } from './health/mirror-words.ts';
import { fingerprint, keyFingerprint } from './mirror/cells.ts';
import type { Form, FormIdentity } from './mirror/types.ts';
import { longestGapMs } from './queue/schedule.ts';
import type { TargetSettings } from './settings/target-settings.ts';
import type { SyncEvents } from './sync/events.ts';
import { type MirrorPlan, type Place, Planner, type PlanningOptions } from './sync/planner.ts';
import { dryRun } from './sync/dry-run.ts';
import { poll, type PollReport, type SyncJob } from './sync/poll.ts';
import { upkeep, upkeepWithoutRuns } from './sync/purge.ts';
import { blankRun, runForm, type RunReport } from './sync/run-form.ts';
import type { Mirror, Target, Waiting } from './sync/target.ts';
import { writeBack, writeBackReport, type WriteBackReport } from './sync/write-back.ts';
import type { RunOptions } from './sync/work.ts';

/** A form in a target. */
type RunPlace = Pick<SyncJob, 'formId' | 'target'>;

/**
 * The parts of the program, assembled from the settings: the source, and targets that are opened when first needed. For commands
 * and, through `src/cli/service.ts`, for the queue. Dispose closes the opened parts.
 */
export class App implements AsyncDisposable {
  readonly config: Config;
  readonly events: Events<SyncEvents>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly dataDir: DataDir;
  /** Decides which forms go into which targets; see {@link plan}. */
  readonly planner: Planner;
  readonly #targets = new Map<string, Promise<Target>>();
  readonly #listed = new ListedForms();
  readonly #mirror: Mirror;
  #http: FormsHttp | undefined;

  constructor(config: Config, { clock, logger }: Pick<Mirror, 'clock' | 'logger'>) {
    [this.config, this.clock, this.logger] = [config, clock, logger];
    this.dataDir = new DataDir(config.dataDir);
    this.events = new Events((error) => this.logger.error({ err: error }, 'A listener failed.'));
    const { source, maxDeleteFraction, compareEveryMs } = config;
    this.#mirror = {
      connect: (signal) => this.source(signal),
      clock,
      logger,
      sourceName: fingerprint(
        source === undefined ? [] : [source.baseUrl, keyFingerprint(source.apiKey)],
      ),
      maxDeleteFraction,
      compareEveryMs,
    };
    this.planner = new Planner({
      targets: config.targets,
      listForms: (signal, options) => this.forms(signal, options),
      openTarget: (name) => this.target(name),
      clock,
      logger,
    });
  }

  /** The source for one command or run. Throws SETTINGS if none is configured. */
  source(signal: AbortSignal): Source {
    const { events, clock } = this;
    const { source, proxy } = this.config;
    if (source === undefined)
      throw new MirrorError('SETTINGS', 'FORMS_API_URL and FORMS_API_KEY are not set.');
    this.#http ??= new FormsHttp({ ...source, proxy, clock, events });
    return new Source(this.#http, signal);
  }

  get targetNames(): readonly string[] {
    return this.config.targets.map(({ name }) => name);
  }

  /** The targets that a person means: one, or all. Throws USAGE for a name that is not in the settings. */
  namesOf(only: string | null | undefined): readonly string[] {
    return only === null || only === undefined ? this.targetNames : [this.settingsOf(only).name];
  }

  /** An open target. Throws TARGET_… errors; the next call tries again. */
  target(name: string): Promise<Target> {
    const open = this.#targets.get(name);
    if (open !== undefined) return open;
    const opening = this.#open(name);
    this.#targets.set(name, opening);
    opening.catch(() => this.#targets.delete(name));
    return opening;
  }

  async #open(name: string): Promise<Target> {
    const settings = this.settingsOf(name);
    const { address, history } = settings;
    const { google: access, proxy, schedule, hashKey } = this.config;
    const { planner } = this;
    const isChosen: Target['isChosen'] = (form) => planner.isChosen(name, form);
    const describe = describeForm(name, longestGapMs(schedule, this.clock.now()), isChosen);
    const google = { ...access, proxy, describe };
    const onBilled = (bytes: number): void =>
      this.events.emit('target.billed', { target: name, bytes });
    const store = await address.open(name, { clock: this.clock, google, history, onBilled });
    const target: Target = {
      ...this.#mirror,
      name,
      store,
      get joining() {
        const { selection } = planner.settingsById(settings);
        return selection && { selection, hashKey };
      },
      isChosen,
      async admit(form, signal, keep) {
        await planner.requireNames(settings, form, signal, keep);
        if (target.joining !== undefined) return target.joining;
        const remedy = 'forms-mirror forms <form> lists the fields of a form';
        throw new MirrorError('SETTINGS', `${settings.variables.fields} is missing: ${remedy}.`);
      },
    };
    return target;
  }

  /** The settings of a target. Throws USAGE for a name that is not in the settings. */
  settingsOf(name: string): TargetSettings {
    const settings = this.config.targets.find((target) => target.name === name);
    if (settings !== undefined) return settings;
    const names = this.targetNames.join(', ');
    throw new MirrorError('USAGE', `There is no target ${name}. The settings name: ${names}.`);
  }

  /** An open target, with the forms that its settings mean. Rejects as the target does. */
  async chosen(name: string): Promise<Target> {
    const target = await this.target(name);
    await this.planner.read(name);
    return target;
  }

  /** The content of a target for the judgment, under these settings. Rejects as the target does. */
  async content(name: string): Promise<TargetContent> {
    const target = await this.chosen(name);
    const refills = await this.dataDir.refills(name, this.#addressOf(name)).catch(() => new Map());
    return readTarget(target, this.config.rule !== null, refills);
  }

  /** Every form of the workspace, or `inTurn` as in {@link ListedForms}. Records a failure to list them until it succeeds. */
  async forms(signal: AbortSignal, { inTurn = false } = {}): Promise<readonly Form[]> {
    const source = this.source(signal);
    try {
      const forms = await (inTurn ? this.#listed.inTurn(source) : this.#listed.all(source));
      await this.#keep(this.dataDir.noteSource(null, this.clock.now()));
      return forms;
    } catch (error) {
      await this.#keep(this.dataDir.noteSource(toMirrorError(error), this.clock.now()));
      throw error;
    }
  }

  /** Decides which forms go into which targets now; see {@link Planner.plan}. */
  async plan(signal: AbortSignal, options: PlanningOptions = {}): Promise<MirrorPlan> {
    const plan = await this.planner.plan(signal, options);
    await this.#forgetReuse(plan);
    return plan;
  }

  /** Clears SLUG_REUSED, because no run reports that a slug belongs to its form again, or no longer to another one. */
  async #forgetReuse({ places }: MirrorPlan): Promise<void> {
    const kept = await this.dataDir.kept().catch(() => undefined);
    for (const { target, address, form, code } of kept?.runs ?? []) {
      if (code !== 'SLUG_REUSED') continue;
      if (!places.some((place) => place.form.id === form.id && place.target === target))
        await this.#keep(this.dataDir.runs.remove([target, address, form.id]));
    }
  }

  /**
   * One poll: asks the workspace as a whole, and finds which forms of which targets need a run. Rejects with CANCELLED, and with
   * FORMS_UNAUTHORIZED.
   */
  async poll(places: readonly Place[], signal: AbortSignal): Promise<PollReport> {
    const plan = { places, listed: this.planner.planned?.listed ?? [] };
    const open = (name: string): Promise<Target> => this.target(name);
    const report = await poll(this.#mirror, plan, open, this.config.rule, signal);
    const noted = report.unchanged.map((run) =>
      this.dataDir.noteRun(run, this.#addressOf(run.target)),
    );
    await this.#keep(Promise.all(noted));
    return report;
  }

  /**
   * One run, now. Every failure is an outcome, and is recorded until a newer run succeeds. Every line that it logs has the ID of
   * this run.
   */
  run(place: RunPlace, options: RunOptions, signal: AbortSignal): Promise<RunReport> {
    return withLogFields({ runId: randomUUID() }, async () => {
      let wasEmpty = false;
      const onEmpty = async (form: FormIdentity): Promise<void> => {
        wasEmpty = true;
        await this.#keep(this.#noteLoss(form, place.target));
      };
      const report = await this.#run(place, signal, (target, form) =>
        runForm(target, form, { ...options, onEmpty }, signal),
      );
      if (report.outcome === 'gone' || wasEmpty) this.planner.expire(report.target);
      if (report.code === 'USAGE') {
        // Anyone with access to the queue can add a job. A run that the settings do not ask for is not a problem of a form.
        this.logger.warn({ target: report.target }, `A run is refused: ${report.error}`);
        return report;
      }
      const address = this.#addressOf(report.target);
      await this.#keep(this.dataDir.noteRun(report, address));
      await this.#keep(this.dataDir.noteCopy(report, address));
      if (options.isComparison === true || options.isFull === true) {
        const target = await this.target(place.target).catch(() => null);
        if (target !== null) await upkeep(target, report, this.config, signal);
      }
      return report;
    });
  }

  /** See {@link upkeepWithoutRuns}. Never rejects: health reports a target that does not answer. */
  async upkeepWithoutRuns(names: readonly string[], signal: AbortSignal): Promise<void> {
    const { purgeDeletedAfterMs, purgeHistoryAfterMs } = this.config;
    if (purgeDeletedAfterMs === undefined && purgeHistoryAfterMs === undefined) return;
    const each = async (name: string): Promise<void> =>
      upkeepWithoutRuns(await this.chosen(name), this.config, signal);
    await Promise.allSettled(names.map(each));
  }

  /** Predicts what a run would do, and how it would end. Writes nothing. */
  dryRun(place: RunPlace, options: RunOptions, signal: AbortSignal): Promise<RunReport> {
    return this.#run(place, signal, (target, { id }) => dryRun(target, id, options, signal));
  }

  async #run(
    { formId, target }: RunPlace,
    signal: AbortSignal,
    work: (target: Target, form: FormIdentity) => Promise<RunReport>,
  ): Promise<RunReport> {
    const { clock, events } = this;
    const planned = this.planner.planned?.places.find(({ form }) => form.id === formId);
    const form = planned?.form ?? { id: formId, slug: formId, name: formId };
    const startedAtMs = clock.now();
    let report: RunReport;
    try {
      const opened = await this.target(target);
      await this.#requireForm(formId, target, signal);
      report = await work(opened, form);
    } catch (error) {
      report = blankRun(form, target, toMirrorError(error), startedAtMs, clock.now());
    }
    if (report.code !== 'USAGE') events.emit('run.ended', report);
    return report;
  }

  /** Throws USAGE for a form that neither the last plan, the target nor the source has. */
  async #requireForm(formId: string, target: string, signal: AbortSignal): Promise<void> {
    if (this.planner.planned?.places.some(({ form }) => form.id === formId) === true) return;
    const { forms } = await this.planner.read(target);
    if (forms.some(({ id }) => id === formId)) return;
    if ((await this.source(signal).formOrNull(formId)) !== null) return;
    throw new MirrorError('USAGE', `There is no form ${safeText(formId, 100)}.`);
  }

  #addressOf(target: string): string {
    return this.settingsOf(target).address.shown;
  }

  /** Records in DATA_DIR, and logs, that a target no longer has a form that it had. */
  async #noteLoss(form: FormIdentity, target: string): Promise<void> {
    const nowMs = this.clock.now();
    if (!(await this.dataDir.noteLoss(target, this.#addressOf(target), form.id, nowMs))) return;
    const about = { form: form.id, slug: form.slug, target, code: 'COPY_REFILLED' };
    const text = refilledText(form, target, nowMs);
    this.logger.warn(about, `${text} ${PROBLEMS.COPY_REFILLED.remedy}`);
  }

  /** Writes back a form, see {@link writeBack}; undefined if write-back is off, or nothing of the form is mirrored. Failures are in the report. */
  async writeBack(
    formId: string,
    waiting: Waiting,
    isAwaited?: () => Promise<boolean>,
  ): Promise<WriteBackReport | undefined> {
    const { rule } = this.config;
    if (rule === null) return undefined;
    let form: FormIdentity = { id: formId, slug: formId, name: formId };
    let report: WriteBackReport;
    try {
      const found = await this.source(waiting.signal).formOrNull(formId);
      if (found === null) return undefined;
      form = { id: found.id, slug: found.slug, name: found.name };
      const open = await Promise.all(this.targetNames.map((name) => this.chosen(name)));
      const targets = open.filter(({ name }) => this.planner.refusal(name, form) === null);
      if (targets.length === 0) return undefined;
      report = await writeBack(this.#mirror, targets, form, rule, waiting, isAwaited);
    } catch (error) {
      report = writeBackReport(form, toMirrorError(error));
    }
    if (report.outcome !== 'paused') this.events.emit('write-back.ended', report);
    return report;
  }

  /** Closes the opened targets and connections. A target that cannot be closed delays no other. */
  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#targets.values());
    const targets = opened.filter((target) => target.status === 'fulfilled');
    await Promise.allSettled([
      ...targets.map(({ value }) => value.store[Symbol.asyncDispose]()),
      this.#http?.[Symbol.asyncDispose](),
    ]);
  }

  /** Waits until something is recorded, and logs if that fails. Never rejects. */
  async #keep(writing: Promise<unknown>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      const where = this.config.dataDir;
      const text = `Failures cannot be recorded in DATA_DIR (${where}), so status will not show them. Make the folder writable, and make sure that its disk has room.`;
      this.logger.warn({ err: error }, text);
    }
  }
}
