import type { Clock } from './base/clock.ts';
import { MirrorError, isAbort, toMirrorError } from './base/errors.ts';
import { Events } from './base/events.ts';
import type { Logger } from './base/logger.ts';
import type { Config } from './config.ts';
import { FormsClient } from './forms/client.ts';
import type { FieldPicks } from './mirror/picks.ts';
import type { Target } from './mirror/target.ts';
import type { Form, FormIdentity } from './mirror/types.ts';
import type { MirrorWork, PassOrder } from './queue/work.ts';
import { longestGapMs } from './settings/schedule-times.ts';
import type { TargetSettings } from './settings/target-settings.ts';
import type { SyncContext } from './sync/context.ts';
import type { PassReport, SyncEvents } from './sync/events.ts';
import { LabelCache } from './sync/label-cache.ts';
import { type MarkReport, markForm } from './sync/mark.ts';
import { choosesForm, unknownForms } from './sync/planned-forms.ts';
import { runPass } from './sync/run-pass.ts';
import { openTarget } from './targets/open-target.ts';

const LEAST_ALARM_MINUTES = 45;

/** What the parts are put together with. */
export interface AppOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A form and the targets that mirror it, by name. */
export interface FormPlan {
  readonly form: FormIdentity;
  readonly targets: readonly string[];
}

/** Which forms go into which targets. */
export interface MirrorPlan {
  readonly forms: readonly FormPlan[];
  /** What TARGET_FORMS names and no form has: typing errors, or forms that were gone before we first looked. */
  readonly unknown: readonly { readonly variable: string; readonly name: string }[];
}

/** What this process last planned. */
export interface PlanMemory {
  /** The last plan that succeeded, and when (ISO); null: none yet. */
  readonly plan: MirrorPlan | null;
  readonly at: string | null;
  /** Why the last try failed; null when it did not. */
  readonly problem: { readonly error: MirrorError; readonly at: string } | null;
}

/** What a pass by hand may ask for besides. */
export interface PassWishes {
  readonly acceptDeletes?: boolean;
  readonly restoreColumns?: boolean;
  readonly dryRun?: boolean;
  /** How long to wait for another pass over the same form; default 0. */
  readonly waitMs?: number;
}

/**
 * The parts put together, as the settings say: one client, and targets that are opened when first needed. Used by the
 * commands and, through {@link mirrorWork}, by the queue. Dispose to close what was opened.
 */
export class App implements AsyncDisposable {
  readonly config: Config;
  readonly events: Events<SyncEvents>;
  readonly logger: Logger;
  readonly #clock: Clock;
  readonly #targets = new Map<string, Promise<Target>>();
  #context: SyncContext | undefined;
  #planned: PlanMemory = { plan: null, at: null, problem: null };
  /** Forms that a target holds or held: when one is no longer listed, a pass has to find out why. */
  readonly #mirrored = new Map<string, Map<string, FormIdentity>>();

  constructor(config: Config, options: AppOptions) {
    this.config = config;
    this.logger = options.logger;
    this.#clock = options.clock;
    this.events = new Events((error) => this.logger.error({ err: error }, 'A listener failed.'));
  }

  /** What passes share. Throws SETTINGS when no source is set up. */
  get context(): SyncContext {
    this.#context ??= this.#createContext();
    return this.#context;
  }

  /** An open target. Throws TARGET_… errors; the next call tries again. */
  target(name: string): Promise<Target> {
    const open = this.#targets.get(name);
    if (open !== undefined) return open;
    const { url } = this.settingsOf(name);
    const google = { ...this.config.google, alarmMinutes: this.#alarmMinutes() };
    const opening = openTarget(name, url, { clock: this.#clock, google });
    this.#targets.set(name, opening);
    opening.catch(() => this.#targets.delete(name));
    return opening;
  }

  /** The settings of a target. Throws USAGE for a name there is none of. */
  settingsOf(name: string): TargetSettings {
    const settings = this.config.targets.find((target) => target.name === name);
    if (settings !== undefined) return settings;
    const names = this.config.targets.map((target) => target.name).join(', ');
    throw new MirrorError('USAGE', `There is no target ${name}. The settings name: ${names}.`);
  }

  /** The fields that may leave the source for a target (L11). Throws SETTINGS when none are picked. */
  picksOf(name: string): FieldPicks {
    const { picks, variables } = this.settingsOf(name);
    if (picks !== undefined) return picks;
    const remedy = 'forms-mirror fields lists what there is';
    throw new MirrorError('SETTINGS', `${variables.fields} is missing: ${remedy}.`);
  }

  /** Every form of the workspace. */
  forms(signal: AbortSignal): Promise<Form[]> {
    return this.context.client.listForms({ signal });
  }

  /**
   * Which forms go into which targets now. A form that was mirrored and is no longer listed stays in the plan until a
   * pass has found it gone (L8), so that a person is told. `patient`: waits until each target has said what it holds;
   * otherwise that is looked up meanwhile, for the next plan, and no target can hold this one up (L12).
   */
  async plan(signal: AbortSignal, options: { patient?: boolean } = {}): Promise<MirrorPlan> {
    const at = (): string => new Date(this.#clock.now()).toISOString();
    try {
      const plan = await this.#plan(signal, options.patient ?? false);
      this.#planned = { plan, at: at(), problem: null };
      return plan;
    } catch (error) {
      if (!isAbort(error)) {
        this.#planned = { ...this.#planned, problem: { error: toMirrorError(error), at: at() } };
      }
      throw error;
    }
  }

  /** What became of the plans until now. */
  get planned(): PlanMemory {
    return this.#planned;
  }

  async #plan(signal: AbortSignal, patient: boolean): Promise<MirrorPlan> {
    const { targets } = this.config;
    const listed = await this.forms(signal);
    const lookups = targets.map(({ name }) => this.#lookUpMirrored(name));
    if (patient) await Promise.all(lookups);
    const plans = new Map<string, { form: FormIdentity; targets: string[] }>();
    const unknown: { variable: string; name: string }[] = [];
    for (const { name: target, forms, variables } of targets) {
      const mirrored = this.#mirrored.get(target) ?? new Map<string, FormIdentity>();
      const here = new Map([...mirrored, ...listed.map((form) => [form.id, form] as const)]);
      for (const { id, slug, name } of here.values()) {
        if (!choosesForm(forms, { id, slug })) continue;
        const plan = plans.get(id) ?? { form: { id, slug, name }, targets: [] };
        plan.targets.push(target);
        plans.set(id, plan);
        mirrored.set(id, plan.form);
      }
      const strangers = unknownForms(forms, [...here.values()]);
      unknown.push(...strangers.map((name) => ({ variable: variables.forms, name })));
    }
    return { forms: [...plans.values()], unknown };
  }

  /** One pass, now. Throws SETTINGS, and TARGET_… when the target cannot be opened; every other failure is an outcome. */
  async pass(order: PassOrder, signal: AbortSignal, wishes: PassWishes = {}): Promise<PassReport> {
    const picks = this.picksOf(order.target);
    const target = await this.target(order.target);
    const { hashKey } = this.config;
    const request = {
      waitMs: 0,
      ...wishes,
      formId: order.formId,
      kind: order.kind,
      picks,
      hashKey,
    };
    const report = await runPass(this.context, target, request, signal);
    if (report.outcome === 'gone') this.#mirrored.get(order.target)?.delete(order.formId);
    return report;
  }

  /** Marks a form, when marking is on and the form is there; asks every target that mirrors it (L7). */
  async mark(
    formId: string,
    signal: AbortSignal,
    options: { dryRun?: boolean } = {},
  ): Promise<MarkReport | undefined> {
    const { marking } = this.config;
    if (marking === undefined) return undefined;
    const form = await this.#formOrNull(formId, signal);
    if (form === null) return undefined;
    const chosen = this.config.targets.filter(({ forms }) => choosesForm(forms, form));
    const targets = await Promise.all(chosen.map(({ name }) => this.target(name)));
    const request = { formId, markStatus: marking.status, markFrom: marking.from, ...options };
    return markForm(this.context, targets, request, signal);
  }

  /** Closes what was opened; a target that cannot be closed holds up no other. */
  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#targets.values());
    const targets = opened.filter((target) => target.status === 'fulfilled');
    await Promise.allSettled([
      ...targets.map(({ value }) => value[Symbol.asyncDispose]()),
      this.#context?.client[Symbol.asyncDispose](),
    ]);
  }

  /** How long a sheet may show no news before its health cell turns red: three passes missed, but not at each hiccup. */
  #alarmMinutes(): number {
    const gapMs = longestGapMs(this.config.schedule, this.#clock.now());
    return Math.max(LEAST_ALARM_MINUTES, Math.ceil((3 * gapMs) / 60_000));
  }

  #createContext(): SyncContext {
    const { source, maxDeleteFraction } = this.config;
    if (source === undefined) {
      throw new MirrorError('SETTINGS', 'FORMS_API_URL and FORMS_API_KEY are not set.');
    }
    const client = new FormsClient({
      baseUrl: source.url,
      apiKey: source.key,
      auth: source.auth,
      concurrency: source.concurrency,
      clock: this.#clock,
      onRetry: (notice) => this.events.emit('forms.retry', notice),
    });
    return {
      client,
      labels: new LabelCache(client, this.#clock),
      clock: this.#clock,
      logger: this.logger,
      events: this.events,
      maxDeleteFraction,
      readAhead: source.concurrency,
    };
  }

  async #formOrNull(formId: string, signal: AbortSignal): Promise<Form | null> {
    try {
      return await this.context.labels.form(formId, { fresh: false, call: { signal } });
    } catch (error) {
      if (error instanceof MirrorError && error.code === 'FORMS_NOT_FOUND') return null;
      throw error;
    }
  }

  /** Asks a target once which forms it holds; one that does not answer is asked again for the next plan. Never rejects. */
  async #lookUpMirrored(name: string): Promise<void> {
    if (this.#mirrored.has(name)) return;
    try {
      const target = await this.target(name);
      const forms = (await target.overview()).filter(({ goneAt }) => goneAt === null);
      const known = forms.map(({ formId: id, slug, name }) => [id, { id, slug, name }] as const);
      this.#mirrored.set(name, new Map([...known, ...(this.#mirrored.get(name) ?? [])]));
    } catch (error) {
      this.logger.debug({ target: name, err: error }, 'The target does not say what it holds.');
    }
  }
}

/** What a plan shows that is surely not meant, as sentences. */
export function noticesOf({ unknown }: MirrorPlan): string[] {
  return unknown.map(
    ({ variable, name }) => `${variable} names ${name}, and there is no such form.`,
  );
}

/** The app as the queue works with it. */
export function mirrorWork(app: App): MirrorWork {
  return {
    async plan(signal) {
      const plan = await app.plan(signal);
      for (const notice of noticesOf(plan)) app.logger.warn(notice);
      return plan.forms.map(({ form, targets }) => ({ formId: form.id, targets }));
    },
    async pass(order, signal) {
      const { outcome, failure } = await app.pass(order, signal);
      if (outcome === 'failed' && failure !== null) throw failure;
      return outcome;
    },
    async mark({ formId }, signal) {
      await app.mark(formId, signal);
    },
  };
}
