import { type Clock, systemClock, throwIfAborted } from '../../../base/clock.ts';
import type { TargetCosts } from '../../../mirror/costs.ts';
import type { HistoryKind } from '../../../mirror/histories.ts';
import { isNewerLook, type LookRecord, lookFrom, lookText } from '../../../mirror/look-record.ts';
import { type Pause, pausedError, pauseOf } from '../../../mirror/pauses.ts';
import type { TargetRelations } from '../../../mirror/relations.ts';
import type { FormSnapshot } from '../../../mirror/snapshot.ts';
import type {
  CheckResult,
  FormOverview,
  FormReader,
  HeldForm,
  MarkingLock,
  Target,
  WriterOptions,
} from '../../../mirror/target.ts';
import { slugsFrom, slugsText } from '../../../mirror/slugs.ts';
import type { FormIdentity } from '../../../mirror/types.ts';
import type { BigQueryJobs } from './bigquery-jobs.ts';
import { costsOf, countedRun } from './bigquery-spending.ts';
import { PAUSES_KEY } from './catalogue-shapes.ts';
import { CountedForms } from './counted-forms.ts';
import { FormHold } from './form-hold.ts';
import { BigQueryFormReader } from './form-reader.ts';
import { newFormState, stateText } from './form-state.ts';
import { BigQueryFormWriter } from './form-writer.ts';
import {
  changeRecord,
  type KeptRecord,
  LOOK_RECORD,
  readRecord,
  SLUGS_RECORD,
} from './kept-record.ts';
import { busyForm, endLease, isHeld, takeLease } from './lease.ts';
import { takeMarking } from './marking.ts';
import { readOverview } from './overview.ts';
import { pausesFrom, pausesText } from './pauses.ts';
import { readRelations } from './relations.ts';
import { formSnapshot } from './snapshot.ts';
import { isAbsent, Store } from './store.ts';
import { readForms } from './view-sync.ts';

/** Rows of one batch: fewer statements cost less, and a request holds 10 MB. */
const BATCH_ROWS = 5_000;

/** What a target is opened with besides its jobs. */
export interface BigQueryTargetOptions {
  readonly clock?: Clock | undefined;
  readonly history?: HistoryKind | undefined;
  /** For people. */
  readonly address: string;
  readonly check: (signal: AbortSignal | undefined) => Promise<CheckResult[]>;
}

/** Opens a dataset as a target. */
export const openBigQueryTarget = (
  name: string,
  jobs: BigQueryJobs,
  options: BigQueryTargetOptions,
): Target => new BigQueryTarget(name, jobs, options);

/** A {@link Target} in a dataset of BigQuery: one table and views a form, and one row of `mirror_state` for all that is kept of it. */
class BigQueryTarget implements Target {
  readonly name: string;
  readonly kind = 'bigquery';
  readonly batchRows = BATCH_ROWS;
  readonly address: string;
  readonly parallelWindows = false;
  readonly isMetered = true;
  readonly #store: Store;
  readonly #options: BigQueryTargetOptions;
  readonly #counted = new CountedForms();
  /** Forms that are known to be mirrored here: asking again would be billed. */
  readonly #mirrored = new Set<string>();

  constructor(name: string, jobs: BigQueryJobs, options: BigQueryTargetOptions) {
    this.name = name;
    this.address = options.address;
    const place = `Target ${name} (${options.address})`;
    this.#store = new Store(jobs, options.clock ?? systemClock, place);
    this.#options = options;
  }

  check(signal?: AbortSignal): Promise<CheckResult[]> {
    return this.#options.check(signal);
  }

  overview(): Promise<FormOverview[]> {
    const { history = 'status' } = this.#options;
    return this.#store.guarded(async () => {
      const forms = await readOverview(this.#store, history, this.#counted);
      for (const { formId } of forms) this.#mirrored.add(formId);
      return forms;
    });
  }

  heldForms(): Promise<HeldForm[]> {
    return this.#store.guarded(async () => {
      const forms = await readForms(this.#store);
      return forms.map(([id, { slug, name, goneAt, fields }]) => {
        return { id, slug, name, goneAt, fieldIds: fields.map((field) => field.id) };
      });
    });
  }

  reader(formId: string): Promise<FormReader | undefined> {
    const store = this.#store;
    return store.guarded(async () => {
      if (!this.#mirrored.has(formId)) {
        const state = await store.readState(formId);
        if (state === undefined || state.table === null) return undefined;
        this.#mirrored.add(formId);
      }
      return new BigQueryFormReader({
        formId,
        store,
        state: () => store.readState(formId),
        table: async ({ table }) => (table === null ? undefined : store.jobs.table(table)),
        counted: this.#counted,
      });
    });
  }

  relations(): Promise<TargetRelations> {
    return this.#store.guarded(() => readRelations(this.#store));
  }

  snapshot(formId: string): Promise<FormSnapshot | undefined> {
    const store = this.#store;
    return store.guarded(async () => {
      const state = await store.readState(formId);
      return state === undefined || state.table === null ? undefined : formSnapshot(store, state);
    });
  }

  costs(): TargetCosts {
    return costsOf(this.#store.jobs.spending);
  }

  async pruneHistory(form: FormIdentity, before: string, options: WriterOptions): Promise<number> {
    await using writer = await this.openWriter(form, options);
    return await writer.pruneHistory(before);
  }

  openWriter(form: FormIdentity, options: WriterOptions): Promise<BigQueryFormWriter> {
    const { clock, jobs, place } = this.#store;
    const counted = countedRun(jobs);
    const store = new Store(jobs, clock, place, counted);
    return store.guarded(async () => {
      throwIfAborted(options.signal);
      const first = stateText(newFormState(form.slug, form.name));
      const lease = await takeLease(store, { formId: form.id, key: form.id }, first, options);
      if (!isHeld(lease)) throw busyForm(store.place, form.id, lease);
      try {
        const pause = pauseOf(pausesFrom(lease.pauses), form.id);
        if (pause !== null && options.whilePaused !== true)
          throw pausedError(pause, form.slug, this.name);
        const state = store.stateOf(form.id, lease.text) ?? newFormState(form.slug, form.name);
        const hold = new FormHold(store, form, lease, state);
        return new BigQueryFormWriter(hold, {
          keepsVersions: this.#options.history === 'full',
          spent: () => counted.spent(),
        });
      } catch (error) {
        await endLease(store, lease);
        throw error;
      }
    });
  }

  openWindowWriter(): Promise<never> {
    return Promise.reject(new TypeError('a form has one writer there'));
  }

  lockMarking(formId: string, signal?: AbortSignal): Promise<MarkingLock | undefined> {
    return this.#store.guarded(async () => {
      throwIfAborted(signal);
      return takeMarking(this.#store, formId, signal);
    });
  }

  /** What was removed is gone with the script that removed it; time travel is not ours to change. */
  async scrub(): Promise<void> {}

  lastLook(): Promise<LookRecord | null> {
    return this.#store.guarded(async () => {
      const text = await readRecord(this.#store.jobs, LOOK_RECORD);
      return text === null ? null : lookFrom(text);
    });
  }

  recordLook(look: LookRecord): Promise<void> {
    return this.#changeRecord(LOOK_RECORD, (text) => {
      const known = text === null ? null : lookFrom(text);
      return isNewerLook(look, known) ? lookText(look) : undefined;
    });
  }

  slugs(): Promise<ReadonlyMap<string, string>> {
    return this.#store.guarded(async () =>
      slugsFrom(await readRecord(this.#store.jobs, SLUGS_RECORD)),
    );
  }

  async bindSlug(slug: string, formId: string): Promise<string> {
    let inForce = formId;
    await this.#changeRecord(SLUGS_RECORD, (text) => {
      const known = slugsFrom(text);
      inForce = known.get(slug) ?? formId;
      return known.has(slug) ? undefined : slugsText(known.set(slug, formId));
    });
    return inForce;
  }

  /** Makes the catalogue first where there is none. */
  #changeRecord(
    which: KeptRecord,
    change: (text: string | null) => string | undefined,
  ): Promise<void> {
    const { jobs } = this.#store;
    return this.#store.guarded(async () => {
      try {
        await changeRecord(jobs, which, change);
      } catch (error) {
        if (!isAbsent(error)) throw error;
        await this.#store.makeCatalogue();
        await changeRecord(jobs, which, change);
      }
    });
  }

  pauses(): Promise<Pause[]> {
    return this.#store.guarded(async () => pausesFrom(await this.#store.readText(PAUSES_KEY)));
  }

  pause(pause: Pause): Promise<Pause> {
    return this.#store.guarded(async () => {
      let inForce = pause;
      await this.#store.changeText(PAUSES_KEY, (text) => {
        const all = pausesFrom(text);
        const before = all.find(({ formId }) => formId === pause.formId);
        inForce = before ?? pause;
        return before === undefined ? pausesText([...all, pause]) : undefined;
      });
      return inForce;
    });
  }

  resume(formId: string | null): Promise<Pause | undefined> {
    return this.#store.guarded(async () => {
      if ((await this.pauses()).length === 0) return undefined;
      let ended: Pause | undefined;
      await this.#store.changeText(PAUSES_KEY, (text) => {
        const all = pausesFrom(text);
        const found = all.find((pause) => pause.formId === formId);
        ended = found ?? ended;
        return found === undefined ? undefined : pausesText(all.filter((one) => one !== found));
      });
      return ended;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#store.jobs.close();
  }
}
