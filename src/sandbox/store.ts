import { MirrorError } from '../base/errors.ts';
import type { Answers, Submission } from '../mirror/types.ts';
import { Random } from './random.ts';
import { type Answer, ANSWERS } from './sample-answers.ts';

/** A field as its form's owner made it. The API shows ID and label. */
export interface SandboxField {
  readonly id: string;
  label: string;
  readonly required: boolean;
  /** For sample answers. */
  readonly answer: Answer;
}

/** A form in the store. */
export interface SandboxForm {
  readonly id: string;
  slug: string;
  name: string;
  readonly createdAtMs: number;
  /** The fields of each. */
  readonly sections: SandboxField[][];
}

/** A field to make; its ID and the rest are generated if absent. */
export type FieldDraft = Pick<SandboxField, 'label'> & Partial<SandboxField>;

/** A form to make. `fields`: for a form of one section. */
export interface FormDraft extends Partial<Omit<SandboxForm, 'sections' | 'name'>> {
  readonly name: string;
  readonly fields?: readonly FieldDraft[];
  readonly sections?: readonly (readonly FieldDraft[])[];
}

/** A submission in the store. */
export interface StoredSubmission extends Submission {
  /** As the API shows it. */
  readonly createdAt: string;
  readonly createdAtMs: number;
}

/** A submission to make. */
export interface SubmissionDraft {
  readonly formId: string;
  /** A function is called when the answers are requested. */
  readonly data: Answers | (() => Answers);
  /**
   * Default: now. Milliseconds, or text that the API then shows unchanged (an import of old submissions, another notation, or an
   * invalid date, which is sorted and filtered as if created now).
   */
  readonly createdAt?: number | string;
  /** Default: NEW. Any text. */
  readonly status?: string;
  /** Default: the seed's next one. */
  readonly id?: string;
}

/** Properties that the API shows differently from the store; an undefined one is omitted. */
export type Distortion = Readonly<Record<string, unknown>>;

/** Options of a new store. */
export interface StoreOptions {
  /** Determines every generated ID. Default 1. Two workspaces need two seeds. */
  readonly seed?: number | string;
  /** Default: the system's. */
  readonly clock?: { now(): number };
}

/**
 * The number in a field's ID begins here, not today, so that settings with field IDs stay valid when the sandbox is started on
 * another day.
 */
const FIRST_FIELD_MS = Date.UTC(2026, 4, 25);

/**
 * The forms and submissions of one workspace, in memory, for the stand-in to serve and for tests to change. Every read shows the
 * present moment. Methods that change something throw USAGE for an ID that never existed.
 */
export class FormsStore {
  readonly seed: number | string;
  /** Milliseconds since the epoch, by the store's own clock. */
  readonly now: () => number;
  readonly #forms = new Map<string, SandboxForm>();
  readonly #submissions = new Map<string, StoredSubmission & { status: string }>();
  readonly #distortions = new Map<string, Distortion>();
  /** Submissions by time, of one form or of all, until one comes or goes. */
  readonly #byTime = new Map<string | undefined, readonly StoredSubmission[]>();
  readonly #formRandom: Random;
  readonly #idRandom: Random;

  constructor({ seed = 1, clock = Date }: StoreOptions = {}) {
    this.seed = seed;
    this.now = () => clock.now();
    this.#formRandom = new Random('forms', seed);
    this.#idRandom = new Random('submissions', seed);
  }

  /** The existing forms, in the order in which they were made. */
  forms(): SandboxForm[] {
    return [...this.#forms.values()];
  }

  /** The form with this ID; undefined if there is none. */
  form(formId: string): SandboxForm | undefined {
    return this.#forms.get(formId);
  }

  /** The form with this slug; undefined if there is none. */
  formBySlug(slug: string): SandboxForm | undefined {
    return this.forms().find((form) => form.slug === slug);
  }

  /** Makes a form. Throws USAGE if its ID or slug is taken. */
  addForm({ fields = [], sections = [fields], ...draft }: FormDraft): SandboxForm {
    const form: SandboxForm = {
      id: draft.id ?? `form_${this.#formRandom.word(12)}`,
      slug: draft.slug ?? slugOf(draft.name),
      name: draft.name,
      createdAtMs: draft.createdAtMs ?? this.now(),
      sections: sections.map((some) => some.map((field) => this.#fieldOf(field))),
    };
    if (this.#forms.has(form.id) || this.formBySlug(form.slug))
      throw new MirrorError('USAGE', `The sandbox has a form ${form.id} or /${form.slug} already.`);
    this.#forms.set(form.id, form);
    return form;
  }

  /** Deletes a form and, with it, its submissions. */
  deleteForm(formId: string): void {
    for (const { id } of this.all(formId)) this.#submissions.delete(id);
    this.#forms.delete(formId);
    this.#byTime.clear();
  }

  /** Gives a field another label; its ID stays. */
  relabelField(formId: string, fieldId: string, label: string): void {
    const field = fieldsOf(this.#knownForm(formId)).find(({ id }) => id === fieldId);
    if (!field) throw new MirrorError('USAGE', `Form ${formId} has no field ${fieldId}.`);
    field.label = label;
  }

  /** Makes a submission. An old `createdAt` makes it an import. Throws USAGE if its ID is taken. */
  insert({
    formId,
    data,
    createdAt = this.now(),
    status = 'NEW',
    ...draft
  }: SubmissionDraft): StoredSubmission {
    this.#knownForm(formId);
    const id = draft.id ?? `sub_${this.#idRandom.word(10)}`;
    if (this.#submissions.has(id)) throw new MirrorError('USAGE', `The ID ${id} is taken.`);
    const ms = typeof createdAt === 'number' ? createdAt : Date.parse(createdAt);
    const createdAtMs = Math.floor(Number.isNaN(ms) ? this.now() : ms);
    const stored = {
      id,
      formId,
      status,
      createdAt: typeof createdAt === 'string' ? createdAt : new Date(createdAtMs).toISOString(),
      createdAtMs,
      get data(): Answers {
        return typeof data === 'function' ? data() : data;
      },
    };
    this.#submissions.set(id, stored);
    this.#byTime.clear();
    return stored;
  }

  /** Deletes a submission; does nothing if it is already deleted. */
  delete(id: string): void {
    this.#submissions.delete(id);
    this.#byTime.clear();
  }

  /** Sets a status, any text. */
  setStatus(id: string, status: string): void {
    const kept = this.#submissions.get(id);
    if (kept === undefined) throw new MirrorError('USAGE', `The sandbox has no submission ${id}.`);
    kept.status = status;
  }

  /** The submission with this ID; undefined if there is none. */
  get(id: string): StoredSubmission | undefined {
    return this.#submissions.get(id);
  }

  /** All submissions, of one form or of all, in the order in which they were made. */
  all(formId?: string): readonly StoredSubmission[] {
    return this.#submissions
      .values()
      .filter((kept) => formId === undefined || kept.formId === formId)
      .toArray();
  }

  /** Their IDs. */
  ids(formId?: string): string[] {
    return this.all(formId).map(({ id }) => id);
  }

  /** All submissions, of one form or of all, the oldest first; those of one time in the order in which they were made. */
  byTime(formId?: string): readonly StoredSubmission[] {
    const known = this.#byTime.get(formId);
    if (known !== undefined) return known;
    const found = this.all(formId).toSorted((a, b) => a.createdAtMs - b.createdAtMs);
    this.#byTime.set(formId, found);
    return found;
  }

  /** From now on, the API shows this form or submission with these properties in place of its own. */
  distort(id: string, distortion: Distortion): void {
    this.#distortions.set(id, distortion);
  }

  /** The properties that {@link distort} set for this form or submission. */
  distortionOf(id: string): Distortion | undefined {
    return this.#distortions.get(id);
  }

  #knownForm(formId: string): SandboxForm {
    const form = this.#forms.get(formId);
    if (!form) throw new MirrorError('USAGE', `The sandbox has no form ${formId}.`);
    return form;
  }

  #fieldOf(draft: FieldDraft): SandboxField {
    const stamp = FIRST_FIELD_MS + this.#formRandom.int(0, 999_999);
    return {
      id: draft.id ?? `field_${stamp}_${this.#formRandom.word(6)}`,
      label: draft.label,
      required: draft.required ?? false,
      answer: draft.answer ?? ANSWERS.text,
    };
  }
}

/** The fields of a form in form order, over all sections. */
export const fieldsOf = (form: SandboxForm): SandboxField[] => form.sections.flat();

function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'form';
}
