import type { Behaviour } from './behaviours.ts';
import type { Random } from './random.ts';

/** The six statuses of the API, and a seventh that it does not document. */
export const STATUSES = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'] as const;
const SEVENTH = 'SPAM';

/** Written unchanged, with all its digits. */
export class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.text);
  }
}

export type Answers = ReadonlyMap<string, unknown>;

/** The state of a submission from an instant on. */
export interface Version {
  readonly at: number;
  readonly status: string;
  readonly answers: Answers;
  readonly exists: boolean;
}

export interface Submission {
  readonly id: string;
  readonly formId: string;
  readonly number: number;
  /** Milliseconds, or a text that is not a date. */
  readonly createdMs: number;
  status: string;
  answers: Answers;
  exists: boolean;
  changedMs: number;
  /** How often the list shows it. */
  copies: number;
  /** The properties that its items lack. */
  defect: 'none' | 'id' | 'status' | 'data' | 'date';
  /** Refuses every change of its status. */
  refuses: boolean;
  /** Answers a request by its ID with an error. */
  sick: boolean;
  readonly versions: Version[];
}

export interface Field {
  readonly id: string;
  label: string;
  readonly kind: 'text' | 'number' | 'any' | 'secret';
  exists: boolean;
  readonly labels: { at: number; label: string; exists: boolean }[];
}

export interface SourceForm {
  readonly id: string;
  readonly name: string;
  slug: string;
  readonly fields: Field[];
  exists: boolean;
  /** When it was created and deleted. */
  readonly lives: { at: number; exists: boolean }[];
}

/** A change that a count may show: a submission left one status of its form, entered another, or both. */
export interface SourceEvent {
  readonly at: number;
  readonly kind: ChangeKind;
  readonly formId: string;
  readonly id: string;
  /** The status that lost one submission, and the one that gained one. */
  readonly left: string | null;
  readonly entered: string | null;
  /** Dated at its arrival, so that the newest page shows it. */
  readonly isNewcomer: boolean;
}

export const CHANGE_KINDS = [
  'new',
  'burst',
  'status',
  'edit',
  'delete',
  'delete-many',
  'retract',
  'swap',
  'restore',
  'import',
  'twin',
  'double',
  'relabel',
  'delete-field',
  'add-field',
  'form-goes',
  'form-comes',
  'trade-slugs',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

const SECRET = 'sEcReT';
/** Every unselected answer begins with this: wherever it appears, it has leaked. */
export const SECRET_MARK = SECRET;

const WORDS = [
  'Žluťoučký kůň',
  '007',
  '🦊 fox',
  'line\nbreak',
  '=1+1',
  '0123456789012345678901',
  ' ',
];

/** The parameters of a source. */
export interface SourcePlan {
  readonly behaviour: Behaviour;
  /** The time between the dates of submissions. */
  readonly spacingMs: number;
  /** The number of statuses from which a new submission gets one; 3 by default. */
  readonly newStatuses?: number;
}

/** How many of the newest submissions of a form a person may retract. */
const RETRACTED = 4;

/** The present workspace, and each submission at every instant. */
export class Source {
  readonly behaviour: Behaviour;
  readonly forms: SourceForm[] = [];
  readonly submissions = new Map<string, Submission>();
  readonly events: SourceEvent[] = [];
  readonly spacingMs: number;
  random: Random;
  readonly #clock: { now: number };
  #made = 0;

  readonly #newStatuses: number;

  constructor(plan: SourcePlan, clock: { now: number }, random: Random) {
    this.behaviour = plan.behaviour;
    this.spacingMs = plan.spacingMs;
    this.#newStatuses = plan.newStatuses ?? 3;
    this.#clock = clock;
    this.random = random;
  }

  get now(): number {
    return this.#clock.now;
  }

  /** Every change has its own instant. */
  #tick(): number {
    return ++this.#clock.now;
  }

  addForm(): SourceForm {
    const number = this.forms.length + 1;
    const form: SourceForm = {
      id: `form_${number}x`,
      name: `Form ${number}`,
      slug: `form-${number}`,
      fields: [],
      exists: true,
      lives: [{ at: this.#tick(), exists: true }],
    };
    this.forms.push(form);
    for (const kind of ['text', 'number', 'any', 'secret'] as const) this.addField(form, kind);
    return form;
  }

  addField(form: SourceForm, kind: Field['kind']): Field {
    const number = form.fields.length + 1;
    const id =
      kind === 'any' && number === 3 && this.behaviour.answers === 'anything'
        ? '__proto__'
        : `field_${form.id.slice(5, 6)}${number}_${kind}`;
    const label = this.#label(form, number);
    const at = this.#tick();
    const field: Field = { id, label, kind, exists: true, labels: [{ at, label, exists: true }] };
    form.fields.push(field);
    return field;
  }

  #label(form: SourceForm, number: number): string {
    if (this.behaviour.labels === 'plain') return `Question ${number}`;
    return this.random.pick([
      '',
      'id',
      'ID',
      'Status',
      'created_at',
      'x'.repeat(300),
      'Question',
      '  Otázka  ',
      form.fields[0]?.label ?? 'Question',
    ]);
  }

  /** Some submissions are shown without a usable ID or date. */
  get hasUndated(): boolean {
    return [...this.submissions.values()].some(({ defect }) => ['id', 'date'].includes(defect));
  }

  /** A submission that is in the workspace before anything happens. */
  seed(form: SourceForm, ageMs: number): Submission {
    return this.#add(form, this.now - ageMs, 'new');
  }

  #add(form: SourceForm, createdMs: number, kind: ChangeKind): Submission {
    const number = this.#made++;
    // Spread like UUIDs, so that the order of IDs is independent of dates.
    const id = `s${((number * 2_654_435_761) % 4_294_967_296).toString(36)}n${number}`;
    const isBroken = this.behaviour.items === 'defective' && this.random.chance(0.1);
    const submission: Submission = {
      id,
      formId: form.id,
      number,
      createdMs,
      status: this.#status(this.#newStatuses),
      answers: this.#answers(form, id, 0),
      exists: true,
      changedMs: this.now,
      copies: 1,
      defect: isBroken ? this.random.pick(['id', 'status', 'data', 'date']) : 'none',
      refuses: this.random.chance(0.3),
      sick: this.behaviour.sickId !== 'none' && this.random.chance(0.3),
      versions: [],
    };
    this.submissions.set(id, submission);
    this.#changed(submission, kind, null);
    return submission;
  }

  #status(among: number): string {
    if (among > 1 && this.behaviour.statuses === 'seven' && this.random.chance(0.3)) return SEVENTH;
    return STATUSES[this.random.below(among)] as string;
  }

  #answers(form: SourceForm, id: string, edition: number): Answers {
    const answers = new Map<string, unknown>();
    for (const field of form.fields.filter(({ exists }) => exists)) {
      if (field.kind !== 'secret' && this.random.chance(0.1)) continue;
      answers.set(field.id, this.#answer(field, id, edition));
    }
    return answers;
  }

  #answer(field: Field, id: string, edition: number): unknown {
    const random = this.random;
    if (field.kind === 'secret') return `${SECRET}-${id}-${edition}`;
    if (field.kind === 'number')
      return random.pick([
        random.below(100),
        -1.5,
        0.1,
        12345,
        new Digits('9007199254740993'),
        new Digits('12345678901234567890123'),
      ]);
    const text = `${id}.${field.id.slice(7, 8)} ${edition} ${random.pick(WORDS)}`;
    if (field.kind === 'text' || this.behaviour.answers === 'texts-and-numbers') return text;
    return random.pick([
      text,
      random.below(9),
      true,
      null,
      [text, 'b'],
      { a: text, b: [1, null] },
      '',
      [],
    ]);
  }

  /** Records the state of a submission from now on, and its effect on counts. */
  #changed(submission: Submission, kind: ChangeKind, before: Version | null): void {
    const { id, formId, status, answers, exists } = submission;
    const at = this.#tick();
    submission.changedMs = at;
    submission.versions.push({ at, status, answers, exists });
    const left = before?.exists === true ? before.status : null;
    const entered = exists ? status : null;
    const isNewcomer = kind === 'new' || kind === 'burst' || kind === 'twin';
    if (left !== entered) this.events.push({ at, kind, formId, id, left, entered, isNewcomer });
  }

  existing(formId?: string): Submission[] {
    return [...this.submissions.values()].filter(
      (submission) => submission.exists && (formId === undefined || submission.formId === formId),
    );
  }

  formOf(id: string): SourceForm | undefined {
    return this.forms.find((form) => form.id === id);
  }

  /** An event happens. False if there is no submission to which it could happen. */
  change(kind: ChangeKind): boolean {
    const random = this.random;
    const forms = this.forms.filter(({ exists }) => exists);
    const form = forms.length === 0 ? undefined : random.pick(forms);
    if (form === undefined) return kind === 'form-comes' && this.#formComes();
    const there = this.existing().filter(({ formId }) => this.formOf(formId)?.exists === true);
    const one = there.length === 0 ? undefined : random.pick(there);
    switch (kind) {
      case 'new':
        this.#clock.now += 1;
        this.#add(form, this.now, kind);
        return true;
      case 'burst':
        for (let n = 2 + random.below(6); n > 0; n--) this.#add(form, this.now, kind);
        return true;
      case 'twin': {
        const newest = there
          .filter(({ formId }) => formId === form.id)
          .toSorted((a, b) => b.createdMs - a.createdMs)[0];
        this.#add(form, newest === undefined ? this.now : newest.createdMs, 'import');
        return true;
      }
      case 'import':
        this.#add(form, this.now - 1_000 - random.below(60) * this.spacingMs, kind);
        return true;
      case 'status': {
        if (one === undefined) return false;
        const status = this.#status(6);
        return status !== one.status && this.setStatus(one, status, kind);
      }
      case 'edit':
        return one !== undefined && this.#edit(one);
      case 'delete':
        return one !== undefined && this.#exist(one, false, kind);
      case 'retract': {
        const newest = there
          .filter(({ formId }) => formId === form.id)
          .toSorted((a, b) => b.createdMs - a.createdMs)
          .slice(0, RETRACTED);
        return newest.length > 0 && this.#exist(random.pick(newest), false, 'delete');
      }
      case 'swap':
        // As many as before, by any count per form.
        if (one === undefined) return false;
        this.#exist(one, false, 'delete');
        return this.change(random.pick(['new', 'import']));
      case 'delete-many': {
        const all = there.filter(({ formId }) => formId === form.id);
        for (const each of all.slice(0, 15 + random.below(15))) this.#exist(each, false, kind);
        return all.length > 0;
      }
      case 'restore': {
        const gone = [...this.submissions.values()].filter(
          ({ exists, formId }) => !exists && this.formOf(formId)?.exists === true,
        );
        return gone.length > 0 && this.#exist(random.pick(gone), true, kind);
      }
      case 'double':
        if (one === undefined || this.behaviour.doubles === 'none') return false;
        one.copies = one.copies === 1 ? 2 : 1;
        this.#tick();
        return true;
      case 'relabel': {
        const field = random.pick(form.fields);
        if (!field.exists) return false;
        field.label = `${this.#label(form, form.fields.indexOf(field) + 1)}${this.behaviour.labels === 'plain' ? ` v${random.below(100)}` : ''}`;
        field.labels.push({ at: this.#tick(), label: field.label, exists: true });
        return true;
      }
      case 'add-field':
        if (form.fields.length > 8) return false;
        this.addField(form, 'text');
        return true;
      case 'delete-field': {
        const field = random.pick(form.fields);
        if (!field.exists || field.kind === 'secret') return false;
        field.exists = false;
        field.labels.push({ at: this.#tick(), label: field.label, exists: false });
        return true;
      }
      case 'form-goes':
        if (forms.length < 2) return false;
        this.#formLives(form, false);
        return true;
      case 'form-comes':
        return this.#formComes();
      case 'trade-slugs': {
        const other = forms.find((each) => each !== form);
        if (other === undefined) return false;
        [form.slug, other.slug] = [other.slug, form.slug];
        this.#tick();
        return true;
      }
    }
  }

  /** A change that a person or the program makes. */
  setStatus(submission: Submission, status: string, kind: ChangeKind = 'status'): boolean {
    const before = submission.versions.at(-1) ?? null;
    submission.status = status;
    this.#changed(submission, kind, before);
    return true;
  }

  #edit(submission: Submission): boolean {
    const form = this.formOf(submission.formId);
    if (form === undefined) return false;
    const before = submission.versions.at(-1) ?? null;
    submission.answers = this.#answers(form, submission.id, submission.versions.length);
    this.#changed(submission, 'edit', before);
    return true;
  }

  #exist(submission: Submission, exists: boolean, kind: ChangeKind): boolean {
    const before = submission.versions.at(-1) ?? null;
    submission.exists = exists;
    this.#changed(submission, kind, before);
    return true;
  }

  #formComes(): boolean {
    const gone = this.forms.find(({ exists }) => !exists);
    if (gone !== undefined) {
      this.#formLives(gone, true);
      return true;
    }
    if (this.forms.length > 3) return false;
    this.addForm();
    return true;
  }

  #formLives(form: SourceForm, exists: boolean): void {
    form.exists = exists;
    form.lives.push({ at: this.#tick(), exists });
  }
}

/** The states of a submission at any instant from `from` to `to`. */
export function versionsBetween({ versions }: Submission, from: number, to: number): Version[] {
  const before = versions.findLast(({ at }) => at <= from);
  const during = versions.filter(({ at }) => at > from && at <= to);
  return before === undefined ? during : [before, ...during];
}

/** Whether it existed from `from` to `to` without a break. */
export const existedThroughout = (submission: Submission, from: number, to: number): boolean =>
  submission.versions.some(({ at }) => at <= from) &&
  versionsBetween(submission, from, to).every(({ exists }) => exists);

/** Whether it did not exist at any instant from `from` to `to`. */
export const goneThroughout = (submission: Submission, from: number, to: number): boolean =>
  versionsBetween(submission, from, to).every(({ exists }) => !exists);
