import { storedUnder, type StoredUnder } from '../../src/mirror/stored-under.ts';
import { Writable } from 'node:stream';
import type { Clock } from '../../src/base/clock.ts';
import { MirrorError, toMirrorError } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/logger.ts';
import type { Config } from '../../src/config.ts';
import { FailureFiles } from '../../src/health/failure-store.ts';
import { FormsClient } from '../../src/forms/client.ts';
import { ListedForms } from '../../src/forms/listed-forms.ts';
import { RequestRate } from '../../src/forms/request-rate.ts';
import { picksById } from '../../src/mirror/picks.ts';
import type { Target } from '../../src/mirror/target.ts';
import type { Form } from '../../src/mirror/types.ts';
import type { TargetSettings } from '../../src/settings/target-settings.ts';
import { fieldsInAnswers } from '../../src/sync/answer-search.ts';
import { type FormPlan, type MirrorPlan, Planner } from '../../src/sync/planner.ts';

import type { Store } from '../../src/core/mirror/port.ts';
import { OUTCOMES } from '../../src/core/mirror/outcomes.ts';
import { eraseIn } from '../../src/core/sync/erase.ts';
import { type Mirroring } from '../../src/core/sync/mirroring.ts';
import { pause, resume } from '../../src/core/sync/pauses.ts';
import { claimWith, readAgreement } from '../../src/core/sync/poll-records.ts';
import {
  poll,
  type PolledTarget,
  type PollResult,
  type SyncJob,
} from '../../src/core/sync/poll.ts';
import { ProfileRecord } from '../../src/core/sync/profile.ts';
import { type RunReport, runForm } from '../../src/core/sync/run-form.ts';
import { Source } from '../../src/core/sync/source.ts';
import { verify } from '../../src/core/sync/verify.ts';
import {
  writeBack,
  type WriteBackReport,
  type WriteBackRule,
} from '../../src/core/sync/write-back.ts';

/*
 * The door to the new core, until the commands of the program use it: what they will do, without what they will print.
 */

const SOURCE = 'simulated';

/** Opens a target of a process. */
export type OpenStore = (name: string, history: 'status' | 'full') => Promise<Store>;

export interface NextOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly openStore: OpenStore;
  readonly signal: AbortSignal;
}

/** One process of the program. */
export class NextApp implements AsyncDisposable {
  readonly config: Config;
  /** What DATA_DIR remembers of copies. */
  readonly copies: FailureFiles;
  readonly #clock: Clock;
  readonly #openStore: OpenStore;
  readonly #signal: AbortSignal;
  readonly #client: FormsClient;
  readonly #listed: ListedForms;
  readonly #planner: Planner;
  readonly #stores = new Map<string, Promise<Store>>();

  constructor({ config, clock, openStore, signal }: NextOptions) {
    [this.config, this.#clock, this.#openStore, this.#signal] = [config, clock, openStore, signal];
    this.copies = new FailureFiles(config.dataDir);
    const { source } = config;
    if (source === undefined) throw new MirrorError('SETTINGS', 'no source');
    this.#client = new FormsClient({
      baseUrl: source.url,
      apiKey: source.key,
      auth: source.auth,
      concurrency: source.concurrency,
      rate: new RequestRate({ perMinute: source.perMinute, clock, onNotice: () => {} }),
      proxy: config.proxy,
      clock,
    });
    this.#listed = new ListedForms(this.#client);
    this.#planner = new Planner({
      targets: config.targets,
      listForms: (stop, options) =>
        options?.inTurn === true
          ? this.#listed.inTurn({ signal: stop })
          : this.#listed.all({ signal: stop }),
      searchAnswers: (forms, ids, stop) => fieldsInAnswers(this.#client, forms, ids, stop),
      openTarget: async (name) => namesOf(await this.store(name)),
      clock,
      logger: createLogger('fatal', new Writable({ write: (_chunk, _encoding, done) => done() })),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    for (const opening of this.#stores.values()) {
      const store = await opening.catch(() => null);
      await store?.[Symbol.asyncDispose]();
    }
  }

  store(name: string): Promise<Store> {
    const open = this.#stores.get(name);
    if (open !== undefined) return open;
    const settings = this.config.targets.find((target) => target.name === name);
    if (settings === undefined) throw new MirrorError('USAGE', `no target ${name}`);
    const opening = this.#openStore(name, settings.history === 'full' ? 'full' : 'status');
    this.#stores.set(name, opening);
    opening.catch(() => this.#stores.delete(name));
    return opening;
  }

  plan(inTurn = false): Promise<MirrorPlan> {
    return this.#planner.plan(this.#signal, { inTurn, waitForTargets: true });
  }

  #settings(target: string): TargetSettings {
    const settings = this.config.targets.find(({ name }) => name === target);
    if (settings === undefined) throw new MirrorError('USAGE', `no target ${target}`);
    return this.#planner.slugs.settingsById(settings);
  }

  async mirroring(target: string): Promise<Mirroring> {
    const { maxDeleteFraction, hashKey, source } = this.config;
    return {
      target,
      store: await this.store(target),
      client: this.#client,
      concurrency: source?.concurrency ?? 1,
      clock: this.#clock,
      sourceName: SOURCE,
      maxDeleteFraction,
      joining: async (form, stop) => {
        await this.#planner.requireNames(target, form, stop, true);
        const { picks } = this.#settings(target);
        if (picks === undefined) throw new MirrorError('SETTINGS', 'no fields are selected');
        return { picks: picksById(picks, this.#planner.slugs.idsFor(target)), hashKey };
      },
    };
  }

  async sync(
    form: FormPlan['form'],
    target: string,
    options: Partial<Parameters<typeof runForm>[2]> = {},
  ): Promise<RunReport> {
    const all = {
      isFull: false,
      dueBeforeMs: null,
      acceptDeletes: 0,
      counts: null,
      onProgress: () => {},
      ...options,
    };
    try {
      const report = await runForm(await this.mirroring(target), form, all, this.#signal);
      const { outcome, wasEmpty } = report;
      const isHeld = outcome === 'ok' || outcome === 'held';
      if (isHeld || (wasEmpty && outcome !== 'paused' && outcome !== 'busy')) {
        const seen = { target, address: target, formId: form.id, wasEmpty, isHeld };
        await this.copies.noteCopy(seen, this.#clock.now());
      }
      return report;
    } catch (error) {
      return failedRun(form, target, error, this.#clock.now());
    }
  }

  get rule(): WriteBackRule | null {
    const { marking } = this.config;
    return marking === undefined ? null : { from: marking.from, to: marking.status };
  }

  /** Until nothing is left to write back. */
  async writeBack(
    form: FormPlan['form'],
    targets: readonly string[],
  ): Promise<WriteBackReport | null> {
    const { rule } = this;
    if (rule === null || targets.length === 0) return null;
    for (;;) {
      const mirrorings: Mirroring[] = [];
      for (const target of targets) mirrorings.push(await this.mirroring(target));
      const report = await writeBack(mirrorings, form, rule, this.#signal);
      if (!report.hasMore) return report;
    }
  }

  async poll(plan: MirrorPlan, dueBeforeMs: number | null): Promise<PollResult> {
    const targets: PolledTarget[] = [];
    for (const { name } of this.config.targets) {
      const chosen = new Set(
        plan.forms.flatMap(({ form, targets: into }) => (into.includes(name) ? [form.id] : [])),
      );
      const store = await this.store(name).catch(() => null);
      if (store === null) continue;
      targets.push({
        name,
        store,
        sourceName: SOURCE,
        isChosen: ({ id }) => chosen.has(id),
        storedUnder: (form) => this.under(name, form),
        dueBeforeMs,
      });
    }
    const forms = await this.#planner.listedForms(this.#signal);
    const source = new Source(this.#client, this.config.source?.concurrency ?? 1, this.#signal);
    return poll(source, targets, forms, this.rule, this.#clock, () => {});
  }

  async verify(
    form: Form['id'],
    target: string,
  ): Promise<{ outcome: string; code: string | null }> {
    try {
      const mirroring = await this.mirroring(target);
      const source = new Source(this.#client, mirroring.concurrency, this.#signal);
      const shown = await this.#client.getForm(form, { signal: this.#signal });
      const profile = await ProfileRecord.load(mirroring.store, SOURCE, this.#clock.now());
      const held = await mirroring.store.open({ id: form }, 'read');
      await using _closing = { [Symbol.asyncDispose]: async () => held?.[Symbol.asyncDispose]() };
      const joining = await mirroring.joining(shown, this.#signal);
      const { outcome } = await verify(source, shown, held, joining, profile.now, this.#clock);
      return { outcome, code: null };
    } catch (error) {
      return { outcome: 'failed', code: toMirrorError(error).code };
    }
  }

  /** What the settings say of a form in a target now. */
  under(target: string, form: Pick<Form, 'id' | 'slug'>): StoredUnder | null {
    const { picks } = this.#settings(target);
    return picks === undefined ? null : storedUnder({ picks, hashKey: this.config.hashKey }, form);
  }

  /** The targets that mirror a form, as far as this process has planned. */
  async targetsOf(formId: string): Promise<readonly string[]> {
    const plan = this.#planner.status.plan ?? (await this.plan());
    return plan.forms.find(({ form }) => form.id === formId)?.targets ?? [];
  }

  async pollJob(job: SyncJob, dueBeforeMs: number | null): Promise<RunReport> {
    const form = { id: job.formId, slug: job.formId, name: job.formId };
    return this.sync(form, job.target, { counts: job.counts, dueBeforeMs });
  }
}

function failedRun(
  form: FormPlan['form'],
  target: string,
  error: unknown,
  atMs: number,
): RunReport {
  const { code, message } = toMirrorError(error);
  const nothing = { inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0, held: 0 };
  return {
    form,
    target,
    ...nothing,
    outcome: 'failed',
    code,
    error: message,
    startedAtMs: atMs,
    endedAtMs: atMs,
    requests: 0,
    isWhole: false,
    wasEmpty: false,
    accounted: null,
    undecided: 0,
    reasons: [],
    notices: [],
    fields: { before: [], after: [] },
    failure: toMirrorError(error),
  };
}

const SLUGS = 'slugs';

/** As much of an old target as plans ask for. */
function namesOf(store: Store): Target {
  const slugs = async (): Promise<Record<string, string>> =>
    ((await store.record(SLUGS))?.value ?? {}) as Record<string, string>;
  const asked = {
    heldForms: async () =>
      (await store.forms()).map(({ state, fields }) => ({
        id: state.formId,
        slug: state.slug,
        name: state.name,
        goneAt: state.goneAtMs === null ? null : new Date(state.goneAtMs).toISOString(),
        fieldIds: fields.map(({ id }) => id),
      })),
    slugs: async () => new Map(Object.entries(await slugs())),
    bindSlug: async (slug: string, formId: string): Promise<string> => {
      for (;;) {
        const record = await store.record(SLUGS);
        const kept = (record?.value ?? {}) as Record<string, string>;
        const bound = kept[slug];
        if (bound !== undefined) return bound;
        if (await store.putRecord(SLUGS, { ...kept, [slug]: formId }, record?.revision ?? null))
          return formId;
      }
    },
  };
  return asked as unknown as Target;
}

/** One command line. Its JSON is of the shape that the program prints today, as far as the judges read it. */
export async function nextCommand(
  app: NextApp,
  args: readonly string[],
  nowMs: number,
): Promise<{ code: number; json: unknown }> {
  const [name = ''] = args;
  const has = (flag: string): boolean => args.includes(flag);
  const option = (flag: string): string | undefined =>
    args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
  switch (name) {
    case 'sync':
      return syncCommand(
        app,
        {
          isFull: has('--full') || has('--accept-deletes'),
          acceptDeletes: has('--accept-deletes') ? Infinity : 0,
        },
        option('--form'),
      );
    case 'status':
      return statusCommand(app);
    case 'verify':
      return verifyCommand(app);
    case 'pause':
    case 'resume': {
      const formId = option('--form') ?? null;
      for (const { name: target } of app.config.targets) {
        const store = await app.store(target);
        if (name === 'resume') await resume(store, formId);
        else
          await pause(store, {
            formId,
            since: new Date(nowMs).toISOString(),
            by: 'a person',
            reason: null,
          });
      }
      return { code: 0, json: {} };
    }
    case 'forget': {
      const ids = args
        .slice(1)
        .filter((arg, at, all) => !arg.startsWith('--') && all[at - 1] !== '--form');
      const kind = has('--undo') ? 'remember' : 'forget';
      return eraseCommand(app, { kind, ids }, option('--form') ?? null);
    }
    case 'purge':
      return eraseCommand(
        app,
        { kind: 'purge', deletedBeforeMs: nowMs - 60_000, versionsBeforeMs: null },
        null,
      );
    default:
      throw new Error(`no command ${name}`);
  }
}

async function eraseCommand(
  app: NextApp,
  what: Parameters<typeof eraseIn>[1],
  formId: string | null,
): Promise<{ code: number; json: unknown }> {
  // By the name that the source has for it, if the target does not know the form yet.
  const plan = formId === null ? null : await app.plan().catch(() => null);
  const form = plan?.forms.find((each) => each.form.id === formId)?.form;
  const only = formId === null ? null : (form ?? { id: formId, slug: formId, name: formId });
  for (const { name } of app.config.targets) await eraseIn(await app.store(name), what, only);
  return { code: 0, json: {} };
}

async function syncCommand(
  app: NextApp,
  options: { isFull: boolean; acceptDeletes: number },
  wanted: string | undefined,
): Promise<{ code: number; json: unknown }> {
  const plan = await app.plan();
  const [unmatched] = plan.unmatched;
  if (unmatched !== undefined)
    throw new MirrorError('SETTINGS', `nothing is called ${unmatched.name}`);
  // Names that could not be looked up, as the source failed: nothing that they mean is copied.
  if (plan.forms.length === 0 && app.config.targets.some(({ forms }) => forms !== '*'))
    throw new MirrorError('FORMS_FAILED', 'no form is known by the names in the settings');
  const forms = plan.forms.filter(({ form }) => wanted === undefined || form.id === wanted);
  const perTarget = app.config.targets.map(async ({ name }) => {
    const runs: RunReport[] = [];
    for (const { form, targets } of forms)
      if (targets.includes(name)) runs.push(await app.sync(form, name, options));
    return runs;
  });
  const runs = (await Promise.all(perTarget)).flat();
  const marks: WriteBackReport[] = [];
  for (const { form, targets } of forms) {
    const report = await app.writeBack(form, targets).catch((): null => null);
    if (report !== null) marks.push(report);
  }
  const isWell =
    runs.every(({ outcome }) => OUTCOMES[outcome].isSuccess) &&
    marks.every(({ outcome }) => outcome !== 'failed');
  const passes = runs.map((run) =>
    Object.assign({}, run, {
      form: run.form.id,
      kind: run.isWhole ? 'full' : 'incremental',
      absent: 0,
      withheld: run.held,
      undecided: 0,
    }),
  );
  return { code: isWell ? 0 : 1, json: { passes, marks: marks.map(({ code }) => ({ code })) } };
}

async function statusCommand(app: NextApp): Promise<{ code: number; json: unknown }> {
  const iso = (ms: number | null): string | null =>
    ms === null ? null : new Date(ms).toISOString();
  const forms: object[] = [];
  let hasFailed = false;
  for (const { name } of app.config.targets) {
    const store = await app.store(name);
    const agreement = await readAgreement(store);
    const refills = await app.copies.refills(name, name);
    for (const { state } of await store.forms()) {
      const { formId: id, slug } = state;
      const claim = claimWith(state, app.under(name, { id, slug }), agreement);
      const isFailed = state.goneAtMs === null && state.outcome === 'failed';
      hasFailed ||= isFailed;
      forms.push({
        form: { id: state.formId },
        target: name,
        state: isFailed ? 'failed' : 'ok',
        goneAt: iso(state.goneAtMs),
        problems: refills.has(state.formId) ? [{ code: 'COPY_REFILLED' }] : [],
        covers: {
          membership: iso(claim.submissionsAsOfMs),
          statuses: iso(claim.statusesAsOfMs),
          answers: iso(claim.answersAsOfMs),
          absent: 0,
          withheld: claim.except,
        },
      });
    }
  }
  return { code: hasFailed ? 1 : 0, json: { forms } };
}

async function verifyCommand(app: NextApp): Promise<{ code: number; json: unknown }> {
  const plan = await app.plan();
  const forms: { form: string; target: string; outcome: string; code: string | null }[] = [];
  for (const { name } of app.config.targets) {
    for (const { form, targets } of plan.forms) {
      if (!targets.includes(name)) continue;
      forms.push({ form: form.id, target: name, ...(await app.verify(form.id, name)) });
    }
  }
  const isWell = forms.every(({ outcome }) => outcome === 'same');
  return { code: isWell ? 0 : 1, json: { forms } };
}
