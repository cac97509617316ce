import type { Clock } from '../base/clock.ts';
import type { CallOptions, FormsClient } from '../forms/client.ts';
import { orNull } from '../forms/errors.ts';
import type { Form } from '../mirror/types.ts';

/** How long a form's schema is trusted: a relabel shows in the target after at most this, plus one pass. */
export const LABEL_TTL_MS = 5 * 60_000;

/** And how long where the list of forms shows the same fields meanwhile, which may be an old copy. */
export const LISTED_LABEL_TTL_MS = 60 * 60_000;

interface Entry {
  form: Form;
  readAtMs: number;
  /** When it was read, or the list last showed the same fields. */
  seenAtMs: number;
  /** Field IDs that this schema was read for and does not have: only old answers carry them. */
  readonly notInSchema: Set<string>;
}

/**
 * The forms' schemas, cached with a time to live ("fetch the form detail once and build a map", Forms API, client rule 1).
 */
export class LabelCache {
  readonly #client: FormsClient;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(client: FormsClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A form; from the cache when it is younger than {@link LABEL_TTL_MS} and `fresh` is not set. */
  async form(formId: string, options: { fresh: boolean; call: CallOptions }): Promise<Form> {
    const entry = this.#entries.get(formId);
    if (entry !== undefined && this.#isYoung(entry) && !options.fresh) return entry.form;
    this.#entries.delete(formId);
    const form = await this.#client.getForm(formId, options.call);
    const now = this.#clock.now();
    const notInSchema = new Set<string>();
    this.#entries.set(formId, { form, readAtMs: now, seenAtMs: now, notInSchema });
    return form;
  }

  #isYoung({ readAtMs, seenAtMs }: Entry): boolean {
    const now = this.#clock.now();
    return now - seenAtMs < LABEL_TTL_MS && now - readAtMs < LISTED_LABEL_TTL_MS;
  }

  /**
   * Takes note of a form as the list shows it: where its fields are as cached, it is trusted for longer; where they are not, it
   * is read again when next asked for.
   */
  follow(listed: Form): void {
    const entry = this.#entries.get(listed.id);
    // A list may leave the fields out.
    if (entry === undefined || listed.fields.length === 0) return;
    const isSame = JSON.stringify(listed.fields) === JSON.stringify(entry.form.fields);
    if (isSame) entry.seenAtMs = this.#clock.now();
    else this.#entries.delete(listed.id);
  }

  /** Takes note that the list of forms does not show a form: whether it is there is asked when it is next wanted. */
  forget(formId: string): void {
    this.#entries.delete(formId);
  }

  /** As {@link form}; null when it answers 404. */
  formOrNull(formId: string, options: { fresh: boolean; call: CallOptions }): Promise<Form | null> {
    return orNull(this.form(formId, options));
  }

  /**
   * The form. Read again when `fieldIds` has one that the cached schema does not know, unless the schema was already
   * read again for that field.
   */
  async formWith(formId: string, fieldIds: Iterable<string>, call: CallOptions): Promise<Form> {
    const form = await this.form(formId, { fresh: false, call });
    const entry = this.#entries.get(formId);
    const known = new Set(form.fields.map((field) => field.id));
    const unknown = [...fieldIds].filter((id) => !known.has(id) && !entry?.notInSchema.has(id));
    if (unknown.length === 0) return form;
    const again = await this.form(formId, { fresh: true, call });
    const now = new Set(again.fields.map((field) => field.id));
    for (const id of unknown) {
      if (!now.has(id)) this.#entries.get(formId)?.notInSchema.add(id);
    }
    return again;
  }
}
