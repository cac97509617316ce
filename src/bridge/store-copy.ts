import { type Clock, systemClock } from '../base/clock.ts';
import { toMirrorError } from '../base/errors.ts';
import type { FormSnapshot, OpenForm, Store, TargetRelations } from '../mirror/port.ts';
import { pause, readPauses, resume } from '../sync/pauses.ts';
import { readAgreement } from '../sync/poll-records.ts';
import { bindSlug, readSlugs } from '../sync/slugs.ts';
import { readWriteBacks } from '../sync/write-back-records.ts';
import type {
  CheckResult,
  Copy,
  CopyReader,
  CopyWriter,
  FormOverview,
  HeldForm,
  TargetKind,
  WriterOptions,
} from '../mirror/target.ts';
import type { Pause } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { OpenTargetOptions, TargetAddress } from '../targets/target-kinds.ts';
import { overviewOf } from './overview.ts';
import { StoreReader } from './store-reader.ts';
import { StoreWriter } from './store-writer.ts';

export interface StoreCopyParts {
  readonly name: string;
  readonly kind: TargetKind;
  /** For people: no password. */
  readonly address: string;
  readonly store: Store;
  readonly clock: Clock;
}

/** So many runs show the last one that succeeded, and the last one that read everything. */
const RECENT_RUNS = 100;
const ROWS_AT_ONCE = 1_000;
/** How often a writer that waits for another process tries again. */
const BUSY_PAUSE_MS = 250;

/** A store of the new core, as commands, page and health ask for it, until they read its state themselves. */
export class StoreCopy implements Copy {
  readonly name: string;
  readonly kind: TargetKind;
  readonly address: string;
  readonly store: Store;
  readonly batchRows = ROWS_AT_ONCE;
  readonly #clock: Clock;
  constructor({ name, kind, address, store, clock }: StoreCopyParts) {
    [this.name, this.kind, this.address, this.store] = [name, kind, address, store];
    this.#clock = clock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
  }

  async check(signal?: AbortSignal): Promise<CheckResult[]> {
    try {
      const results = await this.store.check(signal);
      return results.map(({ what, isOk, remedy }) => {
        const result = { ok: isOk, message: `${what}.` };
        return remedy === null ? result : Object.assign(result, { remedy });
      });
    } catch (error) {
      return [{ ok: false, message: toMirrorError(error).message }];
    }
  }

  async overview(): Promise<FormOverview[]> {
    const forms = await this.store.forms();
    const agreement = await readAgreement(this.store);
    const writeBacks = await readWriteBacks(this.store);
    const overviews: FormOverview[] = [];
    for (const form of forms) {
      const { formId } = form.state;
      const open = await this.store.open({ id: formId }, 'read');
      const runs = (await open?.runs(RECENT_RUNS)) ?? [];
      await open?.[Symbol.asyncDispose]();
      overviews.push(overviewOf(form, { runs, agreement, marking: writeBacks[formId] ?? null }));
    }
    return overviews;
  }

  async heldForms(): Promise<HeldForm[]> {
    return (await this.store.states()).map(({ state, fields }) => ({
      id: state.formId,
      slug: state.slug,
      name: state.name,
      goneAt: state.goneAtMs === null ? null : new Date(state.goneAtMs).toISOString(),
      fieldIds: fields.map(({ id }) => id),
    }));
  }

  async reader(formId: string): Promise<CopyReader | undefined> {
    const form = await this.store.open({ id: formId }, 'read');
    await form?.[Symbol.asyncDispose]();
    return form === null ? undefined : new StoreReader(this.store, formId);
  }

  async openWriter(form: FormIdentity, options: WriterOptions): Promise<CopyWriter> {
    const open = await this.#openToWrite(form, options);
    return new StoreWriter(this.store, form, open);
  }

  async pruneHistory(form: FormIdentity, before: string, options: WriterOptions): Promise<number> {
    await using open = await this.#openToWrite(form, options);
    return open.erase({
      kind: 'purge',
      deletedBeforeMs: null,
      versionsBeforeMs: Date.parse(before),
    });
  }

  async relations(): Promise<TargetRelations | undefined> {
    return (await this.store.relations()) ?? undefined;
  }

  async snapshot(formId: string): Promise<FormSnapshot | undefined> {
    return (await this.store.snapshot(formId)) ?? undefined;
  }

  /** Erasures leave nothing behind that would have to be removed later. */
  async scrub(): Promise<void> {}

  async lastLook(): Promise<{ readonly at: string } | null> {
    const agreement = await readAgreement(this.store);
    return agreement && { at: new Date(agreement.atMs).toISOString() };
  }

  pauses(): Promise<readonly Pause[]> {
    return readPauses(this.store);
  }

  pause(asked: Pause): Promise<Pause> {
    return pause(this.store, asked);
  }

  resume(formId: string | null): Promise<Pause | undefined> {
    return resume(this.store, formId);
  }

  slugs(): Promise<ReadonlyMap<string, string>> {
    return readSlugs(this.store);
  }

  bindSlug(slug: string, formId: string): Promise<string> {
    return bindSlug(this.store, slug, formId);
  }

  /** Waits for another process that writes the form, as long as the options say. */
  async #openToWrite(form: FormIdentity, { waitMs, signal }: WriterOptions): Promise<OpenForm> {
    const untilMs = this.#clock.now() + waitMs;
    for (;;) {
      try {
        return await this.store.open(form, 'write');
      } catch (error) {
        if (toMirrorError(error).code !== 'TARGET_BUSY' || this.#clock.now() >= untilMs)
          throw error;
        await this.#clock.sleep(BUSY_PAUSE_MS, signal);
      }
    }
  }
}

/** Opens a target. Rejects as the target does. */
export async function openCopy(
  name: string,
  address: TargetAddress,
  options: OpenTargetOptions = {},
): Promise<StoreCopy> {
  const opened = await address.open(name, options);
  const { kind, shown } = address;
  const { clock = systemClock } = options;
  return new StoreCopy({ name, kind, address: shown, store: opened, clock });
}
