import { MirrorError } from '../../base/errors.ts';
import { Random } from './random.ts';

/** The kind of answer that a field takes. */
export type AnswerKind =
  | 'text'
  | 'first-name'
  | 'surname'
  | 'full-name'
  | 'email'
  | 'phone'
  | 'street'
  | 'postcode'
  | 'city'
  | 'address'
  | 'date'
  | 'url'
  | 'code'
  | 'long-digits'
  | 'choice'
  | 'choices'
  | 'consent'
  | 'rating'
  | 'count'
  | 'salary'
  | 'price'
  | 'story'
  | 'remark';

/** Language of respondents. */
export type Language = 'cs' | 'de' | 'en';

/** A field as the form's owner made it. `required` and `kind` are never shown: the API doesn't show them either. */
export interface SandboxField {
  readonly id: string;
  label: string;
  readonly required: boolean;
  /** The kind of answer and its choices; for sample answers. */
  readonly kind: AnswerKind;
  readonly options: readonly string[];
}

/** A section; `fields` absent: the API leaves the property out. */
export interface SandboxSection {
  fields?: SandboxField[];
}

/** A form as the store holds it. `sections` absent: the API leaves the property out. */
export interface SandboxForm {
  readonly id: string;
  slug: string;
  name: string;
  isPublished: boolean;
  readonly createdAtMs: number;
  /** Language of its respondents; for sample answers. */
  readonly language: Language;
  sections?: SandboxSection[];
}

/** A field to be made; ID and the rest are made up when absent. */
export interface FieldDraft {
  readonly id?: string;
  readonly label: string;
  readonly required?: boolean;
  readonly kind?: AnswerKind;
  readonly options?: readonly string[];
}

/** A form to be made. Give `fields` (one section), `sections`, or neither (`sections` is then absent). */
export interface FormDraft {
  readonly id?: string;
  readonly name: string;
  /** Default: made from the name. */
  readonly slug?: string;
  readonly isPublished?: boolean;
  /** Default: English. */
  readonly language?: Language;
  readonly createdAtMs?: number;
  readonly fields?: readonly FieldDraft[];
  readonly sections?: readonly { readonly fields?: readonly FieldDraft[] }[];
}

/** The number in a field's ID begins here, not today: settings that name a field stay valid when the sandbox is started another day. */
const FIRST_FIELD_MS = Date.UTC(2026, 4, 25);

interface Entry {
  readonly form: SandboxForm;
  readonly number: number;
  deleted: boolean;
}

/** The forms of one workspace and what their owners do to them. Methods that are given an unknown ID throw USAGE. */
export class WorkspaceForms {
  readonly #entries: Entry[] = [];
  readonly #byId = new Map<string, Entry>();
  readonly #random: Random;
  readonly #now: () => number;

  constructor(seed: number | string, now: () => number) {
    this.#random = new Random('forms', seed);
    this.#now = now;
  }

  /** Makes a form. Throws USAGE when its ID or slug is taken. */
  add(draft: FormDraft): SandboxForm {
    const createdAtMs = draft.createdAtMs ?? this.#now();
    const sections = draft.sections ?? (draft.fields && [{ fields: draft.fields }]);
    const form: SandboxForm = {
      id: draft.id ?? `form_${this.#random.word(12)}`,
      slug: draft.slug ?? slugOf(draft.name),
      name: draft.name,
      isPublished: draft.isPublished ?? true,
      createdAtMs,
      language: draft.language ?? 'en',
      ...(sections && {
        sections: sections.map(({ fields }) =>
          fields ? { fields: fields.map((field) => this.#makeField(field)) } : {},
        ),
      }),
    };
    if (this.#byId.has(form.id) || this.findBySlug(form.slug)) {
      throw new MirrorError('USAGE', `The sandbox has a form ${form.id} or /${form.slug} already.`);
    }
    const entry = { form, number: this.#entries.length, deleted: false };
    this.#entries.push(entry);
    this.#byId.set(form.id, entry);
    return form;
  }

  /** The forms that exist now, in the order they were made. */
  all(): SandboxForm[] {
    return this.#entries.filter((entry) => !entry.deleted).map((entry) => entry.form);
  }

  /** The form with this ID, undefined when there is none now. */
  find(formId: string): SandboxForm | undefined {
    const entry = this.#byId.get(formId);
    return entry && !entry.deleted ? entry.form : undefined;
  }

  /** The form with this slug, undefined when there is none now. */
  findBySlug(slug: string): SandboxForm | undefined {
    return this.all().find((form) => form.slug === slug);
  }

  /** A form's number in the store's columns, deleted or not. */
  numberOf(formId: string): number {
    return this.#entry(formId).number;
  }

  /** The ID of the form with this number, and whether the form exists now. */
  byNumber(number: number): { id: string; exists: boolean } {
    const entry = this.#entries[number];
    if (!entry) throw new RangeError(`no form number ${number}`);
    return { id: entry.form.id, exists: !entry.deleted };
  }

  /** Deletes a form, or brings it back. */
  setDeleted(formId: string, deleted: boolean): void {
    this.#entry(formId).deleted = deleted;
  }

  /** Gives a form another name or slug. Throws USAGE when the slug is taken. */
  rename(formId: string, { name, slug }: { readonly name?: string; readonly slug?: string }): void {
    const { form } = this.#entry(formId);
    const holder = slug === undefined ? undefined : this.findBySlug(slug);
    if (holder && holder !== form) {
      throw new MirrorError('USAGE', `The sandbox has a form /${slug} already.`);
    }
    form.name = name ?? form.name;
    form.slug = slug ?? form.slug;
  }

  /** Adds a field to a section (default: the last; made when there is none) and returns it. */
  addField(formId: string, draft: FieldDraft, section?: number): SandboxField {
    const { form } = this.#entry(formId);
    const field = this.#makeField(draft);
    form.sections ??= [];
    if (form.sections.length === 0) form.sections.push({});
    const target = form.sections[section ?? form.sections.length - 1];
    if (!target) throw new MirrorError('USAGE', `Form ${formId} has no section ${section}.`);
    (target.fields ??= []).push(field);
    return field;
  }

  /** Gives a field another label; its ID stays. */
  relabelField(formId: string, fieldId: string, label: string): void {
    const field = fieldsOf(this.#entry(formId).form).find((one) => one.id === fieldId);
    if (!field) throw new MirrorError('USAGE', `Form ${formId} has no field ${fieldId}.`);
    field.label = label;
  }

  /** Deletes a field from the form; old submissions keep its answers. */
  deleteField(formId: string, fieldId: string): void {
    for (const section of this.#entry(formId).form.sections ?? []) {
      const place = section.fields?.findIndex((field) => field.id === fieldId) ?? -1;
      if (place < 0) continue;
      section.fields?.splice(place, 1);
      return;
    }
    throw new MirrorError('USAGE', `Form ${formId} has no field ${fieldId}.`);
  }

  #makeField(draft: FieldDraft): SandboxField {
    const stamp = FIRST_FIELD_MS + this.#random.int(0, 999_999);
    return {
      id: draft.id ?? `field_${stamp}_${this.#random.word(6)}`,
      label: draft.label,
      required: draft.required ?? false,
      kind: draft.kind ?? 'text',
      options: draft.options ?? [],
    };
  }

  #entry(formId: string): Entry {
    const entry = this.#byId.get(formId);
    if (!entry) throw new MirrorError('USAGE', `The sandbox has no form ${formId}.`);
    return entry;
  }
}

/** The fields of a form in form order, over all sections. */
export function fieldsOf(form: SandboxForm): SandboxField[] {
  return (form.sections ?? []).flatMap((section) => section.fields ?? []);
}

function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'form';
}
