import { distrust } from '../mirror/form-state.ts';
import type { OpenForm, Store, StoredRow } from '../mirror/port.ts';
import { noteWriteBack } from '../sync/write-back-records.ts';
import { type CopyWriter, type Erasure, NOTHING_ERASED } from '../mirror/target.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { StoreReader, tracesIn } from './store-reader.ts';

/** A form of a store, open for erasures, and for the end of a write-back that a sheet takes part in. */
export class StoreWriter implements CopyWriter {
  readonly #store: Store;
  readonly #identity: FormIdentity;
  readonly #form: OpenForm;

  constructor(store: Store, identity: FormIdentity, form: OpenForm) {
    [this.#store, this.#identity, this.#form] = [store, identity, form];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#form.finish();
    } finally {
      await this.#form[Symbol.asyncDispose]();
    }
  }

  rows(ids: readonly string[]): Promise<Map<string, StoredRow>> {
    return new StoreReader(this.#store, this.#identity.id).rows(ids);
  }

  async forget(ids: readonly string[]): Promise<Erasure> {
    const traces = await tracesIn(this.#form, ids);
    // What the last write-back said may name one of them; the next one says it again.
    await noteWriteBack(this.#store, this.#identity.id, null);
    await this.#form.erase({ kind: 'forget', ids });
    return { ...NOTHING_ERASED, ...traces };
  }

  /** What may come back is not in the copy until a run has looked for it. */
  async remember(ids: readonly string[]): Promise<number> {
    const forgotten = await this.#form.forgotten(ids);
    if (forgotten.size === 0) return 0;
    await this.#form.commit({ state: distrust });
    await this.#form.erase({ kind: 'remember', ids });
    return forgotten.size;
  }

  async purgeDeleted(before: string): Promise<Erasure> {
    const deletedBeforeMs = Date.parse(before);
    const rows = await this.#form.erase({
      kind: 'purge',
      deletedBeforeMs,
      versionsBeforeMs: null,
    });
    return { ...NOTHING_ERASED, rows };
  }

  emptyFields(fieldIds: readonly string[]): Promise<number> {
    return this.#form.erase({ kind: 'columns', fieldIds });
  }
}
